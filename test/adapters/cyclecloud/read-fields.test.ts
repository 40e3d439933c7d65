import { expect, test } from "vitest";
import { readCount } from "../../../src/adapters/cyclecloud/read-fields.ts";

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
