import type { Fleet, NodeOrder } from "./fleet.ts";
import type { JsonObject } from "./json.ts";
import { canonicalText, isObject, mergeDeep, readAttribute } from "./json.ts";
import type { Room } from "./limits.ts";
import { roomsOf, tightest } from "./limits.ts";
import { numbersNodes } from "./names.ts";
import type { SimulatedNode } from "./node.ts";
import type { Quirks } from "./options.ts";
import type { Bucket, Cluster, NodeArray, World } from "./world.ts";
import { findBucket } from "./world.ts";

/** One set of a create request, checked. */
export type CreateSet = {
  readonly count: number;
  readonly array: NodeArray;
  /** Undefined: the first bucket that fits. */
  readonly bucket: Bucket | undefined;
  readonly group: string | undefined;
  readonly nameFormat: string;
  readonly nameOffset: number;
  readonly attributes: JsonObject;
};

export type CreateRequest = { readonly requestId: string | undefined; readonly sets: readonly CreateSet[] };

/** Why CycleCloud would answer 409, in its own kind of words. */
export type Invalid = { readonly kind: "invalid"; readonly message: string };
export type CheckedCreate = { readonly kind: "valid"; readonly request: CreateRequest } | Invalid;

export type SetResult = { readonly added: number; readonly message?: string };

/** Valid names of a scale set. The reference gives no rule, so only clearly unusable names are refused. */
const groupName = /^[A-Za-z0-9_.:-]{1,80}$/;

/**
 * Checks a create request as a whole before anything takes effect: unknown array or machine type, a count that is no
 * whole number of at least 1, no sets, an unusable placement group, an invalid bucket, a name in use, a cluster that
 * is not started (cyclecloud-wire.md A.2, A.6).
 */
export function checkCreate(body: unknown, cluster: Cluster, fleet: Fleet): CheckedCreate {
  if (!isObject(body)) return invalid("The request must be a JSON object");
  const { requestId, sets } = body;
  if (requestId !== undefined && (typeof requestId !== "string" || requestId === "")) {
    return invalid("requestId must be a string");
  }
  if (!Array.isArray(sets) || sets.length === 0) return invalid("At least one set is required");
  if (cluster.state !== "Started" || cluster.targetState !== "Started") {
    return invalid(`Cluster ${cluster.name} is not started`);
  }
  const checked: CreateSet[] = [];
  const exactNames = new Set<string>();
  for (const set of sets) {
    const outcome = checkSet(set, cluster);
    if ("kind" in outcome) return outcome;
    if (!numbersNodes(outcome.nameFormat)) {
      const name = outcome.nameFormat;
      if (outcome.count !== 1)
        return invalid(`Name ${name} has no %d, so only one node can be created with it`);
      if (exactNames.has(name) || fleet.namesOf(cluster).has(name))
        return invalid(`A node named ${name} already exists`);
      exactNames.add(name);
    }
    checked.push(outcome);
  }
  return { kind: "valid", request: { requestId, sets: checked } };
}

function checkSet(set: unknown, cluster: Cluster): CreateSet | Invalid {
  if (!isObject(set)) return invalid("Each set must be a JSON object");
  const { count, nodearray, definition, placementGroupId, nameFormat, nameOffset, nodeAttributes } = set;
  if (typeof count !== "number" || !Number.isInteger(count) || count < 1) {
    return invalid(`count must be a whole number of at least 1, not ${JSON.stringify(count)}`);
  }
  const array = cluster.arrays.find((candidate) => candidate.name === nodearray);
  if (array === undefined) return invalid(`Nodearray ${JSON.stringify(nodearray)} does not exist`);
  const bucket = checkBucket(definition, array);
  if (bucket !== undefined && "kind" in bucket) return bucket;
  const group = checkGroup(placementGroupId, array);
  if (typeof group === "object") return group;
  if (nameFormat !== undefined && (typeof nameFormat !== "string" || nameFormat === "")) {
    return invalid("nameFormat must be a string");
  }
  if (
    nameOffset !== undefined &&
    (typeof nameOffset !== "number" || !Number.isInteger(nameOffset) || nameOffset < 0)
  ) {
    return invalid("nameOffset must be a whole number");
  }
  if (nodeAttributes !== undefined && !isObject(nodeAttributes)) {
    return invalid("nodeAttributes must be a JSON object");
  }
  return {
    count,
    array,
    bucket,
    group,
    nameFormat: nameFormat ?? `${array.name}-%d`,
    nameOffset: nameFormat === undefined ? 1 : (nameOffset ?? 1),
    attributes: nodeAttributes ?? {},
  };
}

