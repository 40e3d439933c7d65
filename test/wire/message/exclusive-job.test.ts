import { expect, test } from "vitest";
import { lineOf, readMembers, updateOf } from "../context.ts";

const EXCLUSIVE = { kind: "exclusive", scope: "job", wanted: true };
const NCPUS = { kind: "amount", resource: "ncpus", amount: 2 };

test.each([
  { name: "alone", job: { exclusive: true }, constraints: [EXCLUSIVE] },
  {
    name: "beside an amount, wherever it is written",
    job: { exclusive: true, constraints: { ncpus: 2 } },
    constraints: [EXCLUSIVE, NCPUS],
  },
  {
    name: "said twice is said once",
    job: { exclusive: true, constraints: [{ exclusive: true }, { ncpus: 2 }] },
    constraints: [EXCLUSIVE, NCPUS],
  },
  { name: "false says nothing", job: { exclusive: false, constraints: { ncpus: 2 } }, constraints: [NCPUS] },
  {
    name: "false does not take back what a constraint says",
    job: { exclusive: false, constraints: { exclusive: true } },
    constraints: [EXCLUSIVE],
  },
  {
    name: "beside alternatives of which one is exclusive anyway",
    job: { exclusive: true, constraints: { or: [{ exclusive: true, ncpus: 2 }, { ncpus: 2 }] } },
    constraints: [EXCLUSIVE, { kind: "or", of: [{ kind: "and", of: [EXCLUSIVE, NCPUS] }, NCPUS] }],
  },
])("exclusive as a key of the job: $name", ({ job, constraints }) => {
  const { demands, rejectedJobs } = updateOf(readMembers({ jobs: [{ name: "j", ...job }] })).demand;
  expect(rejectedJobs).toEqual([]);
  expect(demands).toMatchObject([{ constraints }]);
});

test("the key and the constraint give one digest", () => {
  const digestOf = (job: object) => updateOf(readMembers({ jobs: [{ name: "j", ...job }] })).digest;
  expect(digestOf({ exclusive: true })).toBe(digestOf({ constraints: [{ exclusive: true }] }));
});

test.each([
  { value: "true", found: "text of 4 characters" },
  { value: 1, found: "1" },
  { value: null, found: "null" },
  { value: ["job"], found: "list of 1 item" },
])("exclusive: $found is refused", ({ value, found }) => {
  const { rejectedJobs } = updateOf(readMembers({ jobs: [{ name: "j", exclusive: value }] })).demand;
  expect(rejectedJobs.flatMap(({ problems }) => problems.map(lineOf))).toEqual([
    `jobs[0].exclusive: ${found} -> true or false`,
  ]);
});
