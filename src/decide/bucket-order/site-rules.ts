import type { Reason } from "../../domain/reason.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Draft } from "../draft/draft.ts";
import { mostPoolNeeds, unitsInPools as unitsInAllPools } from "../draft/pool-use.ts";
import { drains } from "./pools.ts";
import type { Site } from "./sites.ts";

/** A dynamic node array grows only for those who name it. */
export function opensFor({ requirements }: Ask, { offer }: Site): boolean {
  return offer.parent === undefined || requirements.arrays?.includes(offer.bucket.array) === true;
}

/** All units or none: what is colocated, and a number of nodes unless some of them will do. */
export function isWhole({ demand: job }: Ask): boolean {
  return job.colocated || (job.nodeCount !== undefined && job.partial !== true);
}

/** Of pools that alternatives take from: those that do not suffice for all units, should all of them take it. */
export function drainedPools(draft: Draft, ask: Ask): readonly Reason[] {
  const { pools, world } = draft;
  return drains(ask) ? unitsInAllPools(pools, ask, mostPoolNeeds(ask), world.pools).reasons : [];
}
