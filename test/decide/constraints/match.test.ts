import { describe, expect, test } from "vitest";
import { compileAll } from "../../../src/decide/constraints/match.ts";
import { sharedStateOf } from "../../../src/decide/constraints/shared-pools.ts";
import { viewHost } from "../../../src/decide/world/host-view.ts";
import { compileDefaults } from "../../../src/decide/constraints/default-resources.ts";
import type { Pool } from "../../../src/domain/demand.ts";
import { renderRefusal } from "../../../src/domain/refusal.ts";
import { readConstraints } from "../../../src/wire/constraint/constraint.ts";
import { newNotes } from "../../../src/wire/json/problems.ts";

const report = {
  hostname: "h",
  resources: { ncpus: 4, mem: { amount: 8, unit: "g" as const }, rack: "r1", disk: 100 },
};

function judge(value: unknown, { jobs = [], pools = [] }: { jobs?: string[]; pools?: Pool[] } = {}) {
  const constraints = readConstraints(value, "", newNotes());
  const host = viewHost(report.hostname, compileDefaults([], []), 1);
  const properties = { ...host.properties, memory: report.resources.mem };
  const view = { ...host, properties, available: report.resources, jobs: new Set(jobs) };
  const judgement = compileAll(constraints)(view, sharedStateOf(pools, constraints), "me");
  if (judgement.kind === "refused") return renderRefusal(judgement.refusal);
  return { space: judgement.space, takes: Object.fromEntries(judgement.takes), closes: judgement.closes };
}

const met = (more: object = {}) => ({ space: undefined, takes: {}, closes: undefined, ...more });

test.each(["memory::8g", "8g", "8.00g", "memory::8192m", 8, 8 * 1024 ** 3])(
  "node.memory of 8 GiB as %s",
  (memory) => {
    expect(judge({ "node.memory": memory })).toEqual(met());
  },
);

test("node.memory of another size", () => {
  expect(judge({ "node.memory": ["memory::4g", 4, "8G", "g"] })).toBe(
    "node.memory is 8.00g, asked is memory::4g or 4 or 8G or g",
  );
});

describe("a node of 4 cores and 8 GiB", () => {
  test.each([
    { name: "nothing asked", value: [], expected: met() },
    { name: "amounts", value: { ncpus: 1.5 }, expected: met({ space: 2, takes: { ncpus: 1.5 } }) },
    { name: "more than there is", value: { ncpus: 5 }, expected: "ncpus: 5 asked of one node, 4 offered" },
    { name: "a resource that it has not", value: { ngpus: 1 }, expected: "has no resource ngpus" },
    {
      name: "two members that ask for one resource share it",
      value: [{ ncpus: 1 }, { ncpus: 1 }],
      expected: met({ space: 2, takes: { ncpus: 2 } }),
    },
    {
      name: "two members that fit alone and not together",
      value: [{ ncpus: 3 }, { ncpus: 2 }],
      expected: "ncpus: 5 asked of one node, 4 offered",
    },
    {
      name: "a plain number of a size is in its unit",
      value: { mem: 3 },
      expected: met({ space: 2, takes: { mem: { amount: 3, unit: "g" } } }),
    },
    {
      name: "more memory than there is",
      value: { mem: "memory::8193m" },
      expected: "mem: 8193.00m asked of one node, 8.00g offered",
    },
    { name: "an amount of a text", value: { rack: 1 }, expected: "rack: an amount is asked, but it is r1" },
    {
      name: "the first alternative that holds is charged",
      value: { or: [{ ngpus: 1 }, { ncpus: 2 }, { ncpus: 1 }] },
      expected: met({ space: 2, takes: { ncpus: 2 } }),
    },
    {
      name: "the first alternative has no room beside the rest, the second has",
      value: [{ or: [{ ncpus: 2 }, { disk: 60 }] }, { ncpus: 3, mem: 2 }],
      expected: met({ space: 1, takes: { ncpus: 3, mem: { amount: 2, unit: "g" }, disk: 60 } }),
    },
    {
      name: "so it is within all that must hold",
      value: [{ ncpus: 3 }, { and: [{ disk: 50 }, { or: [{ ncpus: 2 }, { disk: 60 }, { disk: 40 }] }] }],
      expected: met({ space: 1, takes: { ncpus: 3, disk: 90 } }),
    },
    {
      name: "no alternative has room beside the rest: the first that holds alone is named",
      value: [{ ncpus: 3 }, { or: [{ ngpus: 1 }, { ncpus: 2 }, { ncpus: 4 }] }],
      expected: "ncpus: 5 asked of one node, 4 offered",
    },
    {
      name: "no alternative holds",
      value: { or: [{ ngpus: 1 }, { rack: "r2" }] },
      expected: "meets none of the alternatives (has no resource ngpus; rack is r1, asked is r2)",
    },
    {
      name: "two alternatives of which only one may hold",
      value: { xor: [{ ncpus: 1 }, { rack: "r?" }] },
      expected: "meets 2 alternatives where exactly one must hold",
    },
    { name: "what must not hold takes nothing", value: { not: { ncpus: 5 } }, expected: met() },
    {
      name: "what must not hold does",
      value: { not: { rack: "r*" } },
      expected: "is what the job excludes with not",
    },
    { name: "never", value: { never: "closed on Sundays" }, expected: "closed on Sundays" },
    { name: "exclusive: one slot", value: { exclusive: true }, expected: met({ space: 1, closes: "job" }) },
    {
      name: "exclusive where somebody is",
      value: { exclusive: true },
      given: { jobs: ["me"] },
      expected: "must be free of other jobs, and has me",
    },
    {
      name: "tasks of one job share an exclusive node",
      value: { "exclusive-task": true },
      given: { jobs: ["me"] },
      expected: met({ closes: "task" }),
    },
    {
      name: "a pool bounds the slots",
      value: { pool: { lic: 2 } },
      given: { pools: [{ name: "lic", total: 10, used: 5 }] },
      expected: met({ space: 2 }),
    },
    {
      name: "a pool that is short",
      value: { pool: { lic: 6 } },
      given: { pools: [{ name: "lic", total: 10, used: 5 }] },
      expected: "pool lic: 6 asked, 5 left",
    },
    {
      name: "a shared mark with another value",
      value: { pool: { shift: "night" } },
      given: { pools: [{ name: "shift", total: 0, used: 0, value: "day" }] },
      expected: "pool shift is day, asked is night",
    },
    { name: "no placement group asked", value: { "in-a-placement-group": false }, expected: met() },
    {
      name: "a placement group asked",
      value: { "in-a-placement-group": true },
      expected: "is not in a placement group",
    },
  ])("$name", ({ value, given, expected }) => {
    expect(judge(value, given)).toEqual(expected);
  });
});
