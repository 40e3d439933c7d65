import type { SetName } from "../../domain/ids.ts";
import type { SenderRule, SenderRules } from "../../domain/sender-rules.ts";
import { compilePattern } from "../../domain/shell-pattern.ts";

/** The first rule that names the request set; undefined: none does. */
export function ruleOf(rules: SenderRules, set: SetName): SenderRule | undefined {
  if (rules.length === 0) return undefined;
  const found = lookups.get(rules) ?? new Map<SetName, SenderRule | undefined>();
  lookups.set(rules, found);
  if (found.has(set)) return found.get(set);
  // Names are claims: of a sender that invents them without end only so many are kept.
  if (found.size >= MOST_KEPT) found.clear();
  const rule = rules.find(({ requestSets }) => requestSets.some((pattern) => matches(pattern, set)));
  found.set(set, rule);
  return rule;
}

const MOST_KEPT = 20_000;

/** A plan asks for each set several times. */
const lookups = new WeakMap<SenderRules, Map<SetName, SenderRule | undefined>>();

const matches = (pattern: string, set: SetName): boolean =>
  pattern === set || (compilePattern(pattern)?.test(set) ?? false);

export const mayWrite = (rules: SenderRules, set: SetName): boolean => ruleOf(rules, set)?.write ?? true;

/** Whether a set's word counts that a host is idle or closed, and what it has. That a host is busy counts from every live set. */
export function mayReportHosts(rules: SenderRules, set: SetName): boolean {
  const rule = ruleOf(rules, set);
  return rule === undefined || (rule.write && rule.hosts);
}

export function mayNamePools(rules: SenderRules, set: SetName): boolean {
  const rule = ruleOf(rules, set);
  return rule === undefined || (rule.write && rule.pools);
}

export const mayDefineArrays = (rules: SenderRules, set: SetName): boolean =>
  ruleOf(rules, set)?.dynamicArrays ?? true;

/** Attributes that a set may set beside the documented ones. */
export const attributesOf = (rules: SenderRules, set: SetName): readonly string[] =>
  ruleOf(rules, set)?.attributes ?? NO_ATTRIBUTES;

const NO_ATTRIBUTES: readonly string[] = [];
