/** A terminal's usual width for what is read line by line. */
export const COLUMNS = 100;

/** Breaks a text at spaces into lines of at most `width` characters. A word that is longer stays whole. */
export function fold(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length <= width || line === "") line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
