import type { ArrayName, ClusterName } from "../../domain/ids.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { loadWhole } from "../record/load-record.ts";
import type { App } from "../process/app.ts";

/**
 * A stop URL is made for an array that an observation has shown, and its node takes longer than this to call. Older arrays are read again.
 */
const ARRAYS_AGE_SECONDS: Seconds = 5;

/** Reads the arrays of a cluster. Arrays read a moment ago are reused, and simultaneous callers share the load. */
export function createArrayReader(
  app: App,
): (cluster: ClusterName) => Promise<readonly ArrayName[] | undefined> {
  const { clock } = app.ports;
  const loading = new Map<ClusterName, Promise<readonly ArrayName[] | undefined>>();
  const read = new Map<ClusterName, { readonly arrays: readonly ArrayName[]; readonly at: Instant }>();
  const load = async (cluster: ClusterName): Promise<readonly ArrayName[] | undefined> => {
    try {
      const arrays = await loadArrays(app, cluster);
      if (arrays !== undefined) read.set(cluster, { arrays, at: clock.now() });
      return arrays;
    } finally {
      loading.delete(cluster);
    }
  };
  return (cluster) => {
    const last = read.get(cluster);
    const age = last === undefined ? undefined : secondsBetween(last.at, clock.now());
    if (last !== undefined && age !== undefined && age >= 0 && age < ARRAYS_AGE_SECONDS)
      return Promise.resolve(last.arrays);
    const shared = loading.get(cluster) ?? load(cluster);
    loading.set(cluster, shared);
    return shared;
  };
}

async function loadArrays(app: App, cluster: ClusterName): Promise<readonly ArrayName[] | undefined> {
  const { bodies } = await loadWhole(app, cluster);
  if (bodies.seen === undefined) return undefined;
  const arrays = new Set(bodies.seen.arrays.map(({ name }) => name));
  // The status lists every array, unless it is incomplete: the token of a known node is valid anyway.
  for (const { array, goneAt } of bodies.ledger.values()) if (goneAt === undefined) arrays.add(array);
  return [...arrays];
}
