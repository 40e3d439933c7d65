import {
  costText,
  nodesDown,
  callsRefused,
  claimsEnded,
  nodesUnhealthy,
  retiredKeys,
  retiredKeyText,
  NAMED,
  nodesNotOurs,
  failedNodes,
  nodesMissing,
  nodesUnclear,
  nodesRemoved,
  oddShutdownPolicies,
  refusedStarts,
  namesOf,
} from "./node-troubles.ts";
import { asideText } from "../../domain/request-sets.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { bucketText } from "../../domain/bucket.ts";
import { restingOf } from "../../decide/senders/shares.ts";
import type { Policy } from "../../domain/policy.ts";
import { DEFAULT_POLICY } from "../../domain/policy.ts";
import { problemText } from "../../domain/shown.ts";
import type { ClusterRecord, DearDemand } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { isoTime, instant, secondsBetween } from "../../domain/units.ts";
import { lossShown } from "../../decide/record/lost-bodies.ts";
import type { StopKeys } from "../ports/ports.ts";
import { someOf } from "../../domain/text.ts";
import type { TroubleShown } from "../../wire/api/cluster-answer.ts";
import { quoteText } from "../../domain/secrets.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import { BUSY_STATE_UNKNOWN } from "../../domain/node-verdict.ts";
import type { Unneeded } from "../../domain/unneeded.ts";
import { unknownArrays } from "../../domain/unknown-arrays.ts";

/** Maximum length of one trouble in characters. It may contain text of others. */
const MOST_CHARACTERS = 2000;

/**
 * All that is wrong with a cluster in one list; details are elsewhere in the answer. `senderNow`: what the senders' clocks show, which is
 * another time where ours is scaled.
 */
export function describeTroubles(
  record: ClusterRecord,
  bodies: Bodies,
  notes: readonly string[],
  now: Instant,
  senderNow: Instant = now,
  stopKeys?: StopKeys,
  policy: Policy = DEFAULT_POLICY,
): readonly TroubleShown[] {
  const troubles = [
    ...(policy.insecure ?? []).map((text): TroubleShown => ({ kind: "insecure", text, count: 1 })),
    ...(policy.refused ?? []).map((text): TroubleShown => ({ kind: "configuration", text, count: 1 })),
    ...modeOfSetting(record, policy),
    ...notes.map((text): TroubleShown => ({ kind: "health", text, count: 1 })),
    ...storageLoss(record, now),
    ...notNeeded(record),
    ...nodesNotOurs(bodies, policy, now),
    ...pauses(record, now),
    ...failedNodes(bodies, policy),
    ...nodesDown(record, bodies, policy, now),
    ...nodesMissing(bodies),
    ...nodesUnclear(bodies),
    ...nodesRemoved(record, bodies, policy, now),
    ...nodesUnhealthy(bodies, now),
    ...callsRefused(bodies, now),
    ...claimsEnded(record, bodies, policy, now),
    ...keysMissing(record, stopKeys),
    ...refusedStarts(bodies),
    ...oddShutdownPolicies(bodies),
    ...arraysMissing(bodies),
    ...revisionsAhead(record, senderNow),
    ...leftOut(record, bodies, policy, now),
    ...rejectedJobs(record, bodies),
    ...rejectedMessages(record),
  ];
  return troubles.map((trouble) => ({ ...trouble, text: shortened(trouble.text) }));
}

/** A cluster that was planned before its mode was written into the configuration (docs/protocol.md, Configuration). */
function modeOfSetting({ plan }: ClusterRecord, { mode, modeIsDefault }: Policy): readonly TroubleShown[] {
  if (modeIsDefault !== true || plan === 0) return [];
  const text = `the configuration says no mode, so the app setting AUTOSCALER_DEFAULT_MODE decides, and it says ${mode}: keep that with config set mode=${mode}`;
  return [{ kind: "configuration", text, count: 1 }];
}

/** Names of jobs and messages of CycleCloud may hold anything. */
const shortened = (whole: string): string => {
  const text = quoteText(whole);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
};

/** Losses in storage, shown until the sets that lapsed because of them have been pushed again, and for at least an hour. */
function storageLoss(record: ClusterRecord, now: Instant): readonly TroubleShown[] {
  const loss = lossShown(record, now);
  if (loss === undefined) return [];
  const sets =
    loss.sets.length === 0
      ? ""
      : `; the demand of ${someOf(loss.sets, NAMED)} is lost, and counts again when it is pushed again`;
  const nodes = loss.nodes ? "; the record of the nodes is lost, and the next observation rebuilds it" : "";
  const text = `storage lost ${loss.bodies} of its rows at ${isoTime(loss.at)}${sets}${nodes}; scale-down rests`;
  return [{ kind: "health", text, count: loss.bodies }];
}

function keysMissing(record: ClusterRecord, stopKeys: StopKeys | undefined): readonly TroubleShown[] {
  return retiredKeys(record, stopKeys).map((use) => ({
    kind: "stop-key-missing",
    text: retiredKeyText(use),
    count: use.nodes,
  }));
}

function notNeeded({ unneeded }: ClusterRecord): readonly TroubleShown[] {
  if (unneeded === undefined) return [];
  return [{ kind: "nodes-not-needed", text: unneededText(unneeded), count: 1 }];
}

