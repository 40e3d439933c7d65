import type { Instant } from "../../domain/units.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Site } from "../ports/ports.ts";
import type { App } from "../process/lanes.ts";
import type { Effects } from "../../decide/pace/observation-times.ts";
import type { Owner, WakeId, RequestId } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ReconcileFailure } from "../../domain/troubles.ts";
import type { Intent } from "../../domain/intent.ts";
import type { PendingWake } from "../../domain/record.ts";

/** One run of a use case. It starts no effects after `deadline`. */
export interface Run {
  readonly app: App;
  readonly site: Site;
  readonly policy: Policy;
  readonly deadline: Instant;
}

/** A run that observes and decides. */
export interface Planner extends Run {
  readonly owner: Owner;
  /** The wake message of this tick. Absent: no wake message triggered the run. */
  readonly broughtBy?: WakeId;
}

/** When an observation began, and what had been committed by then. */
export interface ObservationBegun {
  readonly at: Instant;
  readonly effects: Effects;
}

export type Concluded =
  /** `wakeAt`: a follow-up is due then, and its wake message must be sent. */
  | {
      readonly kind: "planned";
      readonly plan: Plan;
      readonly ledger: Ledger;
      readonly wakeAt?: Instant;
    }
  /** CycleCloud did not answer, or its answer is not accepted: no plan. */
  | { readonly kind: "troubled"; readonly failure: ReconcileFailure }
  /** `byPlan`: another instance committed a plan first. Otherwise the observation is too old, or there were too many conflicts. */
  | { readonly kind: "overtaken"; readonly byPlan: boolean };

/**
 * The trigger of a reconcile. Only `demand` can be covered by a plan that has already used it. `tick` waits for its turn. `due` does too,
 * and ends if no tick is due.
 */
export type Cause = "demand" | "tick" | "due";

export type ReconcileOutcome =
  /** A plan has already used this demand. */
  | { readonly kind: "covered" }
  /** Too early, left to another instance, or another instance's create is under way. A wake message is due at `until`. */
  | { readonly kind: "waiting"; readonly until: Instant }
  | { readonly kind: "planned"; readonly plan: Plan }
  /** The tick was made already, or is left to another instance, or the cluster rests. `until`: the next tick. */
  | { readonly kind: "not-due"; readonly until: Instant }
  /** A wake message that the loop does not wait for. */
  | { readonly kind: "superseded" }
  /** Other instances committed first in every round. The plan is left to the timer. */
  | Extract<Concluded, { readonly kind: "troubled" | "overtaken" }>;

/** One run from its trigger to its last effect. */
export interface Reconcile extends Planner {
  /** A wake message triggered this run. If the record still waits for one that is due, it is this one. */
  readonly woken: boolean;
}

/** The observation is reserved in the record. */
export interface Begun extends ObservationBegun {
  readonly kind: "begun";
  /** The cluster has no plan yet. */
  readonly isFirst: boolean;
  readonly open: readonly RequestId[];
  /** Creates and starts whose owner is gone. They are ours now. */
  readonly taken: readonly Intent[];
  /** If no answer has come by then, another instance is asked to observe. */
  readonly lateFrom: Instant;
  /** The wake message to send for the next tick. Absent: another one is under way. */
  readonly wake?: PendingWake;
}

/** The result of the first step: an observation is reserved, or none is needed now. */
export type Beginning =
  | Begun
  | { readonly kind: "covered" | "superseded" }
  | { readonly kind: "not-due"; readonly until: Instant; readonly wake?: PendingWake }
  | { readonly kind: "waiting"; readonly until: Instant; readonly wake: boolean };
