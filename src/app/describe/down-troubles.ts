import type { DownGroup } from "../../decide/need/down-summary.ts";
import { summariseDown } from "../../decide/need/down-summary.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime } from "../../domain/units.ts";
import type { TroubleShown } from "../../wire/api/cluster-answer.ts";
import { byMessage, namesOf } from "./observed-troubles.ts";
import { phaseShown } from "./phase-shown.ts";
import { costText } from "./unneeded-text.ts";

/** Nodes that were Ready and are no longer up, and what keeps those that were shut down from being terminated. */
export function nodesDown(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
): readonly TroubleShown[] {
  const { seen, plan, ledger } = bodies;
  const down = (seen?.nodes ?? []).filter((node) => phaseShown(node, plan) === "down");
  const groups =
    seen === undefined || plan === undefined ? [] : summariseDown(record, plan, ledger, seen, policy, now);
  const all = groups.find(({ kind }) => kind === "nodes-down");
  const alike = byMessage(down);
  return [
    ...alike.map(({ message, names, count }): TroubleShown => ({
      kind: "node-down",
      text: `${names} ${count === 1 ? "was" : "were"} Ready and ${count === 1 ? "is" : "are"} no longer up: ${message}${alike.length === 1 ? endOf(all) : ""}`,
      count,
    })),
    ...groups.flatMap((group) => troubleOf(group) ?? []),
  ];
}

/** Since when, when the first of them ends, and what they cost. */
function endOf(group: DownGroup | undefined): string {
  if (group === undefined) return "";
  const { nodes, since, nextEnd } = group;
  const one = nodes.length === 1;
  const ends = one ? "it is terminated at" : "the first is terminated at";
  const end = nextEnd === undefined ? "" : `; ${ends} ${isoTime(nextEnd)}`;
  return `; ${one ? "" : "the first "}shut down since ${isoTime(since)}${end}${costOf(group)}`;
}

function costOf({ nodes, cost }: DownGroup): string {
  return cost === undefined ? "" : `; ${nodes.length === 1 ? "it costs" : "they cost"} ${costText(cost)}`;
}

function troubleOf(group: DownGroup): TroubleShown | undefined {
  const { kind, nodes, since, nextEnd, array } = group;
  const names = namesOf(nodes);
  const count = nodes.length;
  const is = count === 1 ? "is" : "are";
  const end = nextEnd === undefined ? "" : `; the first is terminated at ${isoTime(nextEnd)}`;
  switch (kind) {
    case "down-wave": {
      const where = array === undefined ? "all node arrays together" : `node array ${array}`;
      const text = `${where}: ${count} nodes are down at once, the first since ${isoTime(since)}, so each waits at least an hour${end}${costOf(group)}. If they are to end now: end-down ${array ?? "ARRAY"}`;
      return { kind, text, count };
    }
    case "down-busy":
      return {
        kind,
        text: `${names}: down for over an hour, and a job is still reported or placed there, so ${count === 1 ? "it is" : "they are"} not terminated${costOf(group)}. Remove the job in the scheduler if it is lost`,
        count,
      };
    case "down-kept":
      return {
        kind,
        text: `${names} ${is} down since ${isoTime(since)}, and ${is} not terminated: downTimeout is never, or the node array's ShutdownPolicy is Deallocate${costOf(group)}. Look at ${count === 1 ? "it" : "them"}, then use end-down, or end ${count === 1 ? "it" : "them"} in CycleCloud`,
        count,
      };
    case "nodes-down":
      return undefined;
  }
}
