/** A terminal's usual width for text. */
export const COLUMNS = 100;

/** Breaks a text at spaces into lines of at most `width` characters. A longer word is not broken. */
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
