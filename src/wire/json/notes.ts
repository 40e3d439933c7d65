import { Problems } from "./problems.ts";

/** Notes of a reader of constraints. */
export interface Notes {
  /** Invalid constraints. Nothing of them may be used. */
  readonly problems: Problems;
  /**
   * Input that scalelib accepts and that is probably a mistake: `"mem": "4g"` is a text to match there, not an amount. The reader of jobs
   * refuses it. Where the library's own result is needed, it is accepted.
   */
  readonly doubts: Problems;
}

export const newNotes = (): Notes => ({ problems: new Problems(), doubts: new Problems() });
