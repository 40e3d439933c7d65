import { type ConfiguredGroups } from "../../domain/configured-groups.ts";
import { placementGroup, type PlacementGroup } from "../../domain/ids.ts";
import { isFields, type Fields } from "../json/fields.ts";
import { isKeptLabel, LABEL_EXPECTED } from "../json/name.ts";
import { nearest, problemAt, problemShowing, unknownKey } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";

const GROUPS = "placement_groups";
/** scalelib's other keys of an array: they concern groups that scalelib generates itself (scalelib.md 8). */
const OTHERS = ["generated_placement_group_buffer", "max_placement_groups"];

/** Reads `{ array -> [group] }`, where "default" stands for every array. */
export function readConfiguredGroups(
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
    readGroups(names, `${path}.${array}`, problems),
  ]);
  return arrays.length === 0 ? undefined : new Map(arrays);
}

/**
 * Reads scalelib's `nodearrays`: only `placement_groups` of each array counts (scalelib.md 7), and other keys have no effect. A key similar
 * to it is reported as a mistake.
 */
export function readScalelibArrays(
  from: Fields,
  path: string,
  problems: Problems,
): ConfiguredGroups | undefined {
  const groups = new Map<string, readonly PlacementGroup[]>();
  for (const [array, value] of Object.entries(from)) {
    const at = `${path}.${array}`;
    if (!isFields(value)) {
      problems.add(() => problemAt(at, value, `an object with ${GROUPS}`));
      continue;
    }
    for (const key of Object.keys(value)) {
      if (key === GROUPS) groups.set(array, readGroups(value[key], `${at}.${key}`, problems));
      else if (!OTHERS.includes(key) && nearest(key, [GROUPS]) !== undefined)
        problems.add(() => unknownKey(at, key, [GROUPS]));
    }
  }
  return groups.size === 0 ? undefined : groups;
}

function readGroups(value: unknown, path: string, problems: Problems): readonly PlacementGroup[] {
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
