import type { Weighing } from "./need/weigh.ts";
import type { Spare } from "./need/spare.ts";
import { Recall } from "./need/recall.ts";

/** The last answers of the planner about one cluster: none of them is worked out again while nothing has changed. */
export interface Recalls {
  readonly plans: Recall<Weighing>;
  /** Of the plans of the virtual fleet. */
  readonly virtual: Recall<Weighing>;
  readonly stops: Recall<Spare>;
}

/** Nothing has been worked out yet. */
export const noRecalls = (): Recalls => ({ plans: new Recall(), virtual: new Recall(), stops: new Recall() });
