import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { SenderRule, SenderRules } from "../../domain/sender-rules.ts";
import type { Pattern } from "../../domain/shell-pattern.ts";
import { compilePattern } from "../../domain/shell-pattern.ts";

/** The first rule that names the request set. Undefined if none does. */
export function ruleOf(rules: SenderRules, set: SetName): SenderRule | undefined {
  return rules.length === 0 ? undefined : findRule(rules, set).rule;
}

/** Who has a share: a rule; undefined: all sets together that no rule names; without rules each set by itself. */
export type Sender = SenderRule | SetName | undefined;

export function senderOf(rules: SenderRules, set: SetName): Sender {
  return rules.length === 0 ? set : ruleOf(rules, set);
}

/** What a lookup found, and what it cost in steps of a plan. */
interface Lookup {
  readonly rule: SenderRule | undefined;
  readonly steps: number;
}

function findRule(rules: SenderRules, set: SetName): Lookup {
  const found = lookups.get(rules) ?? new Map<SetName, Lookup>();
  lookups.set(rules, found);
  const known = found.get(set);
  if (known !== undefined) return known;
  // A sender may invent any number of names, so the number of stored lookups has a bound.
  if (found.size >= MOST_KEPT) found.clear();
  const spent: Spent = { steps: 0 };
  const rule = rules.find(({ requestSets }) => isNamed(requestSets, set, spent));
  const lookup = { rule, steps: spent.steps };
  found.set(set, lookup);
  return lookup;
}

const MOST_KEPT = 20_000;

/** Lookups by rules. A plan needs the rule of each set several times. */
const lookups = new WeakMap<SenderRules, Map<SetName, Lookup>>();

/**
 * What it costs in steps of a plan to find the rules of these request sets. The same whether they were looked up before or not. Ends when
 * it is more than `most`.
 */
export function stepsToFindRules(rules: SenderRules, sets: Iterable<SetName>, most: number): number {
  let steps = 0;
  if (rules.length === 0) return steps;
  for (const set of sets) {
    steps += findRule(rules, set).steps;
    if (steps > most) break;
  }
  return steps;
}

// ---------------------------------------------------------------- names and patterns

/** A list of names and patterns, compiled once. */
interface Names {
  readonly exact: ReadonlySet<string>;
  readonly patterns: readonly HeadedPattern[];
}

/** A pattern, and the characters before its first special one. Most names differ there already. */
interface HeadedPattern extends Pattern {
  readonly head: string;
  readonly length: number;
}

/** What comparing has cost so far, in steps of a plan. */
interface Spent {
  steps: number;
}

/** Characters that are compared at the cost of one step, if a name begins like a pattern. */
const COMPARISONS_PER_STEP = 8;

/** Whether a list names this. Compares with its patterns in turn, until one matches. */
function isNamed(list: readonly string[], name: string, spent: Spent = { steps: 0 }): boolean {
  const { exact, patterns } = namesIn(list);
  spent.steps += 1;
  if (exact.has(name)) return true;
  return patterns.some((pattern) => {
    spent.steps += 1;
    if (!name.startsWith(pattern.head)) return false;
    // At worst each character is compared with each one of the pattern.
    spent.steps += Math.ceil((pattern.length * name.length) / COMPARISONS_PER_STEP);
    return pattern.test(name);
  });
}

function namesIn(list: readonly string[]): Names {
  const known = compiled.get(list);
  if (known !== undefined) return known;
  const patterns = list.flatMap((name) => {
    const pattern = compilePattern(name);
    return pattern === undefined
      ? []
      : [{ ...pattern, head: name.slice(0, name.search(SPECIAL)), length: name.length }];
  });
  const names = { exact: new Set(list), patterns };
  compiled.set(list, names);
  return names;
}

const SPECIAL = /[*?[]/;

const compiled = new WeakMap<readonly string[], Names>();

// ---------------------------------------------------------------- what a set may do

/** Whether messages of the set are accepted. */
export const mayWrite = (rules: SenderRules, set: SetName): boolean => ruleOf(rules, set)?.write ?? true;

/** Whether a set may report hosts as idle or closed, and their amounts. Reports of busy hosts count from each live set. */
export function mayReportHosts(rules: SenderRules, set: SetName): boolean {
  const rule = ruleOf(rules, set);
  return rule === undefined || (rule.write && rule.hosts);
}

/** Whether what the set says of this pool counts. */
export function mayOwnPool(rules: SenderRules, set: SetName, pool: string): boolean {
  return mayWrite(rules, set) && mayOwn(rules, set, "pools", pool);
}

/** Whether the set may define this dynamic node array. */
export const mayDefineArray = (rules: SenderRules, set: SetName, array: string): boolean =>
  mayOwn(rules, set, "dynamicArrays", array);

/** Whether targets of the set may name nodes of this array. */
export const mayNameNodes = (rules: SenderRules, set: SetName, array: string): boolean =>
  mayOwn(rules, set, "nodeNames", array);

/** What a rule may own. */
type OwnedKey = "pools" | "dynamicArrays" | "nodeNames";

/** A rule with a list owns what the list names. Without one it owns what no list names, or nothing. */
function mayOwn(rules: SenderRules, set: SetName, key: OwnedKey, name: string): boolean {
  if (rules.length === 0) return true;
  const own = ruleOf(rules, set)?.[key] ?? true;
  if (own === false) return false;
  if (own !== true) return isNamed(own, name);
  return !rules.some(({ [key]: list }) => typeof list === "object" && isNamed(list, name));
}

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
