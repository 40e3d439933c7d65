import { expect, test } from "vitest";
import { heapBytes } from "../../../src/adapters/system/heap.ts";

const MIB = 1024 * 1024;

test.each([
  { name: "nothing is set: V8's own limit", limit: 1048, options: [], heap: 1048 },
  {
    name: "a size is set: V8 adds 192 MiB for young objects",
    limit: 451,
    options: ["--max-old-space-size=259"],
    heap: 259,
  },
  { name: "with underscores", limit: 451, options: ["--max_old_space_size=259"], heap: 259 },
  {
    name: "twice: the last one counts",
    limit: 500,
    options: ["--max-old-space-size=100", "--max-old-space-size=300"],
    heap: 300,
  },
  { name: "no number", limit: 451, options: ["--max-old-space-size=", "--expose-gc"], heap: 451 },
])("the heap of a process: $name", ({ limit, options, heap }) => {
  expect(heapBytes(limit * MIB, options)).toBe(heap * MIB);
});
