import type { ConfiguredGroups, Policy } from "../../domain/policy.ts";
import { arrayName, placementGroup, type PlacementGroup } from "../../domain/ids.ts";
import type { Seconds } from "../../domain/units.ts";
import { DEALLOCATED_TIMEOUT_SECONDS, DOWN_TIMEOUT_SECONDS } from "../../domain/timeouts.ts";
import { DEFAULT_POLICY } from "../../domain/policy.ts";
import { readDefaultResources } from "../constraint/default-resources.ts";
import { isKeptName, NAME_EXPECTED, isKeptLabel, LABEL_EXPECTED } from "../json/name.ts";
import { newNotes, Problems } from "../json/problems.ts";
import { problemAt, problemShowing, nearest, unknownKey } from "../json/problem.ts";
import type { TimeoutKey } from "./timeouts.ts";
import { readEndTimeout, readTimeout } from "./timeouts.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

const IDLE_TIMEOUT: TimeoutKey = {
  ours: "idleTimeout",
  theirs: "idle_timeout",
  least: 0,
  builtIn: DEFAULT_POLICY.idleTimeoutSeconds,
};

/** Not 0: no node could ever boot. */
const BOOT_TIMEOUT: TimeoutKey = {
  ours: "bootTimeout",
  theirs: "boot_timeout",
  least: 1,
  builtIn: DEFAULT_POLICY.bootTimeoutSeconds,
};

type Durations = Pick<
  Policy,
  | "idleTimeoutSeconds"
  | "bootTimeoutSeconds"
  | "idleTimeouts"
  | "bootTimeouts"
  | "downTimeout"
  | "failedTimeout"
  | "deallocatedTimeout"
  | "maxExpirationSeconds"
  | "inFlightGraceSeconds"
  | "groupFillTimeoutSeconds"
>;

export function readDurations(from: Fields, problems: Problems): Durations {
  const idle = readTimeout(from, IDLE_TIMEOUT, problems);
  const boot = readTimeout(from, BOOT_TIMEOUT, problems);
  const down = readEndTimeout(from, "downTimeout", DOWN_TIMEOUT_SECONDS, problems);
  const failed = readEndTimeout(from, "failedTimeout", "never", problems);
  const deallocated = readEndTimeout(from, "deallocatedTimeout", DEALLOCATED_TIMEOUT_SECONDS, problems);
  const seconds = (key: string, least: number, otherwise: Seconds): Seconds =>
    readSeconds(from, key, least, problems) ?? otherwise;
  return {
    idleTimeoutSeconds: idle.seconds,
    bootTimeoutSeconds: boot.seconds,
    ...withoutAbsent({
      idleTimeouts: idle.byArray,
      bootTimeouts: boot.byArray,
      downTimeout: down,
      failedTimeout: failed,
      deallocatedTimeout: deallocated,
    }),
    maxExpirationSeconds: seconds("maxExpirationInterval", 1, DEFAULT_POLICY.maxExpirationSeconds),
    inFlightGraceSeconds: seconds("inFlightGrace", 1, DEFAULT_POLICY.inFlightGraceSeconds),
    groupFillTimeoutSeconds: seconds("groupFillTimeout", 0, DEFAULT_POLICY.groupFillTimeoutSeconds),
  };
}

export function readSeconds(
  from: Fields,
  key: string,
  least: number,
  problems: Problems,
): number | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isFinite(value) && value >= least) return value;
  problems.add(() => problemAt(key, value, `a number of seconds, ${least} or more`));
  return undefined;
}

/** Our key or scalelib's for the same, but not both. {@link writePolicy} writes ours, which fits our list of arrays. */
export function readGroups(from: Fields, problems: Problems): Pick<Policy, "placementGroups"> {
  const placementGroups = findGroups(from, problems);
  return placementGroups === undefined ? {} : { placementGroups };
}

