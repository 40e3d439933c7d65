import type { JsonObject } from "./json.ts";
import { isObject } from "./json.ts";
import type { NameBook } from "./names.ts";
import { numbersNodes } from "./names.ts";
import type { Bucket, Cluster, NodeArray } from "./world.ts";
import { findBucket } from "./world.ts";

/** Create requests: what they may ask for. create.ts carries them out. */

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

type CreateRequest = { readonly requestId: string | undefined; readonly sets: readonly CreateSet[] };

/** The request gets 409, with a message in CycleCloud's style. */
export type Invalid = { readonly kind: "invalid"; readonly message: string };
type CheckedCreate = { readonly kind: "valid"; readonly request: CreateRequest } | Invalid;

/** Names that a placement group may have. The reference gives no rule, so only clearly unusable names are refused. */
const groupName = /^[A-Za-z0-9_.:-]{1,80}$/;

/**
 * Checks a create request as a whole before anything takes effect (cyclecloud-wire.md A.2, A.6). Invalid are: a cluster that is not
 * started, no sets, an unknown array or machine type, a bucket that is not valid, a count that is not a whole number of at least 1, an
 * unusable placement group, and a name in use.
 */
export function checkCreate(body: unknown, cluster: Cluster, names: NameBook): CheckedCreate {
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
      if (exactNames.has(name) || names.has(name)) return invalid(`A node named ${name} already exists`);
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
