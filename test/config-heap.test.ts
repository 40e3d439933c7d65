import { expect, test } from "vitest";
import { readHeap } from "../src/config.ts";

const MIB = 1024 * 1024;

test.each([
  { name: "nothing is set: V8's own limit", limit: 1048, heap: 1048 },
  {
    name: "a size is set: V8 adds 192 MiB for young objects",
    limit: 451,
    flags: "--max-old-space-size=259",
    heap: 259,
  },
  { name: "with underscores", limit: 451, flags: "--max_old_space_size=259", heap: 259 },
  { name: "by NODE_OPTIONS", limit: 451, options: "--no-warnings  --max-old-space-size=259", heap: 259 },
  {
    name: "in both places: the command line counts, as for Node",
    limit: 500,
    options: "--max-old-space-size=100",
    flags: "--max-old-space-size=300",
    heap: 300,
  },
  { name: "no number", limit: 451, flags: "--max-old-space-size=", heap: 451 },
])("the heap of a process: $name", ({ limit, options, flags = "--expose-gc", heap }) => {
  const settings = options === undefined ? {} : { NODE_OPTIONS: options };
  expect(readHeap(settings, [flags], limit * MIB)).toBe(heap * MIB);
});
