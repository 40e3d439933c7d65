import { parseDocument } from "../json/check-size.ts";
import { checkKeys } from "../json/fields.ts";
import { BOUNDS } from "../json/bounds.ts";
import type { Problem } from "../json/problem.ts";
import { kindOf, problemAt, problemShowing, shorten } from "../json/problem.ts";
import { Problems } from "../json/problems.ts";
import type { Mode } from "../../domain/mode.ts";
import type { DifferingValue } from "./config-diff.ts";
import { memberOf } from "./config-diff.ts";
import type { ConfigPath } from "./config-path.ts";
import { overlap, pathText, readPath } from "./config-path.ts";
import { EVERY_OTHER } from "./timeouts.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/** A change of single keys of a configuration document. No two of its paths overlap, so their order does not matter. */
export interface ConfigPatch {
  readonly set: readonly { readonly path: ConfigPath; readonly value: unknown }[];
  readonly unset: readonly ConfigPath[];
  /** The version that the caller has seen. Absent: the one in force. */
  readonly ifVersion?: number;
}

const KEYS: ReadonlySet<string> = new Set(["set", "unset", "ifVersion"]);
const PATH_EXPECTED = 'a path as caps.users["anna.smith"].nodes';

/** Reads `{ "set": { PATH: VALUE }, "unset": [ PATH ], "ifVersion": N? }`. Finds all problems at once, and never throws. */
export function readPatch(
  text: string,
):
  | { readonly kind: "patch"; readonly patch: ConfigPatch }
  | { readonly kind: "problems"; readonly problems: readonly Problem[] } {
  const document = parseDocument(text);
  if (document.kind === "problem") return { kind: "problems", problems: [document.problem] };
  const from = document.value;
  if (!isFields(from)) return { kind: "problems", problems: [problemAt("", from, "an object")] };
  const problems = new Problems();
  checkKeys(from, KEYS, problems);
  const set = readSet(from["set"], problems);
  const unset = readUnset(from["unset"], problems);
  const ifVersion = readVersion(from["ifVersion"], problems);
  const paths = [...set.map(({ path }) => path), ...unset];
  if (problems.count === 0 && paths.length === 0)
    problems.add(() => problemAt("", from, "set or unset with at least one path"));
  if (paths.length > BOUNDS.changes)
    problems.add(() => problemAt("", paths.length, `at most ${BOUNDS.changes} paths`));
  else reportOverlaps(paths, problems);
  if (problems.count > 0) return { kind: "problems", problems: problems.all() };
  return { kind: "patch", patch: { set, unset, ...withoutAbsent({ ifVersion }) } };
}

function readSet(value: unknown, problems: Problems): ConfigPatch["set"] {
  if (value === undefined) return [];
  if (!isFields(value)) {
    problems.add(() => problemAt("set", value, "an object: values by path"));
    return [];
  }
  return Object.entries(value).flatMap(([text, wanted]) => {
    const path = readPath(text);
    if (path === undefined) problems.add(() => problemShowing("set", text, PATH_EXPECTED));
    return path === undefined ? [] : [{ path, value: wanted }];
  });
}

function readUnset(value: unknown, problems: Problems): ConfigPatch["unset"] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    problems.add(() => problemAt("unset", value, "a list of paths"));
    return [];
  }
  const texts: readonly unknown[] = value;
  return texts.flatMap((text, index) => {
    const path = typeof text === "string" ? readPath(text) : undefined;
    if (path === undefined) problems.add(() => problemShowing(`unset[${index}]`, text, PATH_EXPECTED));
    return path === undefined ? [] : [path];
  });
}

function readVersion(value: unknown, problems: Problems): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  problems.add(() => problemAt("ifVersion", value, "the number of a version"));
  return undefined;
}

function reportOverlaps(paths: readonly ConfigPath[], problems: Problems): void {
  paths.forEach((path, index) => {
    const other = paths.slice(0, index).find((earlier) => overlap(earlier, path));
    if (other === undefined) return;
    const expected = `one change of ${shorten(pathText(other), LONGEST_PATH)}, not two`;
    problems.add(() => problemShowing("", pathText(path), expected));
  });
}

/**
 * The document after a change. A value replaces what is there, lists whole; an object merges only where it is given key by key. A mode or
 * a timeout that is one value becomes an object when one node array is named. `mode`: the cluster's mode in force, for a document that
 * says none. A path that is not there is unset already.
 */
