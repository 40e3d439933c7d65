import type { Pool, Problem, RequestSetUpdate, SetDemand } from "../../domain/demand.ts";
import { lineageOf } from "../../domain/dynamic-array.ts";
import { someOf } from "../../domain/text.ts";
import type { SetName } from "../../domain/ids.ts";
import { ALLOW_ATTRIBUTES, NO_SENDER_RULES, type SenderRules } from "../../domain/sender-rules.ts";
import { DOCUMENTED_ATTRIBUTES, DOCUMENTED_SETTINGS, refusedAttributes } from "./allowed-attributes.ts";
import {
  attributesOf,
  freeKeysOf,
  mayDefineArray,
  mayNameNodes,
  mayOwnPool,
  mayReportHosts,
  mayWrite,
  ruleOf,
} from "./sender-rule.ts";

/**
 * Finds what the sender of a message may not do by the configuration. Each problem refuses the whole message, as each mistake in a node array
 * does: a message states the whole need of its set, and no node is created without what its sender asked for. A sender may always end its
 * set. Problems show the kind of a value and not the value itself.
 */
export function refuseUpdate(
  update: RequestSetUpdate,
  senders: SenderRules = NO_SENDER_RULES,
): readonly Problem[] {
  const { set, demand } = update;
  if (demand !== undefined && update.ends === true) return [];
  if (!mayWrite(senders, set))
    return [refusal("requestSet", `"${set}"`, "a request set that may write", set)];
  const pools = demand?.pools ?? ("pools" in update ? update.pools : undefined) ?? [];
  return [
    ...(demand === undefined ? [] : refuseTargets(demand, set, senders)),
    ...(update.schedulerNodes === undefined || mayReportHosts(senders, set)
      ? []
      : [
          refusal(
            "schedulerNodes",
            countText(update.schedulerNodes.length, "host"),
            "no report of hosts",
            set,
          ),
        ]),
    ...refusePools(pools, set, senders),
  ].slice(0, MOST_PROBLEMS);
}

function refusePools(pools: readonly Pool[], set: SetName, senders: SenderRules): readonly Problem[] {
  const refused = pools.filter(({ name }) => !mayOwnPool(senders, set, name));
  if (refused.length === 0) return [];
  if (ruleOf(senders, set)?.pools === false)
    return [refusal("pools", countText(pools.length, "pool"), "no pools", set)];
  const names = refused.slice(0, MOST_NAMED).map(({ name }) => cut(name));
  const found = `${countText(refused.length, "pool")} of others: ${someOf(names, MOST_NAMED)}`;
  return [refusal("pools", found, "pools that it may own", set)];
}

/** The same number as in the bounds of messages. */
const MOST_PROBLEMS = 100;

function refusal(path: string, found: string, expected: string, set: SetName): Problem {
  return {
    path,
    found,
    expected: `${expected}: the configuration (senders) says so of request set "${set}"`,
  };
}

const countText = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function refuseTargets({ demands }: SetDemand, set: SetName, senders: SenderRules): readonly Problem[] {
  const allowed = attributesOf(senders, set);
  const parents = new Map(
    demands.flatMap((one) =>
      one.kind === "job" || one.extends === undefined ? [] : [[one.array, one.extends]],
    ),
  );
  const problems: Problem[] = [];
  for (const demand of demands) {
    if (problems.length >= MOST_PROBLEMS) break;
    if (demand.kind === "job") continue;
    const path = `nodearrays[${demand.position}]`;
    if (demand.extends !== undefined && !mayDefineArray(senders, set, demand.array))
      problems.push(refuseArray(path, demand.array, set, senders));
    if (demand.kind === "target" && demand.named !== undefined && !mayNameNodes(senders, set, demand.array))
      problems.push(
        refusal(`${path}.Name`, `"${demand.array}"`, "a node array whose nodes it may name", set),
      );
    // A base that only an earlier message names is not known here; the plan knows it.
    const lineage = lineageOf(demand.array, (array) => parents.get(array));
    const keys = freeKeysOf(senders, set, lineage);
    for (const refused of refusedAttributes(demand.attributes, allowed, keys))
      problems.push({
        path: `${path}.${cut(refused.path)}`,
        found: kindOf(refused.value),
        expected: expectedFor(refused.path, [
          ...allowed,
          ...(keys ?? []).map((key) => `Configuration.${key}`),
        ]),
      });
  }
  return problems;
}

function refuseArray(path: string, array: string, set: SetName, senders: SenderRules): Problem {
  return ruleOf(senders, set)?.dynamicArrays === false
    ? refusal(`${path}.Dynamic`, "true", "no dynamic node array", set)
    : refusal(`${path}.Name`, `"${array}"`, "a dynamic node array that it may define", set);
}

/** What is allowed there, or how to allow it. */
function expectedFor(path: string, allowed: readonly string[]): string {
  const isInside = path.startsWith("Configuration.");
  const known = isInside ? DOCUMENTED_SETTINGS : [...DOCUMENTED_ATTRIBUTES, ...OWN];
  return `one of ${someOf([...known, ...allowed], MOST_NAMED)}; or allow it: ${ALLOW_ATTRIBUTES}`;
}

/** Parts of paths that are no attributes. */
const OWN: readonly string[] = ["MachineType", "Dynamic", "Extends", "targets and groups"];
const MOST_NAMED = 20;

/** Maximum length of a path. Its keys come from the sender and may be long. */
const LONGEST = 200;
const cut = (path: string): string => path.slice(0, LONGEST).toWellFormed();

/** The kind of a value, because the value may be a secret. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
      return `text of ${value.length} characters`;
    case "boolean":
      return "true or false";
    case "object":
      return "an object";
    default:
      return `a ${typeof value}`;
  }
}
