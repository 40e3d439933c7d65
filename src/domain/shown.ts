import type { Problem } from "./demand.ts";

/**
 * Characters that act where a text is shown: control characters move a terminal's cursor and colour it, those of direction turn the order of
 * what stands beside them, and separators end a line. Names of jobs and users, and messages of other servers, may hold them.
 */
const ACTING = /[\p{Cc}\p{Bidi_Control}\u{2028}\u{2029}]/gu;

/** Whether a text holds such a character. */
export const isActing = (text: string): boolean => text.search(ACTING) >= 0;

/** A text of others as people are shown it, in one line: each character that acts is written as `\u{1b}`. */
export function showText(text: string): string {
  return text.replace(ACTING, (character) => `\\u{${codeOf(character)}}`);
}

/** The same for what has lines of its own. */
export function showLines(text: string): string {
  return text.split("\n").map(showText).join("\n");
}

/** The JSON text of a value with an escape for each character that acts. Its reader gets the same value. */
export function showJson(
  value: unknown,
  replacer?: (key: string, member: unknown) => unknown,
  indent?: number,
): string {
  const text = JSON.stringify(value, replacer, indent) ?? "null";
  // Inside of texts JSON itself escapes line ends. Those that are left are of the indentation.
  return text.replace(ACTING, (character) =>
    character === "\n" ? character : `\\u${codeOf(character).padStart(4, "0")}`,
  );
}

const codeOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16);

/** A problem of an input as a sentence, as {@link showText} shows it. A suggestion comes before what was expected, which may be a list of all keys. */
export function problemText({
  path = "",
  found = "?",
  expected = "?",
  didYouMean,
}: { readonly [K in keyof Problem]?: string | undefined }): string {
  const where = path === "" ? "" : `${path}: `;
  return showText(
    didYouMean === undefined
      ? `${where}found ${found}, expected ${expected}`
      : `${where}found ${found}; did you mean ${didYouMean}? Expected ${expected}`,
  );
}
