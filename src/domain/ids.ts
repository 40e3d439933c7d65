/**
 * Branded identifiers. A brand costs nothing at run time and prevents one kind of text from being passed for another. Only the constructors
 * below brand values. They do not check: text is checked where it enters (wire/, adapters/).
 */
declare const brand: unique symbol;
type Brand<T, B extends string> = T & { readonly [brand]: B };

/** A CycleCloud cluster's name. May hold spaces. */
export type ClusterName = Brand<string, "ClusterName">;
/** A request set's name: one independent writer of demand (cyclecloud-wire.md C.2). */
export type SetName = Brand<string, "SetName">;
/** A node array's name (a node's `Template`). */
export type ArrayName = Brand<string, "ArrayName">;
/** A VM size, as CycleCloud spelled it. Compare with {@link sameMachineType}. */
export type MachineType = Brand<string, "MachineType">;
/** A placement group's name. */
export type PlacementGroup = Brand<string, "PlacementGroup">;
/** CycleCloud's NodeId. Never reused, unlike a node's name (cyclecloud-wire.md A.4). */
export type NodeId = Brand<string, "NodeId">;
/** The idempotency token of a create or terminate request (cyclecloud-wire.md A.6). */
export type RequestId = Brand<string, "RequestId">;
/** The run of a use case that may send an intent. */
export type Owner = Brand<string, "Owner">;
/** One process of the app, among all that ever were. */
export type ProcessId = Brand<string, "ProcessId">;
/** Names one wake message of the loop. */
export type WakeId = Brand<string, "WakeId">;
/** Random, written when a record is created or restored. Part of every request id. */
export type Epoch = Brand<string, "Epoch">;
/** Hex digest of a canonical JSON text. */
export type Digest = Brand<string, "Digest">;

export const clusterName = (text: string): ClusterName => text as ClusterName;
export const setName = (text: string): SetName => text as SetName;
export const arrayName = (text: string): ArrayName => text as ArrayName;
export const machineType = (text: string): MachineType => text as MachineType;
export const placementGroup = (text: string): PlacementGroup => text as PlacementGroup;
export const nodeId = (text: string): NodeId => text as NodeId;
export const requestId = (text: string): RequestId => text as RequestId;
export const owner = (text: string): Owner => text as Owner;
export const processId = (text: string): ProcessId => text as ProcessId;
export const wakeId = (text: string): WakeId => text as WakeId;
/** True for the id of a wake message of the loop, as decide/pace/next-tick.ts makes them. */
export const isTickWake = (id: string): boolean => id.startsWith("tick-");
export const epoch = (text: string): Epoch => text as Epoch;
export const digest = (text: string): Digest => text as Digest;

/** Compares VM sizes case-insensitively: the documentation itself prints "Standard_Hc44rs" (cyclecloud-wire.md A.3). */
export function sameMachineType(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase();
}
