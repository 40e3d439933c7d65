import type { Problem } from "./demand.ts";
import { showText } from "./shown.ts";

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
