import type { Instant } from "../../domain/units.ts";
import type { CreateSet, Effect, Intent, StartEffect } from "../../domain/intent.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { CallBounds } from "../../domain/policy.ts";
import type { NodeId, Owner } from "../../domain/ids.ts";
import { requestIdOf } from "../../domain/digest.ts";
import { sendTimes, stopTimes } from "./send-times.ts";
import { requestsOf } from "./create-requests.ts";

/** The changes that a plan commits. */
export interface Changes {
  readonly creates?: readonly CreateSet[];
  readonly starts?: readonly StartEffect[];
  readonly terminates?: readonly NodeId[];
  /** The stops must be sent before this moment. Absent: they have the longest time that a stop may have. */
  readonly stopsBy?: Instant;
}

/** Maximum number of nodes in one stop request. CycleCloud documents no maximum. */
const STOPPED_TOGETHER = 500;

/** Makes intents of the changes. They are committed before they are sent (architecture.md, Intents). Starts come first, because they are quick. */
export function commitEffects(
  record: ClusterRecord,
  { creates = [], starts = [], terminates = [], stopsBy }: Changes,
  now: Instant,
  owner: Owner,
  bounds: CallBounds,
): ClusterRecord {
  const requests = requestsOf(creates, record.alone ?? []);
  const effects: Effect[] = [...starts, ...requests.map((sets) => ({ kind: "create", sets }) as const)];
  for (let from = 0; from < terminates.length; from += STOPPED_TOGETHER)
    effects.push({ kind: "terminate", nodes: terminates.slice(from, from + STOPPED_TOGETHER) });
  const intents = effects.map((effect, ordinal): Intent => ({
    id: requestIdOf(record.cluster, record.epoch, now, record.plan, ordinal),
    owner,
    ...(effect.kind === "terminate" ? stopTimes(now, stopsBy, bounds) : sendTimes(now, bounds)),
    effect,
    sent: "never",
  }));
  if (intents.length === 0) return record;
  const started = starts.reduce((sum, effect) => sum + effect.nodes.length, record.totals.started ?? 0);
  const totals = {
    ...(started === 0 ? {} : { started }),
    created: record.totals.created + creates.reduce((sum, effect) => sum + effect.count, 0),
    terminated: record.totals.terminated + terminates.length,
  };
  return { ...record, intents: [...record.intents, ...intents], totals };
}
