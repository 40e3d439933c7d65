import type { RequestId } from "../../domain/ids.ts";
import type {
  Effect,
  Intent,
  CreateEffect,
  CreateSet,
  StartEffect,
  TerminateEffect,
} from "../../domain/intent.ts";
import { deedOf } from "../../domain/intent.ts";
import type { ArrayTemplates, InTime, RequestedSet, CycleCloud } from "../ports/cyclecloud.ts";
import type { Evidence } from "../../decide/intents/evidence.ts";
import type { Run } from "./run.ts";
import type { RequestedNode } from "../../domain/cluster.ts";
import type { MeasuredCall } from "../../decide/pace/calls.ts";
import type { Endpoint } from "../../domain/record.ts";
import type { Site } from "../ports/ports.ts";
import type { App } from "../process/lanes.ts";
import {
  certainBefore,
  isWorthResending,
  maySendNow,
  certainAfterSend,
} from "../../decide/intents/send-times.ts";
import { maySteer } from "../../domain/mode.ts";
import { nameStemOf } from "../../decide/intents/create-requests.ts";
import { nodeNameOf } from "../../decide/intents/named-requests.ts";
import { isSilence, withCredentials } from "./credentials.ts";
import { PortError } from "../ports/port-error.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import { secondsBetween } from "../../domain/units.ts";

/** The result of one intent. */
export interface Finding {
  readonly id: RequestId;
  readonly evidence: Evidence;
}

/** Stops are sent in parallel, because each must leave soon after its commit. */
const STOPS_AT_ONCE = 4;

/**
 * Sends committed intents of this run, creates last and at most as many at a time as the server may have. An intent that was not sent in
 * time (see send-times.ts, and this run's deadline) is reported as not sent: only its owner can know that. `templates` come from this run's
 * observation. Undefined if no intent is a create.
 */
export async function applyIntents(
  run: Run,
  intents: readonly Intent[],
  templates?: ArrayTemplates,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const apply = async (intent: Intent): Promise<void> => {
    const evidence = (await send(run, intent, templates)) ?? { kind: "not-sent" };
    logEffect(run, intent, evidence);
    findings.push({ id: intent.id, evidence });
  };
  const applyAll = async (kind: Effect["kind"], atOnce: number): Promise<void> => {
    const left = intents.filter(({ effect }) => effect.kind === kind);
    const applyNext = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await apply(next);
    };
    await Promise.all(Array.from({ length: atOnce }, applyNext));
  };
  await applyAll("terminate", STOPS_AT_ONCE);
  await applyAll("start", 1);
  await applyAll("create", run.policy.parallelCreates);
  return findings;
}

function logEffect({ app, site }: Run, { id, effect }: Intent, evidence: Evidence): void {
  const { cluster } = site;
  app.ports.log("intent", {
    cluster,
    id,
    effect: deedOf(effect),
    count: countOf(effect),
    outcome: evidence.kind,
  });
}

function countOf(effect: Effect): number {
  return effect.kind === "create"
    ? effect.sets.reduce((sum, { count }) => sum + count, 0)
    : effect.nodes.length;
}

/** Asks for the outcome of creates and starts whose owner is gone. */
export async function askIntents(run: Run, intents: readonly Intent[]): Promise<readonly Finding[]> {
  const ask = async (intent: Intent): Promise<Finding> => {
    const held = { by: intent.owner, certainFrom: certainBefore(intent, run.policy) };
    return { id: intent.id, evidence: await askFor(run, intent.id, { afterSend: "none", held }) };
  };
  return Promise.all(intents.map(ask));
}

/**
 * Sends creates again, with the same id, that CycleCloud does not know or cannot answer for, unless one of their arrays is only observed by
 * now. Other findings stay. Starts are not sent again but decided again. The former owner stored nothing of the template, so a create carries the sender's own observation. It may differ from
 * what the owner sent: of two requests with one id CycleCloud takes the first and answers 409 to the other, whatever their contents.
 */
