import type { ConfigDifference, ConfigurationChangeShown } from "../api/configuration.ts";
import type { ConfigPath } from "./config-path.ts";
import { pathText } from "./config-path.ts";
import { EVERY_OTHER } from "./timeouts.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/** Maximum number of differences listed. */
const MOST_DIFFERENCES = 100;
const LONGEST_VALUE = 200;

/** A value that differs between two documents. Lists are compared as a whole. */
export interface DifferingValue {
  readonly path: ConfigPath;
  /** Undefined: it was not there, or is not there any more. */
  readonly before: unknown;
  readonly after: unknown;
}

/** The differences of two documents in the order of their keys: the first {@link MOST_DIFFERENCES}, and the number of the others. */
export function compareConfigs(
  before: object,
  after: object,
): Pick<ConfigurationChangeShown, "differences" | "more"> {
  const all = [...differencesIn([], before, after)];
  return {
    differences: all.slice(0, MOST_DIFFERENCES).map(shownDifference),
    more: Math.max(0, all.length - MOST_DIFFERENCES),
  };
}

/** Every value that differs, in the order of the keys. */
function* differencesIn(path: ConfigPath, before: unknown, after: unknown): Generator<DifferingValue> {
  if (isFields(before) && isFields(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      yield* differencesIn([...path, key], memberOf(before, key), memberOf(after, key));
    return;
  }
  if (JSON.stringify(before) !== JSON.stringify(after)) yield { path, before, after };
}

/** A member of the object itself: a key may have the name of an inherited one. */
export const memberOf = (from: Fields, key: string): unknown =>
  Object.hasOwn(from, key) ? from[key] : undefined;

/** A difference as answers show it. */
export function shownDifference({ path, before, after }: DifferingValue): ConfigDifference {
  return {
    path: pathText(path),
    before: before === undefined ? undefined : shortened(JSON.stringify(before)),
    after: after === undefined ? undefined : shortened(JSON.stringify(after)),
  };
}

function shortened(text: string): string {
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}...` : text;
}

/** Keys of the document in either spelling, and what stands for them elsewhere. */
const SPELLINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ["idleTimeout", ["idle_timeout"]],
  ["bootTimeout", ["boot_timeout"]],
  ["placementGroups", ["nodearrays"]],
  ["mode", ["enabled", "read_only"]],
]);

/**
 * The keys in force that a new document takes away without saying so, at every depth: those that are gone, and those that it does not name
 * and that go back to their defaults. `given`: the new document as it was written; `after`: the same with its defaults.
 */
export function lostKeys(before: object, after: object, given: object): readonly ConfigPath[] {
  return [...differencesIn([], before, after)].flatMap(({ path, before: was, after: is }) => {
    const [key = ""] = path;
    if (was === undefined) return [];
    const isNamed = [key, ...(SPELLINGS.get(key) ?? [])].some((name) => Object.hasOwn(given, name));
    if (!isNamed || is === undefined) return [path];
    // One value takes the place of an object: only the value for all others lives on in it.
    return isFields(was)
      ? Object.keys(was).flatMap((name) => (name === EVERY_OTHER ? [] : [[...path, name]]))
      : [];
  });
}
