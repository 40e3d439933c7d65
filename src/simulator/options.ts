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

/** Duration of each phase of a node, in seconds. With `jitter` 0.2, each duration is drawn evenly from 80 % to 120 % of it. */
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
  /** 0: the array has no placement groups, as on other providers. */
  readonly maxPlacementGroupSize?: number;
  /** After a capacity failure nothing is available in the bucket for this many seconds. Absent: no such pause. */
  readonly throttleCapacitySeconds?: Seconds;
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** The result of shutting a node down. Default Terminate. */
  readonly shutdownPolicy?: ShutdownPolicy;
  /** In order of preference: one bucket each. */
  readonly machineTypes: readonly string[];
  /** Machine types whose bucket has `valid: false`, with the reason. */
  readonly invalid?: Readonly<Record<string, InvalidReason>>;
  /** Number of VMs that Azure really has, by machine type. A VM that is gone can be had again. Absent: enough. */
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

/** Behaviour that is unknown according to cyclecloud-wire.md, or that differs between versions and installations. */
export type Quirks = {
  /** An operation can be looked up only this long after its acceptance (A.9: unknown). */
  readonly operationsLagSeconds: Seconds;
  /** Whether `operations/?request_id=` finds only creates, as documented (A.9). `nodes?request_id=` finds all. */
  readonly operationsKnowCreatesOnly: boolean;
  /** Body of a 409. Sources differ (cyclecloud-wire.md H). */
  readonly conflictBody: ErrorBody;
  /** Body of every other error but 401. */
  readonly errorBody: ErrorBody;
  /** Whether a status lists head nodes among its nodes (A.3). `nodes` always does. */
  readonly headNodesInStatus: boolean;
  /** Whether the nodes of an operation are listed only once they show in a status (A.4, A.6). */
  readonly operationNodesLag: boolean;
  /** How terminate answers for a node with KeepAlive (A.7: unknown). */
  readonly keepAliveTerminate: "error" | "silently-omitted";
  /** Whether node records have `RequestId` (A.4: seen only in test doubles of old clients). */
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
  /** Names of bucket and node fields that an older server leaves out (A.1). */
  readonly omitBucketFields: readonly string[];
  readonly omitNodeFields: readonly string[];
  /** Whether a deallocated node still uses its quota (A.5). If not, its start is refused when no quota is left. */
  readonly deallocatedHoldsQuota: boolean;
  /** A node whose attributes differ from those of its placement group's nodes stays in Acquiring (A.6). */
  readonly scaleSetAttributesMustMatch: boolean;
  /**
   * How the Configuration of a create request is merged with the array's (C.2: depth unknown). `deep`: member by member, to any depth.
   * `one-level`: a member in the request replaces the array's whole member.
   */
  readonly configurationMerge: "deep" | "one-level";
};

export type SimulatorOptions = {
  readonly clusters: readonly ClusterOptions[];
  readonly machineTypes: Readonly<Record<string, MachineTypeOptions>>;
  readonly quotas?: QuotaOptions;
  readonly timings?: Partial<Timings>;
  /** A new node, or the start of one, shows in status and lists after a time drawn evenly from 0 to this many seconds. Default 0. */
  readonly visibilityLagSeconds?: Seconds;
  /** Share of nodes whose software installation fails. Default 0. */
  readonly bootFailureShare?: number;
  /** Share of nodes that stay in Acquiring for ever. Default 0. */
  readonly neverBootShare?: number;
  /** Share of terminations that fail. The VM stays and must be terminated again. Default 0. */
  readonly terminationFailureShare?: number;
  /** Share of starts of deallocated nodes that are refused. Default 0. */
  readonly startRefusalShare?: number;
  readonly quirks?: Partial<Quirks>;
  /** The same options with the same seed give the same answers to the same requests at the same times. Default 1. */
  readonly seed?: number;
  /** False: only listeners get events, so that a run of weeks needs no memory for them. Default true. */
  readonly keepLog?: boolean;
};

/** A real boot takes about five minutes, most of it for the installation of software. */
export const defaultTimings: Timings = {
  secondsToAllocate: 5,
  secondsToAcquire: 85,
  secondsToPrepare: 210,
  secondsToTerminate: 60,
  jitter: 0,
};

/** The behaviour that cyclecloud-wire.md considers likely, where it considers one likely. */
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

/** The value of a limit that is not given. The fields are required integers, so a status cannot leave them out (A.3). */
export const unboundedCount = 1_000_000;
export const defaultMaxPlacementGroupSize = 100;