export async function resendIntents(
  run: Run,
  intents: readonly Intent[],
  asked: readonly Finding[],
  templates: ArrayTemplates,
): Promise<readonly Finding[]> {
  const { clock, policyOf } = run.app.ports;
  const found = new Map(asked.map(({ id, evidence }) => [id, evidence]));
  for (const intent of intents) {
    const evidence = found.get(intent.id)?.kind;
    if (
      intent.effect.kind !== "create" ||
      (evidence !== "absent" && evidence !== "unclear") ||
      !isWorthResending(intent, clock.now(), run.policy)
    )
      continue;
    const policy = await policyOf(run.site.cluster, "now");
    if (!intent.effect.sets.every(({ bucket }) => maySteer(policy, bucket.array))) continue;
    const sent = await send(run, intent, templates);
    if (sent !== undefined) found.set(intent.id, sent);
  }
  return [...found].map(([id, evidence]) => ({ id, evidence }));
}

/** Undefined if it was too late and nothing was sent: another instance goes on. Only its owner sends a stop. */
function send(
  run: Run,
  intent: Intent,
  templates: ArrayTemplates | undefined,
): Promise<Evidence | undefined> {
  switch (intent.effect.kind) {
    case "create":
      return sendCreate(run, intent, intent.effect, templates);
    case "start":
      return sendStart(run, intent, intent.effect);
    case "terminate":
      return sendTerminate(run, intent, intent.effect);
  }
}

/**
 * Checks the clock last, after every wait, and has it checked again in the turn in which the request is written. A process that was suspended
 * for a minute must not send what others have since decided again.
 */
async function inTime<T>(
  run: Run,
  intent: Intent,
  call: (isInTime: InTime) => Promise<T>,
): Promise<T | undefined> {
  const isInTime = (): boolean => {
    const now = run.app.ports.clock.now();
    return maySendNow(intent, now, run.policy) && now < run.deadline;
  };
  return withCredentials(run.app, run.site, async () => (isInTime() ? call(isInTime) : undefined));
}

async function sendCreate(
  run: Run,
  intent: Intent,
  effect: CreateEffect,
  templates: ArrayTemplates | undefined,
): Promise<Evidence | undefined> {
  const { site } = run;
  // Without the template's part a node could lose settings, so nothing is sent.
  if (templates === undefined) return undefined;
  try {
    const request = { requestId: intent.id, sets: effect.sets.map(requestedSet), templates };
    const outcome = await inTime(run, intent, (isInTime) =>
      site.cyclecloud.create(site.cluster, request, isInTime),
    );
    if (outcome?.kind === "accepted") return withStopKey(run, outcome);
    if (outcome?.kind !== "conflict") return outcome;
    // A 409 means a repeated id or invalid input. Only a question for the id shows which (cyclecloud-wire.md A.6).
    const { message } = outcome;
    return foundAfterSend(run, intent, await askAfterSend(run, intent, "conflict", message));
  } catch (error) {
    const evidence = await afterError(error, () => askAfterSend(run, intent, "no-answer"));
    return foundAfterSend(run, intent, evidence);
  }
}

/** If others sent the same create too, it is unknown whose request took effect, and they may sign with another key. */
function foundAfterSend(run: Run, { sent }: Intent, evidence: Evidence): Evidence {
  return evidence.kind === "found" && sent === "never" ? withStopKey(run, evidence) : evidence;
}

/** Adds the key of the stop URL that this process sends with creates, if it sends one. */
function withStopKey<E extends Evidence>({ site }: Run, evidence: E): E {
  const keyId = site.stopKeys?.signing;
  return keyId === undefined ? evidence : { ...evidence, keyId };
}

