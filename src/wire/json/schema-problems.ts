import type { z } from "zod";
import { joinPath, problemAt, problemShowing, unknownKey } from "./problem.ts";
import type { Problems } from "./problems.ts";

/**
 * Adds the problems that a schema found, in our own form (docs/decisions.md, "Inputs are read in two ways, and refused in one form"). House
 * rule for all schemas in wire/: the message of every check is the phrase for `expected`. `knownKeys` returns the keys of the object at a
 * path, for the suggestion beside an unknown one.
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
    } else {
      const value = valueAt(input, issue.path);
      const describe = isNamePath(issue.path) ? problemShowing : problemAt;
      problems.add(() => describe(path, value, issue.message));
    }
  }
}

/** Members that contain a name or a word of a short list. */
const NAMES: ReadonlySet<PropertyKey> = new Set([
  "Name",
  "MachineType",
  "Extends",
  "cluster",
  "requestSet",
  "name",
  "kind",
  "unit",
  "nodearray",
  "machineType",
  "placementGroup",
]);

/** Whether a text there may be shown. Members of a list are treated as the list. */
function isNamePath(path: readonly PropertyKey[]): boolean {
  const key = path.findLast((part) => typeof part !== "number");
  return key !== undefined && NAMES.has(key);
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
