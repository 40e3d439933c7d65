import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { SenderRule, SenderRules } from "../../domain/sender-rules.ts";
import { compilePattern } from "../../domain/shell-pattern.ts";

/** The first rule that names the request set. Undefined if none does. */
export function ruleOf(rules: SenderRules, set: SetName): SenderRule | undefined {
  if (rules.length === 0) return undefined;
  const found = lookups.get(rules) ?? new Map<SetName, SenderRule | undefined>();
  lookups.set(rules, found);
  if (found.has(set)) return found.get(set);
  // A sender may invent any number of names, so the number of stored lookups has a bound.
  if (found.size >= MOST_KEPT) found.clear();
  const rule = rules.find(({ requestSets }) => requestSets.some((pattern) => matches(pattern, set)));
  found.set(set, rule);
  return rule;
}

const MOST_KEPT = 20_000;

/** Lookups by rules. A plan needs the rule of each set several times. */
const lookups = new WeakMap<SenderRules, Map<SetName, SenderRule | undefined>>();

const matches = (pattern: string, set: SetName): boolean =>
  pattern === set || (compilePattern(pattern)?.test(set) ?? false);

/** Whether messages of the set are accepted. */
export const mayWrite = (rules: SenderRules, set: SetName): boolean => ruleOf(rules, set)?.write ?? true;

/** Whether a set may report hosts as idle or closed, and their amounts. Reports of busy hosts count from each live set. */
export function mayReportHosts(rules: SenderRules, set: SetName): boolean {
  const rule = ruleOf(rules, set);
  return rule === undefined || (rule.write && rule.hosts);
}

/** Whether the pools that the set names count. */
export function mayNamePools(rules: SenderRules, set: SetName): boolean {
  const rule = ruleOf(rules, set);
  return rule === undefined || (rule.write && rule.pools);
}

/** Whether the set may define dynamic node arrays. */
export const mayDefineArrays = (rules: SenderRules, set: SetName): boolean =>
  ruleOf(rules, set)?.dynamicArrays ?? true;

/** Attributes that a set may set in addition to the documented ones. */
export const attributesOf = (rules: SenderRules, set: SetName): readonly string[] =>
  ruleOf(rules, set)?.attributes ?? NO_ATTRIBUTES;

const NO_ATTRIBUTES: readonly string[] = [];

/**
 * Keys of `Configuration` that a set may set for an array, where CycleCloud has no settings of its own; undefined: every key. `lineage`: the
 * array and those that it extends. The first that the rule names counts.
 */
export function freeKeysOf(
  rules: SenderRules,
  set: SetName,
  lineage: readonly ArrayName[],
): readonly string[] | undefined {
  const { byArray, every } = ruleOf(rules, set)?.configuration ?? {};
  const named = lineage.find((array) => byArray?.has(array) === true);
  return named === undefined ? every : byArray?.get(named);
}