function checkBucket(definition: unknown, array: NodeArray): Bucket | Invalid | undefined {
  if (definition !== undefined && !isObject(definition)) return invalid("definition must be a JSON object");
  const machineType = definition?.["machineType"];
  if (machineType === undefined) {
    const usable = array.buckets.some((bucket) => bucket.invalidReason === undefined);
    return usable ? undefined : invalid(`Nodearray ${array.name} has no valid bucket`);
  }
  const bucket = typeof machineType === "string" ? findBucket(array, machineType) : undefined;
  if (bucket === undefined) {
    const text = typeof machineType === "string" ? machineType : JSON.stringify(machineType);
    return invalid(`MachineType ${text} is not recognized`);
  }
  if (bucket.invalidReason === undefined) return bucket;
  return invalid(`MachineType ${bucket.machine.name} cannot be used: ${bucket.invalidReason}`);
}

/** An array with its own placement group has exactly that one (cyclecloud-wire.md A.3, semantics 11). */
function checkGroup(asked: unknown, array: NodeArray): string | undefined | Invalid {
  const own = array.placementGroupId;
  if (asked === undefined) return own;
  if (typeof asked !== "string" || !groupName.test(asked)) {
    return invalid(`placementGroupId ${JSON.stringify(asked)} is not valid`);
  }
  if (array.maxPlacementGroupSize === 0)
    return invalid(`Nodearray ${array.name} does not support placement groups`);
  if (own !== undefined && own !== asked)
    return invalid(`Nodearray ${array.name} has the placement group ${own}`);
  return asked;
}

function invalid(message: string): Invalid {
  return { kind: "invalid", message };
}

/**
 * Creates what the limits and Azure's capacity allow of one set: fewer than asked, or none, is an ordinary answer
 * with a message (cyclecloud-wire.md A.6).
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
    tightest(roomsOf(bucket, spot, set.group, world.quotas, fleet.real));
  const bucket = set.bucket ?? chooseBucket(set, roomIn);
  const room = roomIn(bucket);
  const allowed = Math.min(set.count, room.left);
  const added = Math.min(allowed, bucket.capacityLeft ?? allowed);
  if (added < allowed) bucket.lastCapacityFailureAt = now;
  const names = fleet.namesOf(set.array.cluster);
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

function takeName(set: CreateSet, names: ReturnType<Fleet["namesOf"]>): string {
  if (numbersNodes(set.nameFormat)) return names.takeNext(set.nameFormat, set.nameOffset);
  names.takeExact(set.nameFormat);
  return set.nameFormat;
}

function explainShortfall(asked: number, added: number, why: string): { message?: string } {
  if (added === asked) return {};
  if (added === 0) return { message: `No nodes could be added: ${why}` };
  return { message: `Only ${added} of ${asked} nodes could be added: ${why}` };
}

/** Records hold true and false also as text (cyclecloud-wire.md A.1). */
function readFlag(value: unknown): boolean | undefined {
  const text = typeof value === "string" ? value.toLowerCase() : value;
  if (text === true || text === "true") return true;
  return text === false || text === "false" ? false : undefined;
}

/** The attributes with a meaning of their own, and the rest, which is merged into the node as it is. */
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
