import type { Ask } from "../bins/job-ask.ts";
import type { Draft } from "../draft/draft.ts";
import type { ShortPool } from "../draft/pool-use.ts";
import { mostPoolNeeds, unitsInPools as unitsInAllPools } from "../draft/pool-use.ts";
import { drains } from "./pools.ts";
import type { ListedBucket } from "./bucket-list.ts";

/** Whether the job may use new nodes of the bucket. Only a job that names a dynamic node array makes it grow. */
export function opensFor({ requirements }: Ask, { offer }: ListedBucket): boolean {
  return offer.parent === undefined || requirements.arrays?.includes(offer.bucket.array) === true;
}

/** Whether the job is placed whole or not at all: colocated jobs, and gangs for which all nodes are needed. */
export function isWhole({ demand: job }: Ask): boolean {
  return job.colocated || (job.nodeCount !== undefined && job.partial !== true);
}

/** The pools that alternatives take from and that have too little if every unit takes the most that it can. */
export function drainedPools({ pools }: Draft, ask: Ask): readonly ShortPool[] {
  return drains(ask) ? unitsInAllPools(pools, ask, mostPoolNeeds(ask)).short : [];
}
