import type { BucketKey, Purpose } from "./bucket.ts";
import type { NodeAttributes } from "./demand.ts";
import type { ArrayName, MachineType, NodeId, Owner, RequestId } from "./ids.ts";
import type { Instant } from "./units.ts";

/** One effect on CycleCloud that is committed to storage and not yet confirmed (docs/protocol.md, Creates and Stops). */
export interface Intent {
  readonly id: RequestId;
  readonly owner: Owner;
  readonly committedAt: Instant;
  /** The number of the plan that wanted these nodes. Absent: it is no create, or an older release made it. */
  readonly plan?: number;
  /** Until then only the owner may send it. */
  readonly leaseUntil: Instant;
  /** No instance sends it after this. */
  readonly notAfter: Instant;
  /**
   * If CycleCloud is asked for this id from this moment on and does not know it, the effect did not happen: every send has arrived by then,
   * and shows.
   */
  readonly certainFrom: Instant;
  readonly effect: Effect;
  /** Earlier sends of this id. `never`: certainly not sent. `maybe`: possibly sent. `once-refused`: our only send was answered with 409. */
  readonly sent: "never" | "maybe" | "once-refused";
  /** When CycleCloud was first asked for this id after the last send and did not know it. Absent: it was not, or knew it. */
  readonly absentSince?: Instant;
  /** CycleCloud's message with a 409, kept until it is known whether it means a refusal. Absent: there was no 409. */
  readonly refusal?: string;
}

/** What an intent does. */
export type Effect = CreateEffect | StartEffect | TerminateEffect;

/** One create request. create-requests.ts explains how its sets are distinguished when their nodes are listed. */
export interface CreateEffect {
  readonly kind: "create";
  /** At least one. */
  readonly sets: readonly CreateSet[];
}

/** Equal nodes of one bucket: one set of a create request (cyclecloud-wire.md A.6). */
export interface CreateSet {
  readonly bucket: BucketKey;
  readonly count: number;
  readonly purpose: Purpose;
  readonly attributes?: NodeAttributes;
}

/** CycleCloud's answer for one set. `added` may be less than the requested count, even 0. `message` then gives CycleCloud's reason. */
export interface GrantedSet {
  readonly added: number;
  readonly message?: string;
}

/** The properties for which CycleCloud may refuse a set. Sets with the same kind are accepted or refused together. */
export interface CreateKind {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  /** For nodes of a dynamic node array, `array` is the array that it extends. */
  readonly dynamic?: ArrayName;
}

/** Deallocated nodes of one bucket that are to be started. */
export interface StartEffect {
  readonly kind: "start";
  readonly bucket: BucketKey;
  readonly nodes: readonly NodeId[];
}

/** What CycleCloud is asked to do, for users. */
export function deedOf(effect: Effect): Effect["kind"] | "deallocate" {
  return effect.kind === "terminate" ? (effect.act ?? effect.kind) : effect.kind;
}

/** Nodes that are to be stopped, by one request. */
export interface TerminateEffect {
  readonly kind: "terminate";
  readonly nodes: readonly NodeId[];
  /** Their disks are kept: CycleCloud is asked to deallocate them. Absent: it is asked to terminate them. */
  readonly act?: "deallocate";
}
