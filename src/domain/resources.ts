/**
 * What one node offers or one slot of a job takes: resource name -> amount. Names in use: ncpus (vCPUs), mem (GiB), ngpus, and whatever a
 * node array's Configuration.autoscale.resources or a scheduler report adds. An amount that is absent is zero.
 */
export type Resources = Readonly<Record<string, number>>;

/** How many times `needs` fits into `free`; `Number.POSITIVE_INFINITY` if nothing is needed. */
export function timesFitting(free: Resources, needs: Resources): number {
  let times = Number.POSITIVE_INFINITY;
  for (const [name, need] of Object.entries(needs)) {
    if (need <= 0) continue;
    // A relative tolerance: 0.1 taken ten times from 1 must leave room for nothing and owe nothing.
    times = Math.min(times, Math.floor((free[name] ?? 0) / need + 1e-9));
  }
  return Math.max(0, times);
}

/** `free` after `times` x `needs` was taken; amounts never go below zero by rounding. */
export function minus(free: Resources, needs: Resources, times: number): Resources {
  const left: Record<string, number> = { ...free };
  for (const [name, need] of Object.entries(needs)) {
    if (need > 0) left[name] = Math.max(0, (left[name] ?? 0) - need * times);
  }
  return left;
}