function findGroups(from: Fields, problems: Problems): ConfiguredGroups | undefined {
  const { nodearrays, placementGroups } = from;
  const theirs = isFields(nodearrays) ? readScalelibArrays(nodearrays, "nodearrays", problems) : undefined;
  if (placementGroups === undefined) return theirs;
  if (theirs !== undefined)
    problems.add(() =>
      problemAt("placementGroups", placementGroups, "either this key or nodearrays.*.placement_groups"),
    );
  return readConfiguredGroups(placementGroups, "placementGroups", problems);
}

/** Probable mistakes are errors here too: see {@link Notes}. */
export function readDefaults(from: Fields, problems: Problems): Pick<Policy, "defaultResources"> {
  const { default_resources: value } = from;
  if (value === undefined) return {};
  const notes = newNotes();
  const defaults = readDefaultResources(value, "default_resources", notes);
  problems.addAll(notes.problems);
  problems.addAll(notes.doubts);
  return { defaultResources: defaults };
}

export function readSchema({ $schema }: Fields, problems: Problems): Pick<Policy, "schema"> {
  if ($schema === undefined) return {};
  if (typeof $schema === "string") return { schema: $schema };
  problems.add(() => problemAt("$schema", $schema, "the address of a JSON Schema as text"));
  return {};
}

/** The list of names. An object is scalelib's, and names only placement groups. */
export function readArrays(from: Fields, problems: Problems): Pick<Policy, "nodearrays"> {
  const { nodearrays } = from;
  if (nodearrays === undefined || isFields(nodearrays)) return {};
  if (!Array.isArray(nodearrays)) {
    problems.add(() => problemAt("nodearrays", nodearrays, "a list of node array names"));
    return {};
  }
  const names: readonly unknown[] = nodearrays;
  names.forEach((name, index) => {
    if (!isKeptName(name)) problems.add(() => problemShowing(`nodearrays[${index}]`, name, NAME_EXPECTED));
  });
  return { nodearrays: names.filter(isKeptName).map(arrayName) };
}

const GROUPS = "placement_groups";
/** scalelib's other keys of an array: they concern groups that scalelib generates itself (scalelib.md 8). */
const OTHERS = ["generated_placement_group_buffer", "max_placement_groups"];

/** Reads `{ array -> [group] }`, where "default" stands for every array. */
function readConfiguredGroups(
  value: unknown,
  path: string,
  problems: Problems,
): ConfiguredGroups | undefined {
  if (!isFields(value)) {
    problems.add(() => problemAt(path, value, "an object: node array -> placement groups"));
    return undefined;
  }
  const arrays = Object.entries(value).map(([array, names]): [string, readonly PlacementGroup[]] => [
    array,
    readGroupNames(names, `${path}.${array}`, problems),
  ]);
  return arrays.length === 0 ? undefined : new Map(arrays);
}

/**
 * Reads scalelib's `nodearrays`: only `placement_groups` of each array counts (scalelib.md 7), and other keys have no effect. A key similar
 * to it is reported as a mistake.
 */
function readScalelibArrays(from: Fields, path: string, problems: Problems): ConfiguredGroups | undefined {
  const groups = new Map<string, readonly PlacementGroup[]>();
  for (const [array, value] of Object.entries(from)) {
    const at = `${path}.${array}`;
    if (!isFields(value)) {
      problems.add(() => problemAt(at, value, `an object with ${GROUPS}`));
      continue;
    }
    for (const key of Object.keys(value)) {
      if (key === GROUPS) groups.set(array, readGroupNames(value[key], `${at}.${key}`, problems));
      else if (!OTHERS.includes(key) && nearest(key, [GROUPS]) !== undefined)
        problems.add(() => unknownKey(at, key, [GROUPS]));
    }
  }
  return groups.size === 0 ? undefined : groups;
}

function readGroupNames(value: unknown, path: string, problems: Problems): readonly PlacementGroup[] {
  if (!Array.isArray(value)) {
    problems.add(() => problemAt(path, value, "a list of placement group names"));
    return [];
  }
  const names: readonly unknown[] = value;
  names.forEach((name, index) => {
    if (!isKeptLabel(name)) problems.add(() => problemShowing(`${path}[${index}]`, name, LABEL_EXPECTED));
  });
  return names.filter(isKeptLabel).map(placementGroup);
}
