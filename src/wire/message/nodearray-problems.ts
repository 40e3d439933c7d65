import type { NodeAttributes, Problem } from "../../domain/demand.ts";

import { canonicalText } from "../../domain/canonical.ts";
import type { Fields } from "../json/fields.ts";
import { hasProtoKey, sortKeys } from "../json/nesting.ts";
import { excerpt, kindOf, nearest, problemAt, problemShowing } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import { BOUNDS } from "../json/bounds.ts";
import { AT_MOST } from "../json/fields.ts";
import { KNOWN_KEYS, OWN_KEYS } from "./nodearray-schema.ts";

/* Problems of an entry of `nodearrays` that its schema cannot show: contradictions between its keys. */

const TARGET_KEYS = ["TargetCount", "TargetCoreCount", "TargetGroupCount"];

const SIZE_KEYS = ["GroupCoreCount", "GroupInstanceCount"];

/** Exactly one key for the amount, and a size only if groups are requested. */
export function targetProblems(item: Fields): readonly Problem[] {
  const targets = TARGET_KEYS.filter((key) => item[key] !== undefined);
  const sizes = SIZE_KEYS.filter((key) => item[key] !== undefined);
  if (targets.length > 1) return [problemOf(pick(item, targets), `only one of ${TARGET_KEYS.join(", ")}`)];
  if (targets.length === 0) {
    const similar = Object.keys(item)
      .filter((key) => !OWN_KEYS.has(key))
      .flatMap((key) => nearest(key, TARGET_KEYS) ?? []);
    // Only the keys are shown, because the attributes may hold secrets.
    const found = excerpt(Object.keys(item));
    const expected = `one of ${TARGET_KEYS.join(", ")}`;
    const [meant] = similar;
    return [{ path: "", found, expected, ...(meant === undefined ? {} : { didYouMean: meant }) }];
  }
  if (targets[0] === "TargetGroupCount" && sizes.length !== 1) {
    return [
      problemOf(
        pick(item, [...targets, ...sizes]),
        `TargetGroupCount with exactly one of ${SIZE_KEYS.join(", ")}`,
      ),
    ];
  }
  if (targets[0] !== "TargetGroupCount" && sizes.length > 0) {
    return [
      problemOf(pick(item, [...targets, ...sizes]), `${SIZE_KEYS.join(" or ")} only with TargetGroupCount`),
    ];
  }
  const [groups, size] = [item["TargetGroupCount"], item[sizes[0] ?? ""]];
  if (typeof groups === "number" && typeof size === "number" && groups * size > BOUNDS.count)
    return [problemOf(pick(item, [...targets, ...sizes]), `${AT_MOST} in all groups together`)];
  return [];
}

const EXTENDS =
  "the node array of the cluster that it extends: CycleCloud creates nodes only in an array that it has";

/**
 * A dynamic array extends another one; a static one extends none. One message must define an array in only one way. Contradictions between
 * sets are resolved later (architecture.md, Merging demand).
 */
export function dynamicProblems(
  item: Fields,
  index: number,
  defined: Map<unknown, Definition>,
): readonly Problem[] {
  const { Name, Dynamic, Extends } = item;
  if (Dynamic !== true)
    return Extends === undefined
      ? []
      : [problemShowing("Extends", Extends, "no such key without Dynamic: true")];
  if (Extends === undefined) return [problemShowing("Extends", Extends, EXTENDS)];
  if (Extends === Name) return [problemShowing("Extends", Extends, "another node array than itself")];
  const { MachineType } = item;
  const sizes = typeof MachineType === "string" ? [MachineType] : MachineType;
  const text = canonicalText([Extends, sizes, attributesOf(item)]);
  const first = defined.get(Name);
  if (first === undefined) defined.set(Name, { index, text });
  if (first === undefined || first.text === text) return [];
  const same = `the Extends, MachineType and attributes that nodearrays[${first.index}] gives this dynamic array`;
  const told = ["Name", "Extends", "MachineType"].filter((key) => item[key] !== undefined);
  return [problemOf(pick(item, told), same)];
}

/** The definition of a dynamic array in a message, and the entry that has it. */
export interface Definition {
  readonly index: number;
  readonly text: string;
}

/** Unknown keys are attributes, except a known key in different case: its target would have no effect. */
export function findAttributeProblems(item: Fields, problems: Problems): void {
  for (const key of Object.keys(item)) {
    if (KNOWN_KEYS.includes(key)) continue;
    const meant = BY_SMALL_LETTERS.get(key.toLowerCase());
    if (meant !== undefined)
      problems.add(() => problemShowing("", key, `the key ${meant}, in these capitals`, meant));
    else if (key === "__proto__") problems.add(() => problemShowing("", key, "the name of a node attribute"));
  }
  for (const key of Object.keys(item)) {
    if (OWN_KEYS.has(key) || !hasProtoKey(item[key])) continue;
    problems.add(() => problemAt(key, item[key], "a value without the key __proto__"));
  }
}

const BY_SMALL_LETTERS = new Map(KNOWN_KEYS.map((key) => [key.toLowerCase(), key]));

/** CycleCloud sets the name of the cluster itself (cyclecloud-wire.md C.2), so it is no wish of the sender's. */
const SET_BY_CYCLECLOUD = "ClusterName";

export function attributesOf(item: Fields): NodeAttributes {
  return Object.fromEntries(
    Object.keys(item)
      .filter((key) => !OWN_KEYS.has(key) && key !== SET_BY_CYCLECLOUD && item[key] !== undefined)
      .sort()
      .map((key) => [key, sortKeys(item[key])]),
  );
}

/** A problem of several keys together, shown with their values, which are targets, sizes and names. */
function problemOf(picked: Fields, expected: string): Problem {
  return { path: "", found: excerpt(picked), expected };
}

function pick(item: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(
    keys.map((key) => [key, isShown(key, item[key]) ? item[key] : kindOf(item[key])]),
  );
}

/** Shows a text only where a name is expected. */
function isShown(key: string, value: unknown): boolean {
  return typeof value === "number" || (NAME_KEYS.has(key) && typeof value === "string");
}

const NAME_KEYS: ReadonlySet<string> = new Set(["Name", "Extends", "MachineType"]);
