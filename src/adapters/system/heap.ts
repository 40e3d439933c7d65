import v8 from "node:v8";
import type { Bytes } from "../../domain/memory-budget.ts";

const MIB = 1024 * 1024;

/**
 * How large the heap of this process may become. V8 counts the young generation in its limit, up to 192 MiB on a large machine, and ends a
 * process whose old generation is full. So where a size was set for the old one, that counts.
 */
export function heapBytes(
  limit: Bytes = v8.getHeapStatistics().heap_size_limit,
  options: readonly string[] = [...(process.env["NODE_OPTIONS"] ?? "").split(/\s+/), ...process.execArgv],
): Bytes {
  const set = options.flatMap((option) => {
    const [name, value] = option.split("=");
    const mebibytes = Number(value);
    return name?.replaceAll("_", "-") === "--max-old-space-size" && mebibytes > 0 ? [mebibytes * MIB] : [];
  });
  return Math.min(limit, set.at(-1) ?? limit);
}
