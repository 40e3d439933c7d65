import { expect, test } from "vitest";
import type { JobDemand } from "../../src/domain/demand.ts";
import { noteNoAmounts } from "../../src/domain/no-amount.ts";
import { readConstraints } from "../../src/wire/constraint/constraint.ts";
import { newNotes } from "../../src/wire/json/problems.ts";

const job = (name: string, asks: unknown, more: Partial<JobDemand> = {}): JobDemand => ({
  kind: "job",
  id: name,
  name,
  priority: 0,
  position: 0,
  constraints: readConstraints(asks, "constraints", newNotes()),
  iterations: 1,
  colocated: false,
  placed: [],
  ...more,
});

const asksForNoAmount = (one: JobDemand): boolean => noteNoAmounts([one]).length > 0;

test.each([
  ["nothing at all", [], true],
  ["a VM size", { "node.vm_size": "Standard_F4" }, true],
  ["a pool", { pool: { licence: 1 } }, true],
  ["no cores", { ncpus: 0 }, true],
  ["node tasks by themselves", { "exclusive-task": true }, true],
  ["alternatives of which one takes nothing", { or: [{ ngpus: 1 }, { "node.spot": false }] }, true],
  ["what must not be", { not: { ngpus: 1 } }, true],
  ["cores", { ncpus: 1 }, false],
  ["memory", { mem: "memory::4g" }, false],
  ["half a core and a VM size", { ncpus: 0.5, "node.vm_size": "Standard_F4" }, false],
  ["alternatives that all take something", { or: [{ ngpus: 1 }, { ncpus: 2 }] }, false],
  ["an alternative that nothing meets", { or: [{ ncpus: 1 }, { never: "no" }] }, false],
  ["whole nodes", { exclusive: true }, false],
  ["not exclusive", { exclusive: false }, true],
])("a job that asks for %s asks for no amount: %s", (_, asks, expected) => {
  expect(asksForNoAmount(job("j", asks))).toBe(expected);
});

test("a gang says how many nodes it wants, and a job without slots wants none", () => {
  expect(asksForNoAmount(job("j", [], { nodeCount: 2 }))).toBe(false);
  expect(asksForNoAmount(job("j", [], { iterations: 0 }))).toBe(false);
});

test("each job is named, up to ten of them", () => {
  const jobs = Array.from({ length: 23 }, (_, i) => job(`j${i}`, i === 1 ? { ncpus: 1 } : []));
  const notes = noteNoAmounts(jobs);
  expect(notes).toHaveLength(11);
  expect(notes.slice(0, 2)).toEqual([
    "job j0 asks for no amount: one node per slot",
    "job j2 asks for no amount: one node per slot",
  ]);
  expect(notes.at(-1)).toBe("12 more jobs ask for no amount: one node per slot");
});
