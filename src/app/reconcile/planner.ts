import type { Effects } from "../../decide/pace/observation-times.ts";
import type { Owner, WakeId } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ReconcileFailure } from "../../domain/troubles.ts";
import type { Instant } from "../../domain/units.ts";
import type { Run } from "../effects/run.ts";

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
