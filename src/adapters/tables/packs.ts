import { ROW_BYTES } from "./rows.ts";

/**
 * How small demands and reports share packs. A key's hash determines its pack. A small change rewrites one pack, a load reads all of them.
 * Up to eight packs, their mean size stays below 128 KiB (gzip), so that little is rewritten. With more, it may grow to most of a row, so
 * that the rows read grow only with compressed bytes / 700 KiB (architecture.md, Storage).
 */
const FEW = 8;
const LARGEST_MEAN_OF_FEW = 128 * 1024;
const LARGEST_MEAN = 0.85 * ROW_BYTES;

/** The mean size above which the number of packs doubles. */
const largestMean = (count: number): number => (count < FEW ? LARGEST_MEAN_OF_FEW : LARGEST_MEAN);

/** Halving happens only at half of the size after a doubling, so that the number does not oscillate. */
const smallestMean = (count: number): number => largestMean(count / 2) / 4;

/** The number of packs for a number of compressed bytes. Starts from the present number, which stays while the mean size is acceptable. */
export function packCountFor(bytes: number, present: number): number {
  let count = present;
  while (bytes / count > largestMean(count)) count *= 2;
  while (count > 1 && bytes / count < smallestMean(count)) count /= 2;
  return count;
}

/** The pack of a key among `count` (a power of two): FNV-1a. The same in every release, because it is part of the stored form. */
export function packOf(key: string, count: number): number {
  if (count === 1) return 0;
  let hash = 0x811c9dc5;
  for (let position = 0; position < key.length; position++) {
    hash = Math.imul(hash ^ key.charCodeAt(position), 0x01000193);
  }
  // FNV's low bits are weak: fold in the high half.
  return ((hash >>> 16) ^ hash) & (count - 1);
}
