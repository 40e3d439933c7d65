import type { Evidence } from "../decide/settle.ts";
import { maySend } from "../decide/settle.ts";
import { dynamicArrayOf } from "../domain/bucket.ts";
import { nodeNameStem } from "../domain/dynamic-array.ts";
import type { RequestId } from "../domain/ids.ts";
import type { CreateEffect, Intent, StartEffect, TerminateEffect } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import type { App } from "./commit.ts";
import { withCredentials } from "./credentials.ts";
import type { ArrayTemplates, Site } from "./ports.ts";
import { PortError } from "./ports.ts";

/** What was learnt of one intent. */
export interface Finding {
  readonly id: RequestId;
  readonly evidence: Evidence;
}

/** One run of a use case as far as effects are concerned: it starts none after `deadline`. */
export interface Run {
  readonly app: App;
  readonly site: Site;
  readonly deadline: Instant;
}

/**
 * Sends committed intents of this run, one after the other: before 8.4.1 CycleCloud mishandled concurrent creates (wire A.6). After its
 * lease, or this run's deadline, an intent is not ours to send: nothing is found out about it then, and whoever comes next takes it over.
 * `templates` are of this run's look; absent: none of the intents is a create.
 */
export async function applyIntents(
  run: Run,
  intents: readonly Intent[],
  templates?: ArrayTemplates,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const intent of intents) {
    const evidence = await send(run, intent, templates);
    if (evidence === undefined) break;
    run.app.ports.log("intent", {
      cluster: run.site.cluster,
      id: intent.id,
      effect: intent.effect.kind,
      count: intent.effect.kind === "create" ? intent.effect.count : intent.effect.nodes.length,
      outcome: evidence.kind,
    });
    findings.push({ id: intent.id, evidence });
  }
  return findings;
}

/** Finds out what became of creates and starts whose owner is gone. */
export async function askIntents(run: Run, intents: readonly Intent[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { id } of intents) findings.push({ id, evidence: await ask(run, id, "none") });
  return findings;
}

/**
 * Sends those creates again, with the same id, that CycleCloud does not know; what was found of the others stays. A start is not sent again,
 * but decided again. The owner that is gone kept nothing of the template, so a create carries what the sender's own look says. It may
 * differ from what the owner sent: of two requests with one id CycleCloud takes the first and answers 409 to the other, whatever they say.
 */
export async function resendIntents(
  run: Run,
  intents: readonly Intent[],
  asked: readonly Finding[],
  templates: ArrayTemplates,
): Promise<readonly Finding[]> {
  const found = new Map(asked.map(({ id, evidence }) => [id, evidence]));
  for (const intent of intents) {
    if (
      intent.effect.kind !== "create" ||
      found.get(intent.id)?.kind !== "absent" ||
      !maySend(intent, run.app.ports.clock.now())
    )
      continue;
    const evidence = await send(run, intent, templates);
    if (evidence !== undefined) found.set(intent.id, evidence);
  }
  return [...found].map(([id, evidence]) => ({ id, evidence }));
}

/** undefined: it was too late, and nothing was sent; somebody else goes on with it. A stop is its owner's alone. */
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

/** Looks at the clock last of all, after every wait: a process that stood still for a minute must not send what others have decided anew. */
async function inTime<T>(run: Run, intent: Intent, call: () => Promise<T>): Promise<T | undefined> {
  return withCredentials(run.app, run.site, async () => {
    const now = run.app.ports.clock.now();
    return now < intent.leaseUntil && now < run.deadline ? call() : undefined;
  });
}

async function sendCreate(
  run: Run,
  intent: Intent,
  effect: CreateEffect,
  templates: ArrayTemplates | undefined,
): Promise<Evidence | undefined> {
  const { site } = run;
  // Without the template's part a node could lose it, so nothing is sent.
  if (templates === undefined) return undefined;
  try {
    const outcome = await inTime(run, intent, () =>
      site.cyclecloud.create(site.cluster, {
        requestId: intent.id,
        bucket: effect.bucket,
        count: effect.count,
        ...nameFormatOf(effect),
        ...(effect.attributes === undefined ? {} : { attributes: effect.attributes }),
        templates,
      }),
    );
    if (outcome === undefined) return undefined;
    // A 409 is a repeated id or invalid input: only asking tells (cyclecloud-wire.md A.6).
    return outcome.kind === "conflict" ? await ask(run, intent.id, "conflict", outcome.message) : outcome;
  } catch (error) {
    return afterError(error, () => ask(run, intent.id, "no-answer"));
  }
}

/** Nodes of a dynamic node array are called after it, so that people see what they are for; whose they are only the ledger knows. */
function nameFormatOf({ purpose, bucket }: CreateEffect): { readonly nameFormat?: string } {
  const array = dynamicArrayOf(purpose);
  return array === undefined ? {} : { nameFormat: `${nodeNameStem(array, bucket.array)}-%d` };
}

async function sendStart(run: Run, intent: Intent, effect: StartEffect): Promise<Evidence | undefined> {
  const { site } = run;
  try {
    const outcome = await inTime(run, intent, () =>
      site.cyclecloud.start(site.cluster, intent.id, effect.nodes),
    );
    if (outcome === undefined) return undefined;
    if (outcome.kind === "accepted") return { kind: "started", nodes: outcome.nodes };
    if (outcome.kind === "refused") return outcome;
    return await ask(run, intent.id, "conflict", outcome.message ?? "no words given");
  } catch (error) {
    return afterError(error, () => ask(run, intent.id, "no-answer"));
  }
}

async function sendTerminate(
  run: Run,
  intent: Intent,
  effect: TerminateEffect,
): Promise<Evidence | undefined> {
  const { site } = run;
  try {
    const outcome = await inTime(run, intent, () =>
      site.cyclecloud.terminate(site.cluster, intent.id, effect.nodes),
    );
    if (outcome === undefined) return { kind: "not-sent" };
    if (outcome.kind === "accepted") return { kind: "terminated", nodes: outcome.nodes };
    return { kind: "refused", message: outcome.message ?? "CycleCloud answered 409" };
  } catch (error) {
    return afterError(error, () => askStop(run, intent.id));
  }
}

/** What CycleCloud says of a stop whose answer is missing: operations are documented for creates only (cyclecloud-wire.md A.9). */
async function askStop(run: Run, id: RequestId): Promise<Evidence> {
  const known = await ask(run, id, "no-answer");
  if (known.kind === "found") return known;
  const { app, site } = run;
  try {
    const nodes = await withCredentials(app, site, () => site.cyclecloud.nodesOfRequest(site.cluster, id));
    return nodes.length === 0 ? { kind: "unclear" } : { kind: "named", nodes: new Set(nodes) };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { kind: "unclear" };
  }
}

async function afterError(error: unknown, otherwise: () => Promise<Evidence>): Promise<Evidence> {
  if (!(error instanceof PortError)) throw error;
  // 403 is an answer about this request (a role is missing since 8.7.3), 401 one about all of them (cyclecloud-wire.md B).
  if (error.kind === "denied")
    return error.status === 403 ? { kind: "refused", message: error.message } : { kind: "not-sent" };
  return otherwise();
}

async function ask(
  run: Run,
  id: RequestId,
  afterSend: "conflict" | "no-answer" | "none",
  message?: string,
): Promise<Evidence> {
  const { app, site } = run;
  try {
    const known = await withCredentials(app, site, () => site.cyclecloud.knowsRequest(site.cluster, id));
    if (known) return { kind: "found" };
    return { kind: "absent", afterSend, ...(message === undefined ? {} : { message }) };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { kind: "unclear" };
  }
}
