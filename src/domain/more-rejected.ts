import type { SetDemand } from "./demand.ts";

/** How many jobs could not be read besides those that are listed, as a member of an answer; none if there are none. */
export function moreRejected(demand: SetDemand | undefined): Pick<SetDemand, "moreRejectedJobs"> {
  const more = demand?.moreRejectedJobs;
  return more === undefined ? {} : { moreRejectedJobs: more };
}

/** The same in words. */
export function noteMoreRejected(demand: SetDemand | undefined): readonly string[] {
  const more = demand?.moreRejectedJobs;
  return more === undefined ? [] : [`${more} more jobs could not be read: only the first ones are listed`];
}
