import { readNodeArray } from "../../../src/adapters/cyclecloud/read-nodearray.ts";
import { readList } from "../../../src/adapters/cyclecloud/read-fields.ts";
import type { StatusBucket, NodeArray } from "../../../src/domain/cluster.ts";
import { clusterName } from "../../../src/domain/ids.ts";
import { instant } from "../../../src/domain/units.ts";
import { readCaptured } from "../../support/data.ts";
import { isFields } from "../../../src/domain/fields.ts";

/*
 * Captured answers, read as the product reads them.
 */

export const cluster = clusterName("demo");
export const now = instant(1_768_040_000_000);

/** The arrays of a status file; those captured without nodes cannot be read as a snapshot, which has a test of its own. */
export function arraysOf(file: string): readonly NodeArray[] {
  const body = readCaptured(file);
  return readList(isFields(body) ? body["nodearrays"] : undefined).map((element) => {
    const reading = isFields(element) ? readNodeArray(element) : undefined;
    if (reading === undefined) throw new Error(`${file}: an array without a name`);
    return reading.array;
  });
}

export function bucketOf(file: string, array: number, bucket: number): StatusBucket | undefined {
  return arraysOf(file)[array]?.buckets[bucket];
}
