import { Problems } from "./problems.ts";

/** What a reader of constraints notes on its way. */
export interface Notes {
  /** What is no constraint: nothing of it may be used. */
  readonly problems: Problems;
  /**
   * What scalelib takes in its stride and can hardly be meant: `"mem": "4g"` is a text to match there, not an amount. The door for jobs
   * refuses it; where the library's own verdict is asked for, it stands.
   */
  readonly doubts: Problems;
}

export const newNotes = (): Notes => ({ problems: new Problems(), doubts: new Problems() });
