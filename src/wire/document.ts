import { problemAt, type Problem } from "./problem.ts";

/** JSON of a configuration document. Text that is none is not shown, not even in part: it may hold a secret. */
export function parseDocument(
  text: string,
):
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "problem"; readonly problem: Problem } {
  try {
    const value: unknown = JSON.parse(text);
    return { kind: "value", value };
  } catch {
    return { kind: "problem", problem: problemAt("", `${text.length} characters that are not JSON`, "JSON") };
  }
}
