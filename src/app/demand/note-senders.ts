import { definitionText } from "../../decide/senders/admit.ts";
import { digestOf } from "../../domain/digest.ts";
import { ruleOf } from "../../decide/senders/sender-rule.ts";
import type { Demand, RequestSetUpdate } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { poolsOf } from "../../domain/request-sets.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import { someOf } from "../../domain/some-of.ts";

/** Maximum number of items of one kind in a note. */
const NAMED = 10;

/**
 * Parts of an accepted update that have less effect than stated, one sentence each: because of its sender's rule, or because another set
 * was first. `record` includes the update.
 */
export function noteSenders(
  update: RequestSetUpdate,
  record: ClusterRecord,
  { senders = NO_SENDER_RULES }: Pick<Policy, "senders">,
): readonly string[] {
  const { set, demand } = update;
  const pools = (demand === undefined ? update.pools : demand.pools) ?? [];
  const demands = demand?.demands ?? [];
  return [
    ...noteLowered(demands, ruleOf(senders, set)?.maxPriority),
    ...noteOwnedPools(
      pools.map(({ name }) => name),
      set,
      record,
    ),
    ...noteDefined(demands, set, record),
  ];
}

function noteLowered(demands: readonly Demand[], most: number | undefined): readonly string[] {
  const lowered = most === undefined ? [] : demands.filter(({ priority }) => priority > most);
  if (most === undefined || lowered.length === 0) return [];
  return [
    `the priority of ${lowered.length} of its demands is lowered to ${most}, as the configuration (senders) says`,
  ];
}

function noteOwnedPools(names: readonly string[], set: SetName, record: ClusterRecord): readonly string[] {
  const live = poolsOf(record);
  return (record.poolOwners ?? []).flatMap(({ set: owner, pools }) => {
    if (owner === set || live.get(owner)?.live !== true) return [];
    const keys = new Set(pools);
    const owned = names.filter((name) => keys.has(digestOf(name)));
    if (owned.length === 0) return [];
    return [
      `what it says of the pools ${someOf(owned, NAMED)} does not count: they belong to request set ${owner}, which named them first`,
    ];
  });
}

function noteDefined(demands: readonly Demand[], set: SetName, record: ClusterRecord): readonly string[] {
  const known = new Map((record.dynamicArrays ?? []).map((array) => [array.name, array]));
  return demands.flatMap((demand) => {
    if (demand.kind === "job" || demand.extends === undefined) return [];
    const first = known.get(demand.array);
    if (first?.by === undefined || first.by === set || record.sets.get(first.by)?.live !== true) return [];
    if (definitionText(first) === definitionText(demand)) return [];
    return [
      `dynamic node array ${demand.array} stays unmet: request set ${first.by} defined it first, and otherwise`,
    ];
  });
}
