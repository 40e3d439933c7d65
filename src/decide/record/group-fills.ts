import { bucketId, bucketOf, bucketText, dynamicArrayOf } from "../../domain/bucket.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { GroupedArray, GroupState } from "../../domain/plan.ts";
import type { GroupFill, ClusterRecord } from "../../domain/record.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { Instant } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { backOff } from "../intents/back-off.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/**
 * Notes which groups lack nodes. Pauses the buckets of groups that the plan gave up, so that the next plans use other buckets, too. A group
 * that is being filled is forgotten once it is complete and up, or no demand asks for it. One that was given up is forgotten once it has no
 * nodes left.
 */
export function noteGroups(
  record: ClusterRecord,
  snapshot: Snapshot,
  ledger: Ledger,
  groups: readonly GroupedArray[],
  now: Instant,
): ClusterRecord {
  const fills: GroupFill[] = [];
  const reported = new Set<string>();
  for (const { name, groups: states } of groups) {
    for (const state of states) {
      const fill = fillOf(name, state);
      if (fill !== undefined) fills.push(fill);
      if (fill !== undefined || state.state === "whole") reported.add(bucketId(state.bucket));
    }
  }
  fills.push(...keptGivenUp(record, snapshot, ledger, reported));
  const givenUp = groups.flatMap(({ groups: states }) => states.filter(({ givenUpAt }) => givenUpAt === now));
  const { groupFills: _before, ...rest } = givenUp.reduce((next, state) => pause(next, state, now), record);
  return fills.length === 0 ? rest : { ...rest, groupFills: fills };
}

function fillOf(key: string, { bucket, since, givenUpAt }: GroupState): GroupFill | undefined {
  if (since === undefined) return undefined;
  return { bucket, key, since, ...withoutAbsent({ givenUpAt }) };
}

/** Groups that were given up, that the plan did not report, and that still have nodes. Those may be on their way down. */
function keptGivenUp(
  { groupFills = [] }: ClusterRecord,
  { nodes }: Snapshot,
  ledger: Ledger,
  reported: ReadonlySet<string>,
): readonly GroupFill[] {
  const kept = groupFills.filter(
    ({ bucket, givenUpAt }) => givenUpAt !== undefined && !reported.has(bucketId(bucket)),
  );
  if (kept.length === 0) return kept;
  const present = new Set(
    nodes.map((node) => {
      const array = dynamicArrayOf(ledger.get(node.nodeId)?.purpose) ?? node.array;
      return bucketId({ ...bucketOf(node), array });
    }),
  );
  return kept.filter(({ bucket }) => present.has(bucketId(bucket)));
}

/** Pauses the whole bucket: it would lack the same nodes for another group. */
function pause(record: ClusterRecord, state: GroupState, now: Instant): ClusterRecord {
  const { placementGroup: _group, ...bucket } = state.bucket;
  const lacked = Math.round(secondsBetween(state.since ?? now, now));
  const words = `${bucketText(state.bucket)} had ${state.nodes} of ${state.size} nodes of a group after ${lacked} s; they are released`;
  return backOff(record, bucket, "fell-short", words, now);
}
