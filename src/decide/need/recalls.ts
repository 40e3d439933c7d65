import type { Weighing } from "./weigh.ts";
import type { Spare } from "./spare.ts";
import { Recall } from "./recall.ts";

/** The last answers of the planner about one cluster. They are reused while nothing has changed. */
export interface Recalls {
  readonly plans: Recall<Weighing>;
  /** Plans of the virtual fleet. */
  readonly virtual: Recall<Weighing>;
  /** Answers to nodes that ask whether they may stop. */
  readonly stops: Recall<Spare>;
}

/** No answers yet. */
export const noRecalls = (): Recalls => ({ plans: new Recall(), virtual: new Recall(), stops: new Recall() });