/** Nodes of a dynamic node array have its name, so that users see their purpose. Only the ledger knows their owner. */
function requestedSet(set: CreateSet): RequestedSet {
  const { bucket, count, attributes } = set;
  const stem = nameStemOf(set);
  const nameFormat = nodeNameOf(set) ?? (stem === undefined ? undefined : `${stem}-%d`);
  return {
    bucket,
    count,
    ...withoutAbsent({ nameFormat, attributes }),
  };
}

async function sendStart(run: Run, intent: Intent, effect: StartEffect): Promise<Evidence | undefined> {
  const { site } = run;
  try {
    const outcome = await inTime(run, intent, (isInTime) =>
      site.cyclecloud.start(site.cluster, intent.id, effect.nodes, isInTime),
    );
    if (outcome === undefined) return undefined;
    if (outcome.kind === "accepted") return { kind: "started", nodes: outcome.nodes };
    if (outcome.kind === "refused") return outcome;
    return await askAfterSend(run, intent, "conflict", outcome.message ?? "no words given");
  } catch (error) {
    return afterError(error, () => askAfterSend(run, intent, "no-answer"));
  }
}

async function sendTerminate(
  run: Run,
  intent: Intent,
  effect: TerminateEffect,
): Promise<Evidence | undefined> {
  const { app, site } = run;
  const { calls } = app.lanes.memoryOf(site.cluster);
  const began = app.ports.clock.now();
  try {
    const outcome = await inTime(run, intent, (isInTime) =>
      site.cyclecloud[effect.act ?? "terminate"](site.cluster, intent.id, effect.nodes, isInTime),
    );
    if (outcome === undefined) return { kind: "not-sent" };
    calls.noteAnswer("terminate", began);
    if (outcome.kind === "accepted") return { kind: "terminated", nodes: outcome.nodes };
    return { kind: "refused", message: outcome.message ?? "CycleCloud answered 409" };
  } catch (error) {
    if (error instanceof PortError && isSilence(error))
      calls.noteSilent("terminate", { began, ended: app.ports.clock.now() });
    return afterError(error, () => askStop(run, intent.id));
  }
}

/** The evidence of a call that failed. `otherwise` asks CycleCloud if the call may have had an effect. */
async function afterError(error: unknown, otherwise: () => Promise<Evidence>): Promise<Evidence> {
  if (!(error instanceof PortError)) throw error;
  if (error.notSent) return { kind: "not-sent" };
  // 403 is an answer about this request (a role is missing since 8.7.3), 401 one about all of them (cyclecloud-wire.md B).
  if (error.kind === "denied")
    return error.status === 403 ? { kind: "refused", message: error.message } : { kind: "not-sent" };
  return otherwise();
}

/** CycleCloud's state of a stop whose answer is missing. Operations are documented for creates only (cyclecloud-wire.md A.9). */
async function askStop(run: Run, id: RequestId): Promise<Evidence> {
  const { app, site } = run;
  const { cluster, cyclecloud } = site;
  try {
    if (await withCredentials(app, site, () => cyclecloud.knowsRequest(cluster, id)))
      return { kind: "found" };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
  }
  try {
    const nodes = (await withCredentials(app, site, () => cyclecloud.nodesOfRequest(cluster, id))) ?? [];
    const named = new Set(nodes.map(({ nodeId }) => nodeId));
    return named.size === 0 ? { kind: "unclear" } : { kind: "named", nodes: named };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { kind: "unclear" };
  }
}

/** The outcome of an intent that we have just sent, and others maybe before. */
function askAfterSend(
  run: Run,
  intent: Intent,
  afterSend: "conflict" | "no-answer",
  message?: string,
): Promise<Evidence> {
  const own = certainAfterSend(
    intent,
    { answered: afterSend === "conflict" },
    run.app.ports.clock.now(),
    run.policy,
  );
  const before = intent.sent === "never" ? own : certainBefore(intent, run.policy);
  const held = { by: intent.owner, certainFrom: before > own ? before : own };
  return askFor(run, intent.id, { afterSend, held, ...withoutAbsent({ message }) });
}

