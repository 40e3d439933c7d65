import type { Bodies } from "../../domain/bodies.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Ledger } from "../../domain/ledger.ts";
import { maySteer } from "../../domain/mode.ts";
import type { Policy } from "../../domain/policy.ts";
import { sentUntil } from "../../decide/intents/send-times.ts";
import type { LeftShown, LossShown } from "../../wire/api/configuration.ts";
import type { Backoff, ClusterRecord, InFlight } from "../../domain/record.ts";
import type { CreateKind, Effect, Intent } from "../../domain/intent.ts";
import { deedOf } from "../../domain/intent.ts";
import type { Rejection } from "../../domain/troubles.ts";
import { stillInFlight } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime } from "../../domain/units.ts";
import type {
  AloneShown,
  BackoffShown,
  InFlightShown,
  IntentShown,
  RejectionShown,
  UnderWayShown,
} from "../../wire/api/cluster-answer.ts";
import { arrayShown } from "../../domain/bucket.ts";
import { describeCreate } from "./describe-plan.ts";
import type { Pages } from "./pages.ts";
import { firstProblems } from "./describe-queues.ts";
import { admitDemands } from "../../decide/senders/admit.ts";
import { capsInForce } from "../../decide/senders/caps-in-force.ts";
import { mayOwnPool, mayReportHosts, ruleOf } from "../../decide/senders/sender-rule.ts";
import { demandsInForce } from "../../decide/senders/demands-in-force.ts";
import { renderReason } from "../../domain/reason-text.ts";
import { poolsOf, reportsOf } from "../../domain/request-sets.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import { compareText } from "../../domain/text.ts";

/** Requests that have not ended, and recent refusals. */
export function describeUnderWay(
  record: ClusterRecord,
  bodies: Bodies,
  now: Instant,
  pages: Pages,
): UnderWayShown {
  const inFlight = record.inFlight.filter((entry) => stillInFlight(entry) > 0);
  const intents = record.intents.flatMap((intent) => describeIntent(intent, bodies));
  const backoffs = record.backoffs.filter((entry) => entry.until > now);
  return {
    inFlight: pages.cut("inFlight", inFlight, describeInFlight, 0.1),
    intents: pages.cut("intents", intents, (intent) => intent, 0.1),
    backoffs: pages.cut("backoffs", backoffs, describeBackoff, 0.1),
    alone: pages.cut("alone", record.alone ?? [], describeAlone, 0.1),
    rejections: pages.cut("rejections", record.rejections, describeRejection, 0.1),
  };
}

function describeInFlight(entry: InFlight): InFlightShown {
  const { requestId, bucket, purpose, added, since } = entry;
  return {
    requestId,
    bucket: bucketText(bucket),
    countsFor: arrayShown(purpose, bucket.array),
    added,
    stillToShow: stillInFlight(entry),
    since: isoTime(since),
  };
}

/** One entry for each set of a create, otherwise one. */
function describeIntent(
  { id, effect, committedAt, sent }: Intent,
  { ledger }: Bodies,
): readonly IntentShown[] {
  const none = { bucket: undefined, count: undefined, countsFor: undefined, nodes: undefined };
  const ends = { committedAt: isoTime(committedAt), sent };
  const namesOf = (nodes: readonly NodeId[]) => nodes.map((node) => ledger.get(node)?.name ?? node);
  switch (effect.kind) {
    case "create":
      return effect.sets.map((set) => ({
        id,
        effect: effect.kind,
        ...none,
        ...describeCreate(set),
        ...ends,
      }));
    case "start": {
      const bucket = bucketText(effect.bucket);
      return [{ id, effect: effect.kind, ...none, bucket, nodes: namesOf(effect.nodes), ...ends }];
    }
    case "terminate":
      return [{ id, effect: deedOf(effect), ...none, nodes: namesOf(effect.nodes), ...ends }];
  }
}

