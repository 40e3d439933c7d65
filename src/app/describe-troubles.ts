import type { Bodies } from "../domain/bodies.ts";
import { bucketText } from "../domain/bucket.ts";
import type { Node } from "../domain/cluster.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { isoTime } from "../domain/units.ts";
import { lossShown } from "../decide/lost-bodies.ts";
import { unneededText } from "./describe-health.ts";
import { phaseShown } from "./phase-shown.ts";
import { someOf } from "../domain/some-of.ts";

/** Something that an operator may have to do something about. */
export interface DescribedTrouble {
  readonly kind:
    | "health"
    | "backing-off"
    | "node-failed"
    | "node-down"
    | "nodes-not-needed"
    | "start-refused"
    | "job-rejected"
    | "message-rejected";
  readonly text: string;
  /** So many alike. */
  readonly count: number;
}

/** A list of names in a sentence. */
const NAMED = 5;

/** All that is wrong with a cluster in one list; details are elsewhere in the answer. */
export function describeTroubles(
  record: ClusterRecord,
  bodies: Bodies,
  notes: readonly string[],
  now: Instant,
): readonly DescribedTrouble[] {
  return [
    ...notes.map((text): DescribedTrouble => ({ kind: "health", text, count: 1 })),
    ...storageLoss(record, now),
    ...notNeeded(record),
    ...pauses(record, now),
    ...failedNodes(bodies),
    ...nodesDown(bodies),
    ...refusedStarts(bodies),
    ...rejectedJobs(record, bodies),
    ...rejectedMessages(record),
  ];
}

/** What was lost in storage: until the sets that lapsed by it have been pushed again, and for an hour at least. */
function storageLoss(record: ClusterRecord, now: Instant): readonly DescribedTrouble[] {
  const loss = lossShown(record, now);
  if (loss === undefined) return [];
  const sets =
    loss.sets.length === 0
      ? ""
      : `; the demand of ${someOf(loss.sets, NAMED)} is lost, and counts again when it is pushed again`;
  const nodes = loss.nodes ? "; what was known of the nodes is lost, and comes from the next look" : "";
  const text = `storage lost ${loss.bodies} of its rows at ${isoTime(loss.at)}${sets}${nodes}; scale-down rests`;
  return [{ kind: "health", text, count: loss.bodies }];
}

function notNeeded({ unneeded }: ClusterRecord): readonly DescribedTrouble[] {
  if (unneeded === undefined) return [];
  return [{ kind: "nodes-not-needed", text: unneededText(unneeded), count: 1 }];
}

function pauses({ backoffs }: ClusterRecord, now: Instant): readonly DescribedTrouble[] {
  return backoffs
    .filter(({ until }) => until > now)
    .map(({ bucket, until, cause, message }) => ({
      kind: "backing-off",
      text: `${bucketText(bucket)} backs off until ${isoTime(until)} (${cause}): ${message}`,
      count: 1,
    }));
}

function failedNodes({ seen, ledger }: Bodies): readonly DescribedTrouble[] {
  const failed = (seen?.nodes ?? []).filter(({ nodeId, phase }) => phase === "failed" && ledger.has(nodeId));
  return byMessage(failed).map(({ message, names, count }) => ({
    kind: "node-failed",
    text: `${names} failed: ${message}`,
    count,
  }));
}

function nodesDown({ seen, plan }: Bodies): readonly DescribedTrouble[] {
  const down = (seen?.nodes ?? []).filter((node) => phaseShown(node, plan) === "down");
  return byMessage(down).map(({ message, names, count }) => ({
    kind: "node-down",
    text: `${names} ${count === 1 ? "was" : "were"} Ready and ${count === 1 ? "is" : "are"} up no more: ${message}`,
    count,
  }));
}

/** By what CycleCloud says of them: many nodes fail alike. */
function byMessage(
  nodes: readonly Node[],
): readonly { readonly message: string; readonly names: string; readonly count: number }[] {
  const alike = new Map<string, Node[]>();
  for (const node of nodes) {
    const message = node.statusMessage ?? node.status;
    const some = alike.get(message);
    if (some === undefined) alike.set(message, [node]);
    else some.push(node);
  }
  return [...alike].map(([message, some]) => ({
    message,
    names: someOf(
      some.map(({ name }) => name),
      NAMED,
    ),
    count: some.length,
  }));
}

function refusedStarts({ ledger }: Bodies): readonly DescribedTrouble[] {
  const refused = [...ledger.values()].filter(
    ({ start, goneAt }) => start?.state === "refused" && goneAt === undefined,
  );
  const [first] = refused;
  if (first === undefined) return [];
  const names = someOf(
    refused.map(({ name }) => name),
    NAMED,
  );
  const text = `${names} did not start: ${first.start?.message ?? "nothing came of it"}`;
  return [{ kind: "start-refused", text, count: refused.length }];
}

function rejectedJobs({ sets }: ClusterRecord, { demands }: Bodies): readonly DescribedTrouble[] {
  return [...sets].flatMap(([set, entry]) => {
    const rejected = demands.get(entry.digest)?.rejectedJobs ?? [];
    if (!entry.live || rejected.length === 0) return [];
    const names = someOf(
      rejected.map(({ name }) => name),
      NAMED,
    );
    const text = `request set ${set}: left out, as they could not be read: ${names}`;
    return [{ kind: "job-rejected", text, count: rejected.length }];
  });
}

function rejectedMessages({ rejections }: ClusterRecord): readonly DescribedTrouble[] {
  const newest = rejections.at(-1);
  if (newest === undefined) return [];
  const [first] = newest.problems;
  const why = first === undefined ? "" : `: ${first.path} is ${first.found}, expected is ${first.expected}`;
  const text = `messages could not be read, the last at ${isoTime(newest.at)}${why}`;
  return [{ kind: "message-rejected", text, count: rejections.length }];
}
