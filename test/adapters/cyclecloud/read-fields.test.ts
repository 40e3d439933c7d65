import { expect, test } from "vitest";
import { readCount, readMemoryGib } from "../../../src/adapters/cyclecloud/read-fields.ts";
import { processorMs } from "../../support/processor-time.ts";

test.each([
  { value: 4, count: 4 },
  { value: "4", count: 4 },
  { value: 4.9, count: 4 },
  { value: 5e-324, count: 0 },
  { value: -3, count: 0 },
  { value: "", count: undefined },
  { value: "many", count: undefined },
  { value: null, count: undefined },
])("a count of $value is $count", ({ value, count }) => {
  expect(readCount(value)).toBe(count);
});

test.each([
  { value: 4, memory: 4 },
  { value: "4.0", memory: 4 },
  { value: "448 GB", memory: 448 },
  { value: " 512m ", memory: 0.5 },
  { value: "1 TiB", memory: 1024 },
  { value: "2b", memory: 2 },
  { value: "", memory: undefined },
  { value: "4 nodes", memory: undefined },
  { value: "4 4g", memory: undefined },
  { value: `${" ".repeat(62)}4g`, memory: 4 },
  { value: `${" ".repeat(63)}4g`, memory: undefined },
])("memory of $value is $memory GiB", ({ value, memory }) => {
  expect(readMemoryGib(value)).toBe(memory);
});

test("memory of 200 nodes, each a 1 and 60,000 spaces, is read in less than a second", () => {
  const before = processorMs();
  for (let node = 0; node < 200; node += 1) expect(readMemoryGib(`1${" ".repeat(60_000)}x`)).toBe(undefined);
  expect(processorMs() - before).toBeLessThan(1000);
});
