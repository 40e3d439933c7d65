import type { CreateSet } from "./check-create.ts";
import type { Fleet, NodeOrder } from "./fleet.ts";
import type { JsonObject } from "./json.ts";
import { canonicalText, isObject, mergeDeep, readAttribute } from "./json.ts";
import type { Room } from "./limits.ts";
import { roomsOf, tightest } from "./limits.ts";
import type { NameBook } from "./names.ts";
import { numbersNodes } from "./names.ts";
import type { SimulatedNode } from "./node.ts";
import type { Quirks } from "./options.ts";
import type { Bucket, World } from "./world.ts";

type SetResult = { readonly added: number; readonly message?: string };

/**
 * Creates as many nodes of one set as the limits and Azure's capacity allow. Fewer than requested, or none, is an ordinary answer with a
 * message (cyclecloud-wire.md A.6).
 */
export function createSet(
  set: CreateSet,
  requestId: string | undefined,
  world: World,
  fleet: Fleet,
  now: number,
): { readonly result: SetResult; readonly nodes: readonly SimulatedNode[] } {
  const { keepAlive, spot, configuration, attributes } = splitAttributes(set, world.quirks);
  const signature = canonicalText({ ...attributes, Configuration: configuration });
  const roomIn = (bucket: Bucket): Room =>
    tightest(roomsOf(bucket, { spot, group: set.group }, world.quotas, fleet.holdings.real));
  const bucket = set.bucket ?? chooseBucket(set, roomIn);
  const room = roomIn(bucket);
  const allowed = Math.min(set.count, room.left);
  const added = Math.min(allowed, bucket.capacityLeft ?? allowed);
  if (added < allowed) bucket.lastCapacityFailureAt = now;
  const names = fleet.roster.namesOf(set.array.cluster);
  const nodes: SimulatedNode[] = [];
  for (let created = 0; created < added; created++) {
    const order: NodeOrder = {
      bucket,
      name: takeName(set, names),
      spot,
      group: set.group,
      requestId,
      keepAlive,
      attributes,
      configuration,
      signature,
    };
    nodes.push(fleet.add(order, now));
  }
  const why = added < allowed ? `no capacity for ${bucket.machine.name} (SkuNotAvailable)` : room.limit;
  return { result: { added, ...explainShortfall(set.count, added, why) }, nodes };
}

/** The first valid bucket with room for the whole set, else the first with any, else the first. */
function chooseBucket(set: CreateSet, roomIn: (bucket: Bucket) => Room): Bucket {
  const valid = set.array.buckets.filter((bucket) => bucket.invalidReason === undefined);
  const chosen =
    valid.find((bucket) => roomIn(bucket).left >= set.count) ??
    valid.find((bucket) => roomIn(bucket).left > 0) ??
    valid[0];
  if (chosen === undefined) throw new Error(`nodearray ${set.array.name} was checked to have a valid bucket`);
  return chosen;
}

function takeName(set: CreateSet, names: NameBook): string {
  if (numbersNodes(set.nameFormat)) return names.takeNext(set.nameFormat, set.nameOffset);
  names.takeExact(set.nameFormat);
  return set.nameFormat;
}

function explainShortfall(asked: number, added: number, why: string): { message?: string } {
  if (added === asked) return {};
  if (added === 0) return { message: `No nodes could be added: ${why}` };
  return { message: `Only ${added} of ${asked} nodes could be added: ${why}` };
}

/** A record may contain true and false as text (cyclecloud-wire.md A.1). Undefined for any other value. */
function readFlag(value: unknown): boolean | undefined {
  const text = typeof value === "string" ? value.toLowerCase() : value;
  if (text === true || text === "true") return true;
  return text === false || text === "false" ? false : undefined;
}

/** The attributes that the simulator interprets, and the rest, which goes into the node's record unchanged. */
function splitAttributes(
  set: CreateSet,
  { configurationMerge }: Quirks,
): {
  keepAlive: boolean;
  spot: boolean;
  configuration: JsonObject;
  attributes: JsonObject;
} {
  const own = new Set(["keepalive", "interruptible", "configuration"]);
  const interruptible = readAttribute(set.attributes, "Interruptible");
  const configuration = readAttribute(set.attributes, "Configuration");
  const merge =
    configurationMerge === "deep"
      ? mergeDeep
      : (under: JsonObject, over: JsonObject) => ({ ...under, ...over });
  return {
    keepAlive: readAttribute(set.attributes, "KeepAlive") === true,
    spot: readFlag(interruptible) ?? set.array.spot,
    configuration: isObject(configuration)
      ? merge(set.array.configuration, configuration)
      : set.array.configuration,
    attributes: Object.fromEntries(
      Object.entries(set.attributes).filter(([key]) => !own.has(key.toLowerCase())),
    ),
  };
}
