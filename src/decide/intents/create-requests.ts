import { dynamicArrayOf } from "../../domain/bucket.ts";
import { nodeNameStem } from "../../domain/dynamic-array.ts";
import type { ClusterName, Epoch, NodeId, Owner, RequestId } from "../../domain/ids.ts";
import { requestId, sameMachineType } from "../../domain/ids.ts";
import type { CreateKind, CreateSet, Effect, Intent, StartEffect } from "../../domain/intent.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import type { CallBounds } from "../../domain/policy.ts";
import { createHash } from "node:crypto";
import { namedRequests, nodeNameOf, withoutNarrowed } from "./named-requests.ts";
import { sendTimes, stopTimes } from "./send-times.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** Which sets share a create request, and the requests that a plan commits (docs/protocol.md, Creates). */

/** What a set of new nodes is for, and where they are. */
export type Creation = Pick<CreateSet, "bucket" | "purpose">;

/**
 * Divides sets into create requests, in their order. One request takes them all, with three exceptions (docs/decisions.md, "One create
 * request has all sets of a plan"). Named nodes have requests of their own. Some sets must be sent alone. And sets with equal array, size, group and name must be in different
 * requests, because the list of a request's nodes could not distinguish their nodes.
 */
function requestsOf(
  all: readonly CreateSet[],
  { alone = [], narrowed }: Pick<ClusterRecord, "alone" | "narrowed">,
): readonly (readonly CreateSet[])[] {
  const named = all.filter((set) => nodeNameOf(set) !== undefined);
  const sets = named.length === 0 ? all : all.filter((set) => nodeNameOf(set) === undefined);
  const shared: { readonly keys: Set<string>; readonly sets: CreateSet[] }[] = [];
  const single: CreateSet[][] = [];
  for (const set of sets) {
    if (alone.some((kind) => isSameKind(kind, kindOf(set)))) {
      single.push([set]);
      continue;
    }
    const key = keyOf(set);
    const request = shared.find(({ keys }) => !keys.has(key));
    if (request === undefined) shared.push({ keys: new Set([key]), sets: [set] });
    else {
      request.keys.add(key);
      request.sets.push(set);
    }
  }
  // Names first, because CycleCloud could give one of them to a numbered node.
  return [...namedRequests(named, narrowed), ...shared.map((request) => request.sets), ...single];
}

function keyOf(set: Creation): string {
  const { array, machineType, placementGroup } = set.bucket;
  return JSON.stringify([array, machineType.toLowerCase(), placementGroup, nameStemOf(set)]);
}

/** The name of a set's nodes without their number. Undefined if CycleCloud names them after their array. */
export function nameStemOf({ purpose, bucket }: Creation): string | undefined {
  const dynamic = dynamicArrayOf(purpose);
  return dynamic === undefined ? undefined : nodeNameStem(dynamic, bucket.array);
}

// ---------------------------------------------------------------- sets that are sent alone

function kindOf({ bucket, purpose }: Creation): CreateKind {
  const dynamic = dynamicArrayOf(purpose);
  const { array, machineType } = bucket;
  return { array, machineType, ...withoutAbsent({ dynamic }) };
}

function isSameKind(a: CreateKind, b: CreateKind): boolean {
  return a.array === b.array && a.dynamic === b.dynamic && sameMachineType(a.machineType, b.machineType);
}

/** Notes sets of a refused request. Each may be the cause, so each is sent alone until CycleCloud has accepted it once. */
export function sendAlone(record: ClusterRecord, sets: readonly CreateSet[]): ClusterRecord {
  const alone = [...(record.alone ?? [])];
  for (const kind of sets.map(kindOf)) if (!alone.some((other) => isSameKind(other, kind))) alone.push(kind);
  return { ...record, alone };
}

/** Notes sets of an accepted request. They need not be sent alone any more. */
export function sendTogether(before: ClusterRecord, sets: readonly CreateSet[]): ClusterRecord {
  const record = withoutNarrowed(before, new Set(sets.flatMap((set) => nodeNameOf(set) ?? [])));
  if (record.alone === undefined) return record;
  const { alone, ...rest } = record;
  const left = alone.filter((kind) => !sets.some((set) => isSameKind(kind, kindOf(set))));
  return left.length === 0 ? rest : { ...rest, alone: left };
}

/** The changes that a plan commits. */
interface Changes {
  readonly creates?: readonly CreateSet[];
  readonly starts?: readonly StartEffect[];
  readonly terminates?: readonly NodeId[];
  /** Those of `terminates` that are deallocated. Absent: none. */
  readonly deallocates?: ReadonlySet<NodeId>;
  /** The stops must be sent before this moment. Absent: they have the longest time that a stop may have. */
  readonly stopsBy?: Instant;
}

/** Maximum number of nodes in one stop request. CycleCloud documents no maximum. */
const STOPPED_TOGETHER = 500;

/** Makes intents of the changes. They are committed before they are sent (architecture.md, Intents). Starts come first, because they are quick. */
export function commitEffects(
  record: ClusterRecord,
  { creates = [], starts = [], terminates = [], deallocates, stopsBy }: Changes,
  now: Instant,
  owner: Owner,
  bounds: CallBounds,
): ClusterRecord {
  const requests = requestsOf(creates, record);
  const effects: Effect[] = [...starts, ...requests.map((sets) => ({ kind: "create", sets }) as const)];
  effects.push(...stopEffects(terminates, deallocates));
  const intents = effects.map((effect, ordinal): Intent => ({
    id: requestIdOf(record.cluster, record.epoch, now, record.plan, ordinal),
    owner,
    ...(effect.kind === "create" ? { plan: record.plan } : {}),
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

/** One effect for each act, and for each {@link STOPPED_TOGETHER} nodes. */
function stopEffects(nodes: readonly NodeId[], kept: ReadonlySet<NodeId> = new Set()): readonly Effect[] {
  const effects: Effect[] = [];
  for (const act of [undefined, "deallocate"] as const) {
    const ids = nodes.filter((id) => kept.has(id) === (act !== undefined));
    for (let from = 0; from < ids.length; from += STOPPED_TOGETHER)
      effects.push({
        kind: "terminate",
        nodes: ids.slice(from, from + STOPPED_TOGETHER),
        ...withoutAbsent({ act }),
      });
  }
  return effects;
}

/** The request id of one effect (architecture.md, Intents). The same commit gives the same id, and no other commit does. */
function requestIdOf(
  cluster: ClusterName,
  epoch: Epoch,
  committedAt: Instant,
  plan: number,
  ordinal: number,
): RequestId {
  const hex = createHash("sha256")
    .update(JSON.stringify([cluster, epoch, committedAt, plan, ordinal]))
    .digest("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)];
  return requestId(parts.join("-"));
}

/** Sets of creates that are committed and not settled. Their nodes may come, so they count. */
export function pendingCreates(intents: readonly Intent[]): readonly CreateSet[] {
  return intents.flatMap((intent) => (intent.effect.kind === "create" ? intent.effect.sets : []));
}
