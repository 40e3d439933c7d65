import { ROW_BYTES } from "./rows.ts";

/**
 * How small demands and reports share packs. A key's hash says which pack it is in. A small change rewrites a pack, a load reads all of
 * them: up to eight, their mean size stays below 128 KiB (gzip), so that little is rewritten; beyond, it may grow to most of a row, so that
 * the rows read grow with compressed bytes / 700 KiB and nothing else (architecture.md, Storage).
 */
const FEW = 8;
const LARGEST_MEAN_OF_FEW = 128 * 1024;
const LARGEST_MEAN = 0.85 * ROW_BYTES;

/** The mean above which so many packs become twice as many. */
const largestMean = (count: number): number => (count < FEW ? LARGEST_MEAN_OF_FEW : LARGEST_MEAN);

/** Halving comes only at half of what doubling leaves, so that the number does not go to and fro. */
const smallestMean = (count: number): number => largestMean(count / 2) / 4;

/** The number of packs for so many compressed bytes, starting from the present number, which stays while the mean size is bearable. */
export function packCountFor(bytes: number, present: number): number {
  let count = present;
  while (bytes / count > largestMean(count)) count *= 2;
  while (count > 1 && bytes / count < smallestMean(count)) count /= 2;
  return count;
}

/** The pack of a key among `count` (a power of two): FNV-1a, the same in every release, as it is part of the stored form. */
export function packOf(key: string, count: number): number {
  if (count === 1) return 0;
  let hash = 0x811c9dc5;
  for (let position = 0; position < key.length; position++) {
    hash = Math.imul(hash ^ key.charCodeAt(position), 0x01000193);
  }
  // FNV's low bits are its weak ones: fold the high half in.
  return ((hash >>> 16) ^ hash) & (count - 1);
}
