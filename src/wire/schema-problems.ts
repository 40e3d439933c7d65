import type { z } from "zod";
import { joinPath, problemAt, unknownKey } from "./problem.ts";
import type { Problems } from "./problems.ts";

/**
 * Adds the problems that a schema found, in our own form. House rule for all schemas in wire/: the message of every check is the phrase for
 * `expected`. `knownKeys` gives the keys of the object at a path, for the suggestion beside an unknown one.
 */
export function addSchemaProblems(
  problems: Problems,
  error: z.ZodError,
  input: unknown,
  knownKeys: (path: readonly PropertyKey[]) => readonly string[],
): void {
  for (const issue of error.issues) {
    const path = pathText(issue.path);
    if (issue.code === "unrecognized_keys") {
      const known = knownKeys(issue.path);
      for (const key of issue.keys) problems.add(() => unknownKey(path, key, known));
    } else problems.add(() => problemAt(path, valueAt(input, issue.path), issue.message));
  }
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => joinPath(text, typeof part === "number" ? `[${part}]` : String(part)),
    "",
  );
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const part of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}
