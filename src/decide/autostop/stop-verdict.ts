import type { Questions, UnhealthyHold } from "../../domain/questions.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Asking } from "../stops/questions.ts";
import type { Caller } from "./node-token.ts";
import type { ClusterRecord } from "../../domain/record.ts";

/** One node's question "may I stop?" (cyclecloud-wire.md D). The array is the one that the token of its stop URL is for. */
export interface StopCall extends Asking, Caller {
  readonly array: ArrayName;
  /** The node calls itself unhealthy. It is stopped whatever the demand is, unless a job is on it or too many others were (unhealthy.ts). */
  readonly unhealthy: boolean;
  /** False: the node only asks about its earlier question, and no stop begins. */
  readonly begin: boolean;
  /** This instance cannot send a stop, and another one can. */
  readonly unsendable?: true;
}

/** The answer to a question. `undrain`: the node may take work again, because it has no mark, and no stop of it may still take effect. */
export type StopVerdict =
  /** Marked. It is stopped if nothing speaks against it when the record is read again. */
  | { readonly kind: "marked"; readonly node: NodeId }
  /** Its stop is committed and is going to be sent. Only `confirmStops` gives this verdict. */
  | { readonly kind: "granted"; readonly node: NodeId }
  /** CycleCloud is stopping it, or it went within the last hour. */
  | { readonly kind: "stopping" }
  /** It must stay. `why` names no request set, because every caller with the stop URL reads it. `held`: it calls itself unhealthy. */
  | {
      readonly kind: "needed";
      readonly why: string;
      readonly undrain: boolean;
      readonly held?: UnhealthyHold;
    }
  | { readonly kind: "unknown-instance" }
  /** No observation shows such an instance, and none is fresh enough to exclude it: an observation is needed. */
  | { readonly kind: "not-seen-yet"; readonly why: string }
  /** The stop URL belongs to another array. With `unbound`: the call does not carry the node's token. */
  | { readonly kind: "forbidden"; readonly undrain: boolean; readonly unbound?: true }
  /** `underWay`: a stop of the node is under way, or its question is still being decided. The node stays closed while it hears that. */
  | {
      readonly kind: "cannot-tell";
      readonly why: string;
      readonly undrain: boolean;
      readonly underWay?: true;
    };

/** A verdict that needs no confirmation. */
export type FinalVerdict = Exclude<StopVerdict, { kind: "marked" }>;

/** A verdict by which the node stays. */
export type Stay = Extract<StopVerdict, { kind: "needed" | "cannot-tell" }>;

/** The verdicts on all calls of one moment, and the state to save before they are answered. */
export interface StopDecision {
  /** In the order of the calls. */
  readonly verdicts: readonly StopVerdict[];
  /** The nodes that ask and are fit to work: they are up. */
  readonly up: ReadonlySet<NodeId>;
  readonly record: ClusterRecord;
  /** The same object if there is nothing to note. */
  readonly questions: Questions;
}
