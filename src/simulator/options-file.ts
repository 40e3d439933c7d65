import * as z from "zod";
import type { SimulatorOptions } from "./options.ts";

const count = z.int().min(0);
const seconds = z.number().min(0);
const share = z.number().min(0).max(1);
const cores = z.record(z.string(), count);
const text = z.string().min(1);

const timings = z.strictObject({
  secondsToAllocate: seconds.exactOptional(),
  secondsToAcquire: seconds.exactOptional(),
  secondsToPrepare: seconds.exactOptional(),
  secondsToTerminate: seconds.exactOptional(),
  jitter: share.exactOptional(),
});

const machineType = z.strictObject({
  vcpuCount: z.int().min(1),
  pcpuCount: z.int().min(1).exactOptional(),
  gpuCount: count.exactOptional(),
  memory: z.number().positive(),
  infiniband: z.boolean().exactOptional(),
  vcpuQuotaCount: z.int().min(1).exactOptional(),
  family: text,
  pricePerHour: z.number().min(0).exactOptional(),
});

const array = z.strictObject({
  name: text,
  maxCount: count.exactOptional(),
  maxCoreCount: count.exactOptional(),
  region: text,
  subnetId: text.exactOptional(),
  spot: z.boolean().exactOptional(),
  placementGroupId: text.exactOptional(),
  priority: z.number().exactOptional(),
  maxPlacementGroupSize: count.exactOptional(),
  throttleCapacitySeconds: seconds.exactOptional(),
  shutdownPolicy: z.enum(["Terminate", "Deallocate"]).exactOptional(),
  configuration: z.record(z.string(), z.unknown()).exactOptional(),
  machineTypes: z.array(text).min(1),
  invalid: z.record(z.string(), z.enum(["NotActivated", "DisabledMachineType"])).exactOptional(),
  capacity: z.record(z.string(), count).exactOptional(),
  timings: timings.exactOptional(),
});

const cluster = z.strictObject({
  name: text,
  state: text.nullable().exactOptional(),
  targetState: text.nullable().exactOptional(),
  maxCount: count.exactOptional(),
  maxCoreCount: count.exactOptional(),
  arrays: z.array(array),
  headNodes: z
    .array(
      z.strictObject({ name: text, machineType: text, region: text, keepAlive: z.boolean().exactOptional() }),
    )
    .exactOptional(),
});

const quota = { regional: cores.exactOptional(), spot: cores.exactOptional(), family: cores.exactOptional() };
const errorBody = z.enum(["object", "empty", "html"]).exactOptional();

const quirks = z.strictObject({
  operationsLagSeconds: seconds.exactOptional(),
  operationsKnowCreatesOnly: z.boolean().exactOptional(),
  conflictBody: errorBody,
  errorBody,
  headNodesInStatus: z.boolean().exactOptional(),
  operationNodesLag: z.boolean().exactOptional(),
  keepAliveTerminate: z.enum(["error", "silently-omitted"]).exactOptional(),
  requestIdInStatus: z.boolean().exactOptional(),
  retainedTerminatedSeconds: seconds.exactOptional(),
  unknownRequestNodes: z.literal([404, "empty"]).exactOptional(),
  unknownRequestOperations: z.literal([404, "empty"]).exactOptional(),
  managementIdsShareNamespace: z.boolean().exactOptional(),
  newFields: z.boolean().exactOptional(),
  keyCase: z.enum(["pascal", "lower"]).exactOptional(),
  omitBucketFields: z.array(text).exactOptional(),
  omitNodeFields: z.array(text).exactOptional(),
  deallocatedHoldsQuota: z.boolean().exactOptional(),
  scaleSetAttributesMustMatch: z.boolean().exactOptional(),
  configurationMerge: z.enum(["deep", "one-level"]).exactOptional(),
});

const schema = z.strictObject({
  clusters: z.array(cluster).min(1),
  machineTypes: z.record(z.string(), machineType),
  quotas: z.strictObject({ ...quota, usedByOthers: z.strictObject(quota).exactOptional() }).exactOptional(),
  timings: timings.exactOptional(),
  visibilityLagSeconds: seconds.exactOptional(),
  bootFailureShare: share.exactOptional(),
  neverBootShare: share.exactOptional(),
  terminationFailureShare: share.exactOptional(),
  startRefusalShare: share.exactOptional(),
  quirks: quirks.exactOptional(),
  seed: z.int().exactOptional(),
  keepLog: z.boolean().exactOptional(),
});

export type ParsedOptions =
  | { readonly kind: "options"; readonly options: SimulatorOptions }
  | { readonly kind: "invalid"; readonly problems: string };

/** Reads a configuration file: the JSON form of SimulatorOptions. Reports every problem with its path. */
export function parseOptions(json: string): ParsedOptions {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return {
      kind: "invalid",
      problems: `not JSON: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { kind: "options", options: parsed.data };
  return { kind: "invalid", problems: z.prettifyError(parsed.error) };
}
