import type { Questions, UnhealthyHold } from "../domain/questions.ts";
import type { ArrayName, NodeId } from "../domain/ids.ts";
import type { Asking } from "./stops/questions.ts";
import type { Caller } from "./stops/node-token.ts";
import type { ClusterRecord } from "../domain/record.ts";

/** One node's question "may I stop?" (cyclecloud-wire.md D). The array is the one that the token of its stop URL is for. */
export interface StopCall extends Asking, Caller {
  readonly array: ArrayName;
  /** The node finds itself unfit for work: it goes whatever the demand is, unless a job is on it or too many others went (unhealthy.ts). */
  readonly unhealthy: boolean;
  /** False: the node asks what has become of its earlier questions, and no stop begins. */
  readonly begin: boolean;
}

/** `undrain`: the record shows no mark of the node and no stop that may still take effect, so it may take work again. */
export type StopVerdict =
  /** Marked; it goes if nothing has come up when the record is read again. */
  | { readonly kind: "marked"; readonly node: NodeId }
  /** Its stop is committed, and is to be sent. Only {@link confirmStops} says so. */
  | { readonly kind: "granted"; readonly node: NodeId }
  /** CycleCloud is stopping it, or it has gone within the hour. */
  | { readonly kind: "stopping" }
  /** Stay, with the reason; the caller should take work again if `undrain` says so. `held`: it calls itself unhealthy. */
  | {
      readonly kind: "needed";
      readonly why: string;
      readonly undrain: boolean;
      readonly held?: UnhealthyHold;
    }
  | { readonly kind: "unknown-instance" }
  /** No observation shows such an instance, and none is fresh enough to say that there is none: one should be begun. */
  | { readonly kind: "not-seen-yet"; readonly why: string }
  /** The stop URL is another array's; or, with `unbound`, the call does not carry the token that this node's calls must carry. */
  | { readonly kind: "forbidden"; readonly undrain: boolean; readonly unbound?: true }
  | { readonly kind: "cannot-tell"; readonly why: string; readonly undrain: boolean };

/** A verdict that lasts: there is nothing left to confirm. */
export type FinalVerdict = Exclude<StopVerdict, { kind: "marked" }>;

export type Stay = Extract<StopVerdict, { kind: "needed" | "cannot-tell" }>;

/** The verdicts on all calls of one moment, and what is to be saved before they are answered. */
export interface StopDecision {
  /** In the order of the calls. */
  readonly verdicts: readonly StopVerdict[];
  readonly record: ClusterRecord;
  /** The very same where nothing is to be noted. */
  readonly questions: Questions;
}
