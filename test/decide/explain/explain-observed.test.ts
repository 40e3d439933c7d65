import { expect, test } from "vitest";
import { explainJob } from "../../../src/decide/explain/explain-job.ts";
import { explainNode } from "../../../src/decide/explain/explain-node.ts";
import { storeLoads } from "../../../src/decide/need/weigh.ts";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { World } from "../../../src/domain/world.ts";
import type { RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName, nodeId } from "../../../src/domain/ids.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import { bucket, job, limit, node, NOW, offer, target, world } from "../../golden/small-world.ts";
import { buildNode, rememberNodes } from "../../support/build-node.ts";

/** What is said of arrays that a plan only observes. */

const policy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "existing-first",
  among: "priority",
} as const;

function planOf(where: World, demands: readonly RankedDemand[]): Plan {
  const allocation = allocate(where, demands, policy, NOW);
  const { creates, outcomes } = allocation;
  const loads = storeLoads(allocation);
  return { number: 7, at: NOW, creates, terminates: [], demands: outcomes, nodes: new Map(), loads };
}

const ledger = rememberNodes([buildNode("n1"), buildNode("n2")]);

/** Two nodes of four cores, one node in flight, and room for one new one. */
const small = world([offer("execute/D4", 4, [1])], [limit("cluster", "", "nodes", 3, 4)], {
  nodes: [node("n1", "ip-n1"), node("n2", "ip-n2")],
  inFlight: [
    { bucket: bucket("execute/D4"), purpose: { kind: "array" }, resources: { ncpus: 4 }, cores: 4, count: 1 },
  ],
});

test("in observe mode, what would be created is said, and that it is not", () => {
  const acting = planOf(small, [job({ iterations: 16 })]);
  const withheld = { creates: acting.creates, starts: [], terminates: [] };
  const told = explainJob({ ...acting, mode: "observe", creates: [], withheld }, ledger, "a");
  expect(told.kind === "demand" && told.text.split("\n")).toEqual([
    "job standard/a asks for 16 slots; rank 1 of 1",
    "16 of 16 would be placed, 8 of them on nodes that are not up: the mode is observe",
    "on ip-n1 (4 slots), ip-n2 (4 slots)",
    "in flight: 1 node of execute/D4 (4 slots)",
    "would be created, but the mode is observe: 1 node of execute/D4 (4 slots)",
    "the plan would create 1 x execute/D4, but the mode is observe",
    "array execute: observing only",
  ]);
});

test("a target in observe mode: the nodes that it waits for are not created", () => {
  const acting = planOf(world([offer("execute/D4", 4, [])]), [target(4)]);
  const withheld = { creates: acting.creates, starts: [], terminates: [] };
  const told = explainJob({ ...acting, mode: "observe", creates: [], withheld }, ledger, "t");
  expect(told.kind === "demand" && told.text.split("\n")).toEqual([
    "target standard/t asks for 4 nodes; rank 1 of 1",
    "4 of 4 would be placed, 4 of them on nodes that are not up: the mode is observe",
    "the plan would create 4 x execute/D4, but the mode is observe",
    "observing only: nothing is created or stopped",
  ]);
});

const virtual = {
  creates: [{ bucket: bucket("execute/D4"), purpose: { kind: "array" }, count: 2 }],
  starts: [],
  terminates: [nodeId("n1")],
} as const;

test("in an array that is only observed: its mode, and what the virtual fleet did", () => {
  const told = explainJob(
    { ...planOf(small, [job()]), observed: [arrayName("execute"), arrayName("hpc")], virtual },
    ledger,
    "a",
  );
  expect(told.kind === "demand" && told.text.split("\n").slice(-2)).toEqual([
    "array execute: observing only",
    "in the virtual fleet (only in the record) this plan created 2 x execute/D4, stopped 1 node",
  ]);
});

test("in an array that acts, nothing is said of those that are only observed", () => {
  const told = explainJob({ ...planOf(small, [job()]), observed: [arrayName("hpc")], virtual }, ledger, "a");
  expect(told.kind === "demand" && told.text).not.toContain("observing");
});

test("without a place, the arrays that are only observed are named", () => {
  const full = world([offer("execute/D4", 4, [1])], [limit("cluster", "", "nodes", 4, 4)]);
  const none = { creates: [], starts: [], terminates: [] };
  const observed = [arrayName("hpc"), arrayName("htc")];
  const told = explainJob({ ...planOf(full, [job()]), observed, virtual: none }, ledger, "a");
  expect(told.kind === "demand" && told.text.split("\n").slice(-2)).toEqual([
    "arrays hpc, htc: observing only",
    "in the virtual fleet (only in the record) this plan changed nothing",
  ]);
  const all = explainJob({ ...planOf(full, [job()]), mode: "observe" }, ledger, "a");
  expect(all.kind === "demand" && all.text.split("\n").at(-1)).toBe(
    "observing only: nothing is created or stopped",
  );
});

test("a node of an observed array: its mode, and that its copy was stopped", () => {
  const observing = { ...planOf(small, [target(1)]), observed: [arrayName("execute")], virtual };
  const lines = (name: string) => {
    const told = explainNode(observing, ledger, name);
    return told.kind === "node" ? told.text.split("\n").slice(-2) : [];
  };
  expect(lines("n1")).toEqual([
    "array execute: observing only",
    "this plan stopped its copy in the virtual fleet (only in the record)",
  ]);
  expect(lines("n2").at(-1)).toBe("array execute: observing only");
});
