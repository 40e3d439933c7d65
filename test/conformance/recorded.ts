import { DATA, readText } from "../support/data.ts";
import type { Json } from "./compare.ts";
import { readCases, SUITES } from "./suites.ts";

/** The recorded cases of the allocator on which the library gives an answer, and the catalogue with which they were made. */

const readJson = (path: string): Json => JSON.parse(readText(`${DATA}vectors/${path}.json.gz`));

export const VM_SIZES = readJson("vm_sizes");

export const RECORDED_CASES = SUITES.filter(({ name }) => /^allocator\/(?!raises)/.test(name)).flatMap(
  ({ name }) => readCases(readJson(name)),
);
