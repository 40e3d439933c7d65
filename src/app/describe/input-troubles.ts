import type { Bodies } from "../../domain/bodies.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { someOf } from "../../domain/some-of.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { instant, isoTime, secondsBetween } from "../../domain/units.ts";
import type { TroubleShown } from "../../wire/api/cluster-answer.ts";

/** Troubles with the messages of senders and the answers of CycleCloud. */

/** Maximum number of names in a sentence. */
const NAMED = 5;
/** Synchronised clocks differ by less. */
const CLOCKS_DIFFER_SECONDS: Seconds = 10;

/** Sets whose revision came from a clock that was ahead. Until our clock reaches it, later messages may count as older. */
export function revisionsAhead(record: ClusterRecord, now: Instant): readonly TroubleShown[] {
  const ahead = new Map<SetName, number>();
  for (const entries of [record.sets, record.separateReports, record.separatePools])
    for (const [name, { revision }] of entries)
      if (secondsBetween(now, instant(revision.value)) > CLOCKS_DIFFER_SECONDS)
        ahead.set(name, Math.max(revision.value, ahead.get(name) ?? 0));
  if (ahead.size === 0) return [];
  const last = instant([...ahead.values()].reduce((a, b) => Math.max(a, b)));
  const seconds = Math.round(secondsBetween(now, last));
  const names = someOf([...ahead.keys()], NAMED);
  const text = `request set ${names}: a revision is from a clock that is still ${seconds} s ahead; messages with an earlier revision, or with none, count as older until ${isoTime(last)}`;
  return [{ kind: "revision-ahead", text, count: ahead.size }];
}

/** Nodes that CycleCloud lists without their node array. It never forgets an array, so such a status is incomplete. */
export function arraysMissing({ seen, ledger }: Bodies): readonly TroubleShown[] {
  if (seen === undefined) return [];
  const listed = new Set(seen.arrays.map(({ name }) => name));
  const nodes = new Map<ArrayName, string[]>();
  // Head nodes have no array and are not in the ledger.
  for (const { nodeId, array, name } of seen.nodes)
    if (!listed.has(array) && ledger.has(nodeId)) nodes.set(array, [...(nodes.get(array) ?? []), name]);
  return [...nodes].map(([array, names]) => ({
    kind: "nodearray-missing",
    text: `CycleCloud lists nodes of node array ${array}, but not the node array: ${someOf(names, NAMED)} ${names.length === 1 ? "serves no demand, and is" : "serve no demand, and are"} not stopped`,
    count: names.length,
  }));
}
