/** A terminal's usual width for text. */
export const COLUMNS = 100;

/** Breaks a text at spaces into lines of at most `width` characters. A longer word is not broken. */
export function fold(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    const longer = line === undefined || line === "" ? word : `${line} ${word}`;
    if (line === undefined) lines.push(word);
    else if (longer.length <= width || line === "") lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
