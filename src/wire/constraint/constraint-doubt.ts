import type { NodeProperty } from "../../domain/constraint.ts";
import { parseSize } from "../../domain/size.ts";
import type { Notes } from "../json/problems.ts";
import { nearest, problemShowing } from "../json/problem.ts";

/** Resources that are a number or a size on every node (scalelib.md 4). No text can match them. */
export const COUNTED: ReadonlySet<string> = new Set([
  "ncpus",
  "pcpus",
  "ngpus",
  "mem",
  "memb",
  "memkb",
  "memmb",
  "memgb",
  "memtb",
]);

/** Shorter keys are often similar by chance. */
const SHORTEST_TYPED_KEY = 8;

/** A text for a resource that is counted, or a text that was meant to be a size: no node would match, and the job would wait for ever. */
export function doubtText(key: string, value: string, path: string, notes: Notes): void {
  const isSizeOfSorts = typeof parseSize(value) !== "string";
  if (COUNTED.has(key) && isSizeOfSorts && key.startsWith("mem"))
    notes.doubts.add(() =>
      problemShowing(path, value, "a size with its prefix, as in memory::4g", `memory::${value.trim()}`),
    );
  else if (COUNTED.has(key))
    notes.doubts.add(() =>
      problemShowing(
        path,
        value,
        `an amount: a number${key === "mem" ? " of GiB" : ""}, or a size such as memory::4g`,
        key.startsWith("mem") ? sizeMeant(value) : undefined,
      ),
    );
  else if (/^\s*(?:size|memory)::/i.test(value))
    notes.doubts.add(() =>
      problemShowing(path, value, "a size such as memory::4g, or a text without that prefix"),
    );
}

/** Properties that are true or false on every node. */
const YES_OR_NO: ReadonlySet<NodeProperty> = new Set([
  "spot",
  "infiniband",
  "exists",
  "colocated",
  "keep_alive",
]);

/** A text that no node can have, in a form that others take for a size, or for true and false. */
export function doubtProperty(property: NodeProperty, value: string, path: string, notes: Notes): void {
  const size = property === "memory" ? sizeMeant(value) : undefined;
  if (size !== undefined)
    notes.doubts.add(() => problemShowing(path, value, "a size such as memory::4g", size));
  if (YES_OR_NO.has(property) && /^(?:true|false)$/i.test(value))
    notes.doubts.add(() => problemShowing(path, value, `${value.toLowerCase()}, without quotes`));
}

/** "4GB", "4 GiB" and "4gb" are memory::4g: the units that schedulers print, as powers of 1024. */
function sizeMeant(value: string): string | undefined {
  const [, amount, unit] = /^\s*(\d+(?:\.\d+)?)\s*([kmgtp])i?b\s*$/i.exec(value) ?? [];
  return amount === undefined || unit === undefined ? undefined : `memory::${amount}${unit.toLowerCase()}`;
}

/** A key similar to one of ours, with the kind of value that ours has: it would count as a resource that no node has. */
export function doubtKey(
  key: string,
  value: unknown,
  path: string,
  notes: Notes,
  known: readonly string[],
): void {
  if (typeof value !== "boolean" || key.length < SHORTEST_TYPED_KEY) return;
  const meant = nearest(key, known);
  if (meant !== undefined)
    notes.doubts.add(() => problemShowing(path, key, `the name of a resource, or ${meant}`, meant));
}