export function patchDocument(
  document: Fields,
  { set, unset }: ConfigPatch,
  mode: Mode,
):
  | { readonly kind: "document"; readonly document: Fields }
  | { readonly kind: "problems"; readonly problems: readonly Problem[] } {
  const problems = new Problems();
  let changed = withoutOtherSpelling(document, set);
  if (changed["mode"] === undefined && set.some(({ path }) => path[0] === "mode" && path.length > 1))
    changed = { ...changed, mode };
  for (const path of unset) changed = withoutValue(changed, path, path, problems);
  for (const { path, value } of set) changed = withValue(changed, path, path, value, problems);
  if (unset.some(takesModeAway) && !saysMode(changed))
    problems.add(() => problemShowing("unset", "mode", 'a mode: set "mode" to "observe" or "act" instead'));
  return problems.count > 0
    ? { kind: "problems", problems: problems.all() }
    : { kind: "document", document: changed };
}

/** What scalelib's and the older spelling of a key take the place of. */
const REPLACES: ReadonlyMap<string, string> = new Map([
  ["idle_timeout", "idleTimeout"],
  ["boot_timeout", "bootTimeout"],
  ["enabled", "mode"],
  ["read_only", "mode"],
]);

function withoutOtherSpelling(document: Fields, set: ConfigPatch["set"]): Fields {
  const replaced = new Set(
    set.flatMap(({ path: [key = "", ...rest], value }) =>
      // `read_only: false` says no mode.
      rest.length > 0 || (key === "read_only" && value !== true) ? [] : [REPLACES.get(key)],
    ),
  );
  const named = new Set(set.map(({ path: [key] }) => key));
  return Object.fromEntries(Object.entries(document).filter(([key]) => !replaced.has(key) || named.has(key)));
}

const takesModeAway = ([key, member]: ConfigPath): boolean =>
  key === "enabled" || key === "read_only" || (key === "mode" && (member ?? EVERY_OTHER) === EVERY_OTHER);

function saysMode({ mode, enabled, read_only: readOnly }: Fields): boolean {
  const said = isFields(mode) ? mode[EVERY_OTHER] : mode;
  return said !== undefined || enabled !== undefined || readOnly === true;
}

/** Keys whose one value stands for every node array that the object does not name. */
const BY_ARRAY: ReadonlySet<string> = new Set([
  "mode",
  "idleTimeout",
  "bootTimeout",
  "downTimeout",
  "failedTimeout",
  "deallocatedTimeout",
]);

function withValue(
  from: Fields,
  [key = "", ...rest]: ConfigPath,
  whole: ConfigPath,
  value: unknown,
  problems: Problems,
): Fields {
  if (rest.length === 0) return { ...from, [key]: value };
  const held = memberOf(from, key);
  const isForAll = held !== undefined && whole.length === 2 && BY_ARRAY.has(key) && typeof held !== "object";
  const inner = isForAll ? { [EVERY_OTHER]: held } : (held ?? {});
  if (isFields(inner)) return { ...from, [key]: withValue(inner, rest, whole, value, problems) };
  problems.add(() => notAnObject(inner, rest, whole));
  return from;
}

function withoutValue(
  from: Fields,
  [key = "", ...rest]: ConfigPath,
  whole: ConfigPath,
  problems: Problems,
): Fields {
  const held = memberOf(from, key);
  if (held === undefined) return from;
  if (rest.length === 0) return Object.fromEntries(Object.entries(from).filter(([name]) => name !== key));
  if (isFields(held)) return { ...from, [key]: withoutValue(held, rest, whole, problems) };
  if (Array.isArray(held)) problems.add(() => notAnObject(held, rest, whole));
  return from;
}

/** Characters of a path in a problem. */
const LONGEST_PATH = 100;

function notAnObject(found: unknown, rest: ConfigPath, whole: ConfigPath): Problem {
  const path = shorten(pathText(whole.slice(0, whole.length - rest.length)), LONGEST_PATH);
  const expected = Array.isArray(found) ? "a list is replaced as a whole: set" : "an object; or set";
  return { path, found: kindOf(found), expected: `${expected} ${path} itself` };
}

/**
 * The values at the paths of a change that differ between the document that it was made for and the one in force: others changed the same
 * keys. Empty: the change can be made to the one in force.
 */
export function clashesOf(
  { set, unset }: ConfigPatch,
  seen: object,
  inForce: object,
): readonly DifferingValue[] {
  return [...set.map(({ path }) => path), ...unset].flatMap((path) => {
    const [before, after] = [valueAt(seen, path), valueAt(inForce, path)];
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
  });
}

function valueAt(document: object, path: ConfigPath): unknown {
  let value: unknown = document;
  for (const key of path) value = isFields(value) ? memberOf(value, key) : undefined;
  return value;
}
