import { certainBefore, isWorthResending } from "../../decide/intents/send-times.ts";
import type { RequestId } from "../../domain/ids.ts";
import type { Effect, Intent } from "../../domain/intent.ts";
import type { ArrayTemplates } from "../ports/cyclecloud.ts";
import type { Evidence } from "../../decide/intents/evidence.ts";
import type { Run } from "./run.ts";
import { askFor } from "./ask-outcome.ts";
import { send } from "./send-intent.ts";
import { maySteer } from "../../domain/mode.ts";

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
    effect: effect.kind,
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
