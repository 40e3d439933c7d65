import type { SetName } from "../../domain/ids.ts";
import type { SenderRule, SenderRules } from "../../domain/sender-rules.ts";
import type { Pattern } from "../../domain/shell-pattern.ts";
import { compilePattern } from "../../domain/shell-pattern.ts";

/** The first rule that names the request set. Undefined if none does. */
export function ruleOf(rules: SenderRules, set: SetName): SenderRule | undefined {
  return rules.length === 0 ? undefined : lookUp(rules, set).rule;
}

/** What a lookup found, and what it cost in steps of a plan. */
interface Lookup {
  readonly rule: SenderRule | undefined;
  readonly steps: number;
}

function lookUp(rules: SenderRules, set: SetName): Lookup {
  const found = lookups.get(rules) ?? new Map<SetName, Lookup>();
  lookups.set(rules, found);
  const known = found.get(set);
  if (known !== undefined) return known;
  // A sender may invent any number of names, so the number of stored lookups has a bound.
  if (found.size >= MOST_KEPT) found.clear();
  let steps = 0;
  const rule = rules.find(({ requestSets }) => {
    const names = compileNames(requestSets);
    steps += 1 + Math.ceil((names.characters * set.length) / COMPARISONS_PER_STEP);
    return names.has(set);
  });
  const lookup = { rule, steps };
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
    steps += lookUp(rules, set).steps;
    if (steps > most) break;
  }
  return steps;
}

// ---------------------------------------------------------------- names and patterns

/** The names and patterns of one list, compiled once. */
interface Names {
  readonly has: (name: string) => boolean;
  /** Number of characters of its patterns. Comparing a name with them takes this times the length of the name, at worst. */
  readonly characters: number;
}

/** Characters that are compared at the cost of one step of a plan. */
const COMPARISONS_PER_STEP = 64;

function compileNames(list: readonly string[]): Names {
  const known = compiled.get(list);
  if (known !== undefined) return known;
  const patterns: Pattern[] = [];
  let characters = 0;
  for (const name of list) {
    const pattern = compilePattern(name);
    if (pattern === undefined) continue;
    patterns.push(pattern);
    characters += name.length;
  }
  const exact = new Set(list);
  const has = (name: string): boolean => exact.has(name) || patterns.some((pattern) => pattern.test(name));
  const names = { has, characters };
  compiled.set(list, names);
  return names;
}

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

/** A rule with a list owns what the list names. Without one it owns what no list names, or nothing. */
function mayOwn(rules: SenderRules, set: SetName, key: "pools" | "dynamicArrays", name: string): boolean {
  if (rules.length === 0) return true;
  const own = ruleOf(rules, set)?.[key] ?? true;
  if (own === false) return false;
  if (own !== true) return compileNames(own).has(name);
  return !rules.some(({ [key]: list }) => typeof list === "object" && compileNames(list).has(name));
}

/** Attributes that a set may set in addition to the documented ones. */
export const attributesOf = (rules: SenderRules, set: SetName): readonly string[] =>
  ruleOf(rules, set)?.attributes ?? NO_ATTRIBUTES;

const NO_ATTRIBUTES: readonly string[] = [];
