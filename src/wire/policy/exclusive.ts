import type { ExclusiveRules } from "../../domain/exclusive.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { arrayName } from "../../domain/ids.ts";
import type { PolicyDocument } from "../api/configuration.ts";
import { isKeptName, NAME_EXPECTED } from "../json/name.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import type { Fields } from "../../domain/fields.ts";

const KEY = "exclusiveNodearrays";

/**
 * Reads `exclusiveNodearrays`: true for all node arrays, or a list of names. False and an empty list are none, as without the key. Its name is
 * far from `nodearrays`, which means something else.
 */
export function readExclusive({ [KEY]: value }: Fields, problems: Problems): ExclusiveRules {
  if (value === undefined || value === false) return {};
  if (value === true) return { exclusiveArrays: true };
  if (!Array.isArray(value)) {
    problems.add(() => problemAt(KEY, value, "true, false, or a list of node array names"));
    return {};
  }
  const names = readNames(KEY, value, problems);
  return names.length === 0 ? {} : { exclusiveArrays: names };
}

/** Reads `named`: node arrays in which only targets that name their nodes create any. An empty list is none, as without the key. */
export function readNamedArrays(
  { named: value }: Fields,
  problems: Problems,
): { readonly namedArrays?: readonly ArrayName[] } {
  if (value === undefined) return {};
  if (!Array.isArray(value)) {
    problems.add(() => problemAt("named", value, "a list of node array names"));
    return {};
  }
  const names = readNames("named", value, problems);
  return names.length === 0 ? {} : { namedArrays: names };
}

function readNames(key: string, names: readonly unknown[], problems: Problems): readonly ArrayName[] {
  names.forEach((name, index) => {
    if (!isKeptName(name)) problems.add(() => problemShowing(`${key}[${index}]`, name, NAME_EXPECTED));
  });
  return names.filter(isKeptName).map(arrayName);
}

/** The key's value in a document. None is written for none. */
export function writeExclusive({
  exclusiveArrays = [],
}: ExclusiveRules): PolicyDocument["exclusiveNodearrays"] {
  return exclusiveArrays !== true && exclusiveArrays.length === 0 ? undefined : exclusiveArrays;
}
