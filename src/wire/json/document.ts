import { notJson, type Problem } from "./problem.ts";
import { oversizeOf, oversizeOfText } from "./check-size.ts";

/** JSON of a configuration document. Text that is not JSON is not shown, not even in part, because it may hold a secret. */
export function parseDocument(
  text: string,
):
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "problem"; readonly problem: Problem } {
  const tooMany = oversizeOfText(text);
  if (tooMany !== undefined) return { kind: "problem", problem: tooMany };
  try {
    const value: unknown = JSON.parse(text);
    const oversize = oversizeOf(value);
    return oversize === undefined ? { kind: "value", value } : { kind: "problem", problem: oversize.problem };
  } catch {
    return { kind: "problem", problem: notJson(text, "JSON") };
  }
}