type AfterSend = Pick<Extract<Evidence, { kind: "absent" }>, "afterSend" | "held" | "message">;

/** The state of a create or a start. "unclear" if CycleCloud does not answer. `sent`: what is known of the last send. */
async function askFor(run: Run, id: RequestId, sent: AfterSend): Promise<Evidence> {
  const askedAt = run.app.ports.clock.now();
  try {
    return (await knowsRequest(run, id)) ? { kind: "found" } : { kind: "absent", askedAt, ...sent };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { kind: "unclear", held: sent.held };
  }
}

/**
 * Whether CycleCloud knows the id of a create or a start (docs/protocol.md, Creates). Asks for the operation and for the nodes of the
 * request at once, because either may be slow or fail permanently. A "yes" does not wait for the other answer. If the operation cannot be
 * asked for, "no such request" from the other is accepted, but an empty list proves nothing. Throws PortError if neither gives an answer.
 */
export async function knowsRequest({ app, site }: Run, id: RequestId): Promise<boolean> {
  const { cluster, cyclecloud } = site;
  const operation = withCredentials(app, site, () => cyclecloud.knowsRequest(cluster, id));
  const nodes = withCredentials(app, site, () => cyclecloud.nodesOfRequest(cluster, id));
  const yes = Promise.any([operation.then(onlyYes), nodes.then((list) => onlyYes(hasNodes(list)))]);
  const ended = await Promise.any([yes, Promise.allSettled([operation, nodes])]);
  if (ended === true) return true;
  const [byOperation, byNodes] = ended;
  const list = byNodes.status === "fulfilled" ? byNodes.value : [];
  if (hasNodes(list)) return true;
  if (byOperation.status === "fulfilled") return byOperation.value;
  if (list === undefined) return false;
  throw byOperation.reason;
}

function hasNodes(list: readonly RequestedNode[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}

/** Rejects on "no", which decides nothing before the other answer. */
function onlyYes(isKnown: boolean): true | Promise<never> {
  return isKnown ? true : Promise.reject(new Error("not known"));
}

/** The same site with a timer around each call. */
export function measureCalls(app: App, site: Site): Site {
  const { cyclecloud } = site;
  const meter = app.lanes.memoryOf(site.cluster).calls;
  const measured = async <T>(endpoint: Endpoint, call: () => Promise<T>): Promise<T> => {
    const { clock } = app.ports;
    // On an accelerated clock this machine's own work must not count as CycleCloud's: one real second of each call is subtracted.
    const own = Math.max(0, (clock.speed ?? 1) - 1);
    const began = clock.now();
    const note = (failure: Pick<MeasuredCall, "failure" | "unanswered">): void => {
      const at = clock.now();
      meter.note({ endpoint, seconds: Math.max(0, secondsBetween(began, at) - own), at, ...failure });
    };
    try {
      const result = await call();
      note({});
      return result;
    } catch (error) {
      if (error instanceof PortError) {
        const isUnanswered = error.kind === "unreachable" && !error.notSent;
        note({ failure: error.message, ...(isUnanswered ? { unanswered: true } : {}) });
      }
      throw error;
    }
  };
  const timed: CycleCloud = {
    status: (...args) => measured("status", () => cyclecloud.status(...args)),
    nodesOfRequest: (...args) => measured("nodes", () => cyclecloud.nodesOfRequest(...args)),
    knowsRequest: (...args) => measured("operations", () => cyclecloud.knowsRequest(...args)),
    create: (...args) => measured("create", () => cyclecloud.create(...args)),
    start: (...args) => measured("start", () => cyclecloud.start(...args)),
    terminate: (...args) => measured("terminate", () => cyclecloud.terminate(...args)),
    // A stop, too: what is known of the one holds for the other.
    deallocate: (...args) => measured("terminate", () => cyclecloud.deallocate(...args)),
  };
  return { ...site, cyclecloud: timed };
}
