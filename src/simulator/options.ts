import type { Seconds } from "../domain/units.ts";

/** The parts and the behaviour of a simulated CycleCloud. Everything has a default except the clusters and their machine types. */

/** One VM size. `memory` is in GiB, `pricePerHour` in any one currency. */
export type MachineTypeOptions = {
  readonly vcpuCount: number;
  readonly pcpuCount?: number;
  readonly gpuCount?: number;
  readonly memory: number;
  readonly infiniband?: boolean;
  /** The quota that one VM uses. Absent: `vcpuCount` (cyclecloud-wire.md A.3, semantics 6). */
  readonly vcpuQuotaCount?: number;
  readonly family: string;
  readonly pricePerHour?: number;
};

export type ShutdownPolicy = "Terminate" | "Deallocate";
export type InvalidReason = "NotActivated" | "DisabledMachineType";

/** How long a node takes in each phase, in seconds. `jitter` 0.2 spreads each duration evenly over 80 % to 120 %. */
export type Timings = {
  readonly secondsToAllocate: number;
  readonly secondsToAcquire: number;
  readonly secondsToPrepare: number;
  readonly secondsToTerminate: number;
  readonly jitter: number;
};

export type NodeArrayOptions = {
  readonly name: string;
  readonly maxCount?: number;
  readonly maxCoreCount?: number;
  readonly region: string;
  readonly subnetId?: string;
  readonly spot?: boolean;
  /** An array with its own group has exactly that group. */
  readonly placementGroupId?: string;
  readonly priority?: number;
  /** 0: it knows no placement groups, as on other providers. */
  readonly maxPlacementGroupSize?: number;
  /** After a capacity failure nothing is available in the bucket for this long. Absent: not throttled. */
  readonly throttleCapacitySeconds?: Seconds;
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** The result of shutting a node down. Default Terminate. */
  readonly shutdownPolicy?: ShutdownPolicy;
  /** In order of preference: one bucket each. */
  readonly machineTypes: readonly string[];
  /** Machine types whose bucket has `valid: false`, with the reason. */
  readonly invalid?: Readonly<Record<string, InvalidReason>>;
  /** How many VMs of a machine type Azure really has (a pool: a VM that is gone gives its place back). Absent = enough. */
  readonly capacity?: Readonly<Record<string, number>>;
  readonly timings?: Partial<Timings>;
};

/** A node of its own, outside all arrays, Ready from the beginning. */
export type HeadNodeOptions = {
  readonly name: string;
  readonly machineType: string;
  readonly region: string;
  readonly keepAlive?: boolean;
};

export type ClusterOptions = {
  readonly name: string;
  /** `null`: never started, so the status leaves `state` and `targetState` out. */
  readonly state?: string | null;
  readonly targetState?: string | null;
  readonly maxCount?: number;
  readonly maxCoreCount?: number;
  readonly arrays: readonly NodeArrayOptions[];
  readonly headNodes?: readonly HeadNodeOptions[];
};

/** Cores per region, per region for spot, and per VM family in each region. */
export type QuotaOptions = {
  readonly regional?: Readonly<Record<string, number>>;
  readonly spot?: Readonly<Record<string, number>>;
  readonly family?: Readonly<Record<string, number>>;
  /** Cores that the rest of the subscription uses. */
  readonly usedByOthers?: Omit<QuotaOptions, "usedByOthers">;
};

export type ErrorBody = "object" | "empty" | "html";

