import type { SetDemand } from "./demand.ts";

/** The number of jobs that could not be read and are not listed, as a member of an answer. Empty if there are none. */
export function moreRejected(demand: SetDemand | undefined): Pick<SetDemand, "moreRejectedJobs"> {
  const more = demand?.moreRejectedJobs;
  return more === undefined ? {} : { moreRejectedJobs: more };
}

/** The same as a text. */
export function noteMoreRejected(demand: SetDemand | undefined): readonly string[] {
  const more = demand?.moreRejectedJobs;
  return more === undefined ? [] : [`${more} more jobs could not be read: only the first ones are listed`];
}
