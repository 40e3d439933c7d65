/**
 * How small demands and reports share packs. A key's hash says which pack it is in. The number of packs is chosen so that their mean size
 * stays between 32 and 128 KiB (gzip): few enough that a load reads few rows, many enough that one small change rewrites little. Doubling
 * leaves 64 KiB and halving as much, so the number does not go to and fro.
 */
const LARGEST_MEAN = 128 * 1024;
const SMALLEST_MEAN = 32 * 1024;

/** The number of packs for so many compressed bytes, starting from the present number, which stays while the mean size is bearable. */
export function packCountFor(bytes: number, present: number): number {
  let count = present;
  while (bytes / count > LARGEST_MEAN) count *= 2;
  while (count > 1 && bytes / count < SMALLEST_MEAN) count /= 2;
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
