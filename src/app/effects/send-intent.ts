import { nameStemOf } from "../../decide/intents/create-requests.ts";
import { maySendNow } from "../../decide/intents/send-times.ts";
import type { CreateEffect, CreateSet, Intent, StartEffect, TerminateEffect } from "../../domain/intent.ts";
import { isSilence, withCredentials } from "./credentials.ts";
import type { ArrayTemplates, InTime, RequestedSet } from "../ports/cyclecloud.ts";
import { PortError } from "../ports/port-error.ts";
import type { Evidence } from "../../decide/intents/evidence.ts";
import type { Run } from "./run.ts";
import { askStop, askAfterSend } from "./ask-outcome.ts";

/** Undefined if it was too late and nothing was sent: another instance goes on. Only its owner sends a stop. */
export function send(
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
  return {
    bucket,
    count,
    ...(stem === undefined ? {} : { nameFormat: `${stem}-%d` }),
    ...(attributes === undefined ? {} : { attributes }),
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
      site.cyclecloud.terminate(site.cluster, intent.id, effect.nodes, isInTime),
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