/** What was committed before the configuration that is in force now, and may still be sent. */
export function describeLeft(
  { intents }: ClusterRecord,
  { ledger }: Bodies,
  policy: Policy,
  now: Instant,
): readonly LeftShown[] {
  return intents.flatMap((intent): readonly LeftShown[] => {
    const { effect } = intent;
    const arrays = arraysOf(effect, ledger);
    const until = sentUntil(intent, { isResent: arrays.every((array) => maySteer(policy, array)) });
    if (until <= now) return [];
    const nodes = countOf(effect);
    return [{ effect: deedOf(effect), nodes, nodearrays: arrays, until: isoTime(until) }];
  });
}

function countOf(effect: Effect): number {
  if (effect.kind !== "create") return effect.nodes.length;
  return effect.sets.reduce((sum, { count }) => sum + count, 0);
}

/** Each once. */
function arraysOf(effect: Effect, ledger: Ledger): readonly ArrayName[] {
  if (effect.kind === "start") return [effect.bucket.array];
  const all =
    effect.kind === "create"
      ? effect.sets.map(({ bucket }) => bucket.array)
      : effect.nodes.flatMap((node) => ledger.get(node)?.array ?? []);
  return [...new Set(all)];
}

function describeBackoff({ bucket, dynamic, until, cause, message }: Backoff): BackoffShown {
  return { bucket: bucketText(bucket), dynamicArray: dynamic, until: isoTime(until), cause, message };
}

function describeAlone({ array, machineType, dynamic }: CreateKind): AloneShown {
  return { bucket: bucketText({ array, machineType }), dynamicArray: dynamic };
}

function describeRejection({ at, messageId, set, problems }: Rejection): RejectionShown {
  return { at: isoTime(at), messageId, set, problems: firstProblems(problems) };
}

/** Maximum number of sets named, and of sentences for each. */
const SHOWN_SETS = 200;
const SHOWN_LOSSES = 20;

/** What the live sets of a cluster would lose under a configuration, so that an operator sees it before their senders do. */
export function describeLosses(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
): readonly LossShown[] {
  const losses = new Map<string, Set<string>>();
  const note = (set: string, loss: string): void => {
    const known = losses.get(set) ?? new Set<string>();
    losses.set(set, known);
    if (known.size < SHOWN_LOSSES) known.add(loss);
  };
  const { demands: allowed, refused } = admitDemands(record, bodies, policy, now, "all");
  for (const { set, demand, reason } of refused)
    note(
      set,
      demand.kind === "job" ? renderReason(reason) : `node array ${demand.array}: ${renderReason(reason)}`,
    );
  const { senders = NO_SENDER_RULES } = policy;
  for (const { set, demand } of demandsInForce(record, bodies, { now }).read) {
    const most = ruleOf(senders, set)?.maxPriority;
    if (most !== undefined && demand.priority > most) note(set, `priorities above ${most} are lowered to it`);
  }
  for (const { name, sets = [], max, unit } of capsInForce(policy, allowed))
    for (const set of sets.length > 1 ? sets : [])
      note(set, `a cap of its own: ${sets.length} request sets share the cap ${name} of ${max} ${unit}`);
  const isLive = ({ live, expiresAt }: { readonly live: boolean; readonly expiresAt: Instant }): boolean =>
    live && expiresAt > now;
  for (const [set, entry] of reportsOf(record))
    if (isLive(entry) && entry.report !== undefined && !mayReportHosts(senders, set))
      note(set, "its report of hosts counts only for hosts that have jobs");
  for (const [set, entry] of poolsOf(record))
    for (const { name } of isLive(entry) ? (bodies.demands.get(entry.digest)?.pools ?? []) : [])
      if (!mayOwnPool(senders, set, name)) note(set, `its pool ${name} does not count`);
  return [...losses]
    .toSorted(([a], [b]) => compareText(a, b))
    .slice(0, SHOWN_SETS)
    .map(([requestSet, loses]): LossShown => ({ requestSet, loses: [...loses] }));
}