function pauses({ backoffs }: ClusterRecord, now: Instant): readonly TroubleShown[] {
  return backoffs
    .filter(({ cause, until }) => until > now || cause === "went-down")
    .map(({ bucket, until, cause, message }) => {
      const how =
        until > now
          ? `backs off until ${isoTime(until)}`
          : "gets one node at a time until one has been Ready for 30 minutes";
      return { kind: "backing-off", text: `${bucketText(bucket)} ${how} (${cause}): ${message}`, count: 1 };
    });
}

function leftOut(
  record: ClusterRecord,
  { plan }: Bodies,
  policy: Policy,
  now: Instant,
): readonly TroubleShown[] {
  const { dear } = record;
  const resting = dear === undefined ? undefined : { ...restingOf(dear, policy), ...dear };
  return (plan?.leftOut ?? []).flatMap(({ set, demands, first, why, by, aside }): readonly TroubleShown[] => {
    if (aside !== undefined)
      return [{ kind: "left-out", text: `request set ${set}: ${asideText(aside, why)}`, count: demands }];
    if (resting?.restsWhole(set) === true && isShort(resting)) return [];
    const [whose, remedy] =
      by === "configuration"
        ? ["half of", "Configure fewer of them, or with fewer constraints"]
        : ["its share of", "Send fewer kinds of jobs, or fewer alternatives"];
    const again =
      resting?.rests(set) === true ? ` It is planned in full again ${fullAgain(resting, now)}.` : "";
    return [
      {
        kind: "left-out",
        text: `request set ${set}: left out of this plan, from ${first} on; ${why} cost more than ${whose} the planning budget. No nodes are created for this demand, and no node that it may need is stopped.${again} ${remedy}`,
        count: demands,
      },
    ];
  });
}

const fullAgain = ({ until }: DearDemand, now: Instant): string =>
  until > now ? `from ${isoTime(until)} on` : "at the next tick";

/** A sender with 100,000 jobs beside another one rests most of the time, for some seconds each: that is no trouble. */
function isShort({ since, until }: DearDemand): boolean {
  return since !== undefined && secondsBetween(since, until) < SHORT_REST_SECONDS;
}

const SHORT_REST_SECONDS: Seconds = 180;

function rejectedJobs({ sets }: ClusterRecord, { demands }: Bodies): readonly TroubleShown[] {
  return [...sets].flatMap(([set, entry]) => {
    const { rejectedJobs: rejected = [], moreRejectedJobs = 0 } = demands.get(entry.digest) ?? {};
    if (!entry.live || rejected.length === 0) return [];
    const text = `request set ${set}: left out because they could not be read: ${namesOf(rejected)}${moreRejectedJobs === 0 ? "" : ` and ${moreRejectedJobs} more`}`;
    return [{ kind: "job-rejected", text, count: rejected.length + moreRejectedJobs }];
  });
}

function rejectedMessages({ rejections }: ClusterRecord): readonly TroubleShown[] {
  const newest = rejections.at(-1);
  if (newest === undefined) return [];
  const [first] = newest.problems;
  const why = first === undefined ? "" : `: ${problemText(first)}`;
  const text = `messages could not be read, the last at ${isoTime(newest.at)}${why}`;
  return [{ kind: "message-rejected", text, count: rejections.length }];
}

// Troubles with the messages of senders and the answers of CycleCloud.

/** Synchronised clocks differ by less. */
const CLOCKS_DIFFER_SECONDS: Seconds = 10;

/** Sets whose revision came from a clock that was ahead. Until our clock reaches it, later messages may count as older. */
function revisionsAhead(record: ClusterRecord, now: Instant): readonly TroubleShown[] {
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
function arraysMissing({ seen, ledger }: Bodies): readonly TroubleShown[] {
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

/** A warning about nodes that no demand needs: their number, since when, their cost, and what ends them. */
export function unneededText({ nodes, since, sizes, cost }: Unneeded): string {
  const one = nodes === 1;
  const named = sizes.map((size) => `${size.nodes} x ${size.array}/${size.machineType}`).join(", ");
  const rest = nodes - sizes.reduce((sum, size) => sum + size.nodes, 0);
  const all = rest === 0 ? named : `${named} and ${rest} more`;
  return [
    one
      ? `1 node has not been needed since ${isoTime(since)};`
      : `${nodes} nodes are not needed, the first of them since ${isoTime(since)};`,
    `${BUSY_STATE_UNKNOWN}.`,
    cost === undefined ? `${all}.` : `${one ? "It costs" : "They cost"} ${costText(cost)}: ${all}.`,
    `${one ? "It stays" : "Each stays"} until its autostop callback asks, a report names it idle, or it is terminated in CycleCloud.`,
  ].join(" ");
}

/** Node arrays that the configuration names and the cluster does not have. Empty before the first observation. */
export function unknownNodearrays(record: ClusterRecord, bodies: Bodies, policy: Policy): readonly string[] {
  if (bodies.seen === undefined) return [];
  const arrays = [...bodies.seen.arrays, ...(record.dynamicArrays ?? [])];
  return unknownArrays(
    policy,
    arrays.map(({ name }) => name),
  );
}
