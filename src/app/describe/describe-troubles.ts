import { asideText } from "../../domain/aside.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { bucketText } from "../../domain/bucket.ts";
import { restingOf } from "../../decide/senders/resting.ts";
import type { Policy } from "../../domain/policy.ts";
import { DEFAULT_POLICY } from "../../domain/policy.ts";
import { problemText } from "../../domain/problem-text.ts";
import type { ClusterRecord, DearDemand } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";
import { lossShown } from "../../decide/record/lost-bodies.ts";
import { unneededText } from "./unneeded-text.ts";
import { nodesDown } from "./down-troubles.ts";
import { callsRefused, claimsEnded, nodesUnhealthy } from "./node-troubles.ts";
import type { StopKeys } from "../ports/site.ts";
import { retiredKeys, retiredKeyText } from "./stop-key-use.ts";
import { arraysMissing, revisionsAhead } from "./input-troubles.ts";
import { someOf } from "../../domain/some-of.ts";
import type { TroubleShown } from "../../wire/api/cluster-answer.ts";
import {
  NAMED,
  nodesNotOurs,
  failedNodes,
  nodesMissing,
  nodesUnclear,
  nodesRemoved,
  refusedStarts,
  namesOf,
} from "./observed-troubles.ts";
import { quoteText } from "../../domain/secrets.ts";

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
