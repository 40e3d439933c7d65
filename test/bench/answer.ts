import { createHash } from "node:crypto";
import type { Allocation } from "../../src/domain/allocation.ts";
import type { World } from "../../src/domain/world.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import { canonicalText } from "../../src/domain/digest.ts";

/** What a plan comes to. */
export interface Tally {
  /** Existing nodes that have a job, and all nodes that are to be made. */
  readonly nodes: number;
  /** Of the nodes to be made, an hour. */
  readonly cost: number;
}

/** Throws if a job is not wholly placed: a bound on what a whole plan takes says nothing of half of one. */
export function tally(world: World, { creates, loads, outcomes }: Allocation): Tally {
  const unmet = outcomes.filter(({ asked, placed }) => placed < asked);
  const [first] = unmet;
  if (first !== undefined)
    throw new Error(`${unmet.length} jobs are not placed; ${first.id}: ${first.placed} of ${first.asked}`);
  const prices = new Map(world.buckets.map(({ bucket, price = 0 }) => [bucketText(bucket), price]));
  const counts = new Map<string, number>();
  for (const { bucket, count } of creates) {
    const { placementGroup: _any, ...key } = bucket;
    counts.set(bucketText(key), (counts.get(bucketText(key)) ?? 0) + count);
  }
  let nodes = loads.filter(({ origin }) => origin === "existing").length;
  let cost = 0;
  for (const [bucket, count] of counts) {
    nodes += count;
    cost += count * (prices.get(bucket) ?? Number.NaN);
  }
  return { nodes, cost };
}

/** A digest of everything in the answer: two that differ anywhere have different ones. */
export function checksumOf(allocation: Allocation): string {
  const { creates, starts, loads, needed, outcomes } = allocation;
  const hash = createHash("sha256");
  for (const part of [creates, starts, loads, [...needed], outcomes])
    for (const item of part) hash.update(`${canonicalText(item)}\n`);
  return hash.digest("hex").slice(0, 16);
}
