/** Factor of each unit suffix: lower case powers of 1024, upper case powers of 1000 (scalelib-behaviour.md 1). */
const UNITS: ReadonlyMap<string, number> = new Map([
  ["b", 1],
  ["k", 1024],
  ["m", 1024 ** 2],
  ["g", 1024 ** 3],
  ["t", 1024 ** 4],
  ["p", 1024 ** 5],
  ["K", 1000],
  ["M", 1000 ** 2],
  ["G", 1000 ** 3],
  ["T", 1000 ** 4],
  ["P", 1000 ** 5],
]);

const SIZE =
  /^(?:(?:memory|size)::)?\s*(?<number>[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+)?)\s*(?<unit>[A-Za-z]*)$/;

const BYTES_PER_GIB = 1024 ** 3;

/** Bytes in GiB. */
export function gibOfBytes(bytes: number): number {
  return bytes / BYTES_PER_GIB;
}

/**
 * Bytes of a size written as scalelib writes it: "memory::4g", "size::1.5T", "4g", "1e3". Without a suffix: bytes. Undefined: it is
 * no size, its suffix is unknown, or it is not finite. "4gb" is none, as in scalelib (part 1).
 */
export function bytesOfSize(text: string): number | undefined {
  const groups = SIZE.exec(text)?.groups;
  const factor = UNITS.get(groups?.["unit"] || "b");
  if (groups?.["number"] === undefined || factor === undefined) return undefined;
  const bytes = Number(groups["number"].replaceAll("_", "")) * factor;
  return Number.isFinite(bytes) ? bytes : undefined;
}