/** Behaviour that cyclecloud-wire.md marks unknown, or that differs between versions and installations. */
export type Quirks = {
  /** How long after its acceptance an operation can be looked up (A.9 states nothing). */
  readonly operationsLagSeconds: Seconds;
  /** Whether `operations/?request_id=` finds creates only, as it is documented for (A.9); `nodes?request_id=` finds all. */
  readonly operationsKnowCreatesOnly: boolean;
  /** Body of a 409, on which sources differ (cyclecloud-wire.md H). */
  readonly conflictBody: ErrorBody;
  /** Body of every other error but 401. */
  readonly errorBody: ErrorBody;
  /** Whether a status lists head nodes among its nodes (A.3; `nodes` always does). */
  readonly headNodesInStatus: boolean;
  /** Whether the nodes of an operation show only when they do in a status (A.4, A.6). */
  readonly operationNodesLag: boolean;
  /** How terminate answers for a node with KeepAlive (A.7: unknown). */
  readonly keepAliveTerminate: "error" | "silently-omitted";
  /** Whether node records carry `RequestId` (A.4: seen in test doubles of old clients only). */
  readonly requestIdInStatus: boolean;
  /** How long a "Terminated" record stays listed (A.4). */
  readonly retainedTerminatedSeconds: Seconds;
  /** Answer of `nodes?request_id=` for an unknown id (A.4: 404 per a comment). */
  readonly unknownRequestNodes: 404 | "empty";
  /** Answer of `operations/?request_id=` for an unknown id (A.9: array of 0; A.2: 404). */
  readonly unknownRequestOperations: 404 | "empty";
  /** Whether a create and a terminate may use the same request id (A.6: unknown). */
  readonly managementIdsShareNamespace: boolean;
  /** Adds fields that no client knows at every level (A.1). */
  readonly newFields: boolean;
  /** Case of the keys of records (A.1: vary). */
  readonly keyCase: "pascal" | "lower";
  /** Bucket and node fields that an older server leaves out, by name (A.1). */
  readonly omitBucketFields: readonly string[];
  readonly omitNodeFields: readonly string[];
  /** Whether a deallocated node still uses its quota (A.5); if not, its start needs it again and is refused without. */
  readonly deallocatedHoldsQuota: boolean;
  /** A node whose attributes differ from those of its placement group's nodes stays in Acquiring (A.6). */
  readonly scaleSetAttributesMustMatch: boolean;
  /**
   * How the Configuration of a create request meets the array's (C.2: depth not stated). `deep`: member by member, to any depth.
   * `one-level`: each member of Configuration that the request has replaces the array's whole.
   */
  readonly configurationMerge: "deep" | "one-level";
};

export type SimulatorOptions = {
  readonly clusters: readonly ClusterOptions[];
  readonly machineTypes: Readonly<Record<string, MachineTypeOptions>>;
  readonly quotas?: QuotaOptions;
  readonly timings?: Partial<Timings>;
  /** A new node, or the start of one, shows in status and lists after a time drawn evenly from 0 to this. Default 0. */
  readonly visibilityLagSeconds?: Seconds;
  /** Share of nodes whose software installation fails. Default 0. */
  readonly bootFailureShare?: number;
  /** Share of nodes that stay in Acquiring for ever. Default 0. */
  readonly neverBootShare?: number;
  /** Share of terminations that fail: the VM stays, and must be terminated again. Default 0. */
  readonly terminationFailureShare?: number;
  readonly quirks?: Partial<Quirks>;
  /** Same options, same seed, same requests at the same times: same answers. Default 1. */
  readonly seed?: number;
  /** false: events go to listeners only, for runs of weeks. Default true. */
  readonly keepLog?: boolean;
};

/** A real boot takes about five minutes, of which installation is the larger part. */
export const defaultTimings: Timings = {
  secondsToAllocate: 5,
  secondsToAcquire: 85,
  secondsToPrepare: 210,
  secondsToTerminate: 60,
  jitter: 0,
};

/** The reading of the reference that its text favours, where it favours one. */
export const defaultQuirks: Quirks = {
  operationsLagSeconds: 0,
  operationsKnowCreatesOnly: false,
  conflictBody: "object",
  errorBody: "object",
  headNodesInStatus: false,
  operationNodesLag: false,
  keepAliveTerminate: "error",
  requestIdInStatus: false,
  retainedTerminatedSeconds: 0,
  unknownRequestNodes: 404,
  unknownRequestOperations: "empty",
  managementIdsShareNamespace: true,
  newFields: false,
  keyCase: "pascal",
  omitBucketFields: [],
  omitNodeFields: [],
  deallocatedHoldsQuota: true,
  scaleSetAttributesMustMatch: true,
  configurationMerge: "deep",
};

/** Stands in for "no limit given": the wire has no word for it, the fields are required integers (A.3). */
export const unboundedCount = 1_000_000;
export const defaultMaxPlacementGroupSize = 100;
