import { describe, expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import { explainJob } from "../../../src/decide/explain/explain-job.ts";
import { storeLoads } from "../../../src/decide/need/weigh.ts";
import type { Constraint } from "../../../src/domain/constraint.ts";
import type { World } from "../../../src/domain/world.ts";
import type { RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName, nodeId, requestId, setName } from "../../../src/domain/ids.ts";
import type { NodeVerdict } from "../../../src/domain/node-verdict.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import type { Ledger, LedgerNode } from "../../../src/domain/ledger.ts";
import { inArrays } from "../../support/build-constraints.ts";
import { bucket, job, limit, node, NOW, offer, target, world } from "../../golden/small-world.ts";
import { explainNode } from "../../../src/decide/explain/explain-node.ts";

const policy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "existing-first",
  among: "priority",
} as const;

/** The plan of a world, with a verdict for each node: needed, or idle. */
function planOf(where: World, demands: readonly RankedDemand[], more: Partial<Plan> = {}): Plan {
  const allocation = allocate(where, demands, policy, NOW);
  const verdictOf = (by: readonly string[] | undefined): NodeVerdict =>
    by === undefined ? { kind: "idle", idleSeconds: 60, idleTimeoutSeconds: 300 } : { kind: "needed", by };
  return {
    number: 7,
    at: NOW,
    creates: allocation.creates,
    terminates: [],
    demands: allocation.outcomes,
    nodes: new Map(where.nodes.map(({ nodeId: id }) => [id, verdictOf(allocation.needed.get(id))])),
    loads: storeLoads(allocation),
    ...more,
  };
}

function known(id: string, name: string, more: Partial<LedgerNode> = {}): LedgerNode {
  return {
    nodeId: nodeId(id),
    name,
    array: arrayName("execute"),
    requestId: requestId("request-1"),
    purpose: { kind: "array" },
    firstSeenAt: NOW,
    busyness: { state: "unknown", since: NOW },
    ...more,
  };
}

const ledgerOf = (...nodes: readonly LedgerNode[]): Ledger => new Map(nodes.map((one) => [one.nodeId, one]));

const ledger = ledgerOf(
  known("n1", "execute-1", { hostname: "ip-1.internal", instanceId: "vm-1" }),
  known("n2", "execute-2", { hostname: "ip-2.internal" }),
);

/** Two nodes of four cores, one node in flight, and room for one new one. */
const small = world([offer("execute/D4", 4, [1])], [limit("cluster", "", "nodes", 3, 4)], {
  nodes: [node("n1", "ip-1.internal"), node("n2", "ip-2.internal")],
  inFlight: [
    { bucket: bucket("execute/D4"), purpose: { kind: "array" }, resources: { ncpus: 4 }, cores: 4, count: 1 },
  ],
});

describe("a job", () => {
  test("on existing nodes, in flight, to be created, and not at all", () => {
    const wide = job({
      id: "wide",
      iterations: 21,
      placed: [{ hostname: "ip-2", iterations: 2 }],
    });
    const told = explainJob(planOf(small, [wide]), ledger, "wide");
    expect(told).toMatchObject({
      kind: "demand",
      set: "standard",
      asked: 21,
      placed: 16,
      pending: 8,
      rank: 1,
      ranks: 1,
      places: [
        { origin: "existing", nodeId: "n1", name: "ip-1.internal", slots: 4, bound: false },
        { origin: "existing", nodeId: "n2", name: "ip-2.internal", slots: 2, bound: true },
        { origin: "existing", nodeId: "n2", name: "ip-2.internal", slots: 2, bound: false },
        { origin: "in-flight", nodes: 1, slots: 4 },
        { origin: "planned", nodes: 1, slots: 4 },
      ],
    });
    expect(told.kind === "demand" && told.text.split("\n")).toEqual([
      "job standard/wide asks for 21 slots; rank 1 of 1",
      "16 of 21 placed, 8 of them waiting for nodes to come up",
      "on ip-1.internal (4 slots), ip-2.internal (2 slots, running), ip-2.internal (2 slots)",
      "in flight: 1 node of execute/D4 (4 slots)",
      "to be created: 1 node of execute/D4 (4 slots)",
      "5 slots not placed:",
      "- cluster: 4 of 4 nodes used, 2 more needed, 0 left",
      "2 more nodes of the cluster would place all of it",
    ]);
  });

  const full = world([offer("execute/D4", 4, [1])], [limit("cluster", "", "nodes", 4, 4)]);

  test("the remedy counts what jobs before it lack of the same limit", () => {
    const plan = planOf(full, [
      job({ id: "first", position: 0, iterations: 8 }),
      job({ id: "second", position: 1, iterations: 4 }),
      job({ id: "third", position: 2, iterations: 4 }),
    ]);
    const told = explainJob(plan, new Map(), "third");
    expect(told).toMatchObject({ rank: 3, ranks: 3, ahead: [] });
    expect(told.kind === "demand" && told.text.split("\n").at(-1)).toBe(
      "with the 2 jobs before it: 4 more nodes of the cluster would place all of it",
    );
  });

  test("the remedy of one far behind is for itself, with what those of higher rank lack of the same limit", () => {
    const plan = planOf(
      full,
      Array.from({ length: 20 }, (_, i) => job({ id: `j${i}`, position: i, iterations: 4 })),
    );
    const told = explainJob(plan, new Map(), "j18");
    // Eight are tried: the last of them needs 8 nodes. Ten more come before this one.
    expect(told).toMatchObject({ ahead: [{ raise: { more: 18 }, demands: 18 }] });
    expect(told.kind === "demand" && told.text.split("\n").slice(-2)).toEqual([
      "after what is unmet before it: at most 1 more node of the cluster would place all of it",
      "18 demands of higher rank lack 18 more nodes there themselves, and are served first",
    ]);
  });

  test("of two sets the one that was named, else the first in rank", () => {
    const other = { ...job({ position: 1, iterations: 2 }), set: setName("other") };
    const plan = planOf(small, [job(), other]);
    expect(explainJob(plan, ledger, "a")).toMatchObject({ set: "standard", asked: 1, alsoIn: ["other"] });
    expect(explainJob(plan, ledger, "a", setName("other"))).toMatchObject({ set: "other", asked: 2 });
    expect(explainJob(plan, ledger, "a", setName("third"))).toMatchObject({ kind: "unknown" });
  });

  test("a target has the nodes that are needed for it", () => {
    const told = explainJob(planOf(small, [target(2)]), ledger, "t");
    expect(told.kind === "demand" && told.text.split("\n")).toEqual([
      "target standard/t asks for 2 nodes; rank 1 of 1",
      "2 of 2 placed",
      "on ip-1.internal, ip-2.internal",
    ]);
  });

  test("an unknown name has the nearest known ones", () => {
    const plan = planOf(small, [job({ id: "render-12" }), job({ id: "render-13", position: 1 })]);
    expect(explainJob(plan, ledger, "rendr-13")).toEqual({
      kind: "unknown",
      name: "rendr-13",
      nearest: ["render-13", "render-12"],
    });
  });
});

describe("a node", () => {
  const plan = planOf(small, [
    job({ id: "runs", iterations: 2, placed: [{ hostname: "ip-1", iterations: 2 }] }),
    job({ id: "waits", position: 1 }),
  ]);

  test.each([
    { by: "NodeId", name: "n1" },
    { by: "name", name: "execute-1" },
    { by: "hostname", name: "ip-1.internal" },
    { by: "hostname without its domain, in capitals", name: "IP-1" },
    { by: "instance id", name: "vm-1" },
  ])("by $by: who needs it, and what is on it", ({ name }) => {
    const told = explainNode(plan, ledger, name);
    expect(told).toMatchObject({
      kind: "node",
      nodeId: "n1",
      neededBy: ["standard/runs", "standard/waits"],
      load: [
        { set: "standard", id: "runs", slots: 2, bound: true },
        { set: "standard", id: "waits", slots: 1, bound: false },
      ],
    });
    expect(told.kind === "node" && told.text.split("\n")).toEqual([
      "node execute-1 of execute, host ip-1.internal (n1), made for array execute",
      "needed by standard/runs, standard/waits",
      "on it: 2 slots of standard/runs (running), 1 slot of standard/waits",
    ]);
  });

  test("one that no demand needs says why it stays for now", () => {
    const told = explainNode(plan, ledger, "ip-2");
    expect(told.kind === "node" && told.text.split("\n")).toEqual([
      "node execute-2 of execute, host ip-2.internal (n2), made for array execute",
      "stays for now: idle for 60 of 300 s",
    ]);
  });

  test("with the configuration in force: its array's timeouts; a node that is gone has none", () => {
    const rules = {
      idleTimeoutSeconds: 300,
      bootTimeoutSeconds: 3600,
      idleTimeouts: new Map([["execute", 90]]),
    };
    const gone = ledgerOf(...ledger.values(), known("n0", "execute-0", { goneAt: NOW }));
    const told = explainNode(plan, gone, "ip-2", { rules });
    expect(told).toMatchObject({ timeouts: { idleSeconds: 90, bootSeconds: 3600 } });
    expect(told.kind === "node" && told.text.split("\n").at(-1)).toBe("its timeouts: idle 90 s, boot 3600 s");
    expect(explainNode(plan, gone, "execute-0", { rules })).toHaveProperty("timeouts", undefined);
  });

  test("one that this plan stops, one that counts towards a target, one that is gone", () => {
    const stopping = planOf(small, [target(1)], { terminates: [nodeId("n2")] });
    const gone = ledgerOf(...ledger.values(), known("n0", "execute-0", { goneAt: NOW }));
    const lastLine = (name: string): string | undefined => {
      const told = explainNode(stopping, gone, name);
      return told.kind === "node" ? told.text.split("\n").at(-1) : undefined;
    };
    expect(lastLine("n2")).toBe("this plan terminates it");
    expect(lastLine("n1")).toBe("no job has a slot on it: it counts towards a target");
    expect(lastLine("n0")).toBe(
      "has been gone since 2025-11-20T11:00:00.000Z: this app did not stop it; it was ended in CycleCloud, or its machine was lost or evicted",
    );
    const mark = { since: NOW, by: "idle", plan: 7 } as const;
    const endOf = (attempts: number) => {
      const node = known("n0", "execute-0", { goneAt: NOW, draining: { ...mark, attempts } });
      const told = explainNode(stopping, ledgerOf(node), "n0");
      return told.kind === "node" ? told.text : undefined;
    };
    expect(endOf(1)).toContain("plan 7 stopped it, because it was idle and not needed");
    expect(endOf(0)).toContain("and no stop of ours was accepted");
  });

  test("one that another tool made, and one that would be stopped in observe mode", () => {
    const { requestId: _none, ...foreign } = known("n2", "execute-2");
    const withheld = { creates: [], starts: [], terminates: [nodeId("n2")] };
    const told = explainNode(
      planOf(small, [target(1)], { mode: "observe", withheld }),
      ledgerOf(foreign),
      "n2",
    );
    expect(told.kind === "node" && told.text.split("\n")).toEqual([
      "node execute-2 of execute (n2), made by another tool; counts for array execute",
      "stays for now: idle for 60 of 300 s",
      "this plan would stop it, but the mode is observe",
      "array execute: observing only",
    ]);
  });

  test("a name used again means the node that is there", () => {
    const twice = ledgerOf(known("old", "execute-1", { goneAt: NOW }), ...ledger.values());
    expect(explainNode(plan, twice, "execute-1")).toMatchObject({ nodeId: "n1" });
  });

  test("an unknown name has the nearest known ones", () => {
    expect(explainNode(plan, ledger, "execut-2")).toEqual({
      kind: "unknown",
      name: "execut-2",
      nearest: ["execute-2", "execute-1"],
    });
  });
});

describe("loads as a plan stores them", () => {
  test("jobs in a row with equally many slots are one run", () => {
    const alike = Array.from({ length: 4 }, (_, i) => job({ id: `j${i}`, position: i }));
    expect(planOf(small, alike).loads).toEqual({
      buckets: [bucket("execute/D4")],
      loads: [{ origin: "existing", bucket: 0, nodeId: "n1", count: 1, jobs: [[0, 3, 1]] }],
      cut: 0,
    });
  });

  test("100,000 jobs on 1,000 nodes are small, and what is beyond 20,000 nodes is counted", () => {
    const outcomes = Array.from({ length: 100_000 }, (_, i) => ({
      set: setName("standard"),
      id: `job-${i}`,
      kind: "job" as const,
      unit: "slots" as const,
      asked: 1,
      placed: 1,
      pending: 0,
      reasons: [],
    }));
    const load = (first: number, jobs: number) => ({
      origin: "planned" as const,
      bucket: bucket("execute/D4"),
      count: 1,
      jobs: Array.from({ length: jobs }, (_, i) => ({
        by: `standard/job-${first + i}`,
        slots: 1,
        bound: false,
      })),
    });
    const packed = storeLoads({
      outcomes,
      loads: Array.from({ length: 1000 }, (_, i) => load(i * 100, 100)),
    });
    expect(packed.loads[999]).toEqual({
      origin: "planned",
      bucket: 0,
      count: 1,
      jobs: [[99_900, 99_999, 1]],
    });
    expect(JSON.stringify(packed).length).toBeLessThan(100_000);
    const many = storeLoads({ outcomes, loads: Array.from({ length: 20_005 }, (_, i) => load(i, 1)) });
    expect([many.loads.length, many.cut]).toEqual([20_000, 5]);
  });
});

describe("a job by the name that its scheduler prints", () => {
  const known = ["15.server", "13[].server", "102_[1-20%5]", "5_[2-20]", "7.a", "7.b", "8", "80"];
  const plan = planOf(
    small,
    known.map((id) => job({ id })),
  );

  test.each([
    { asked: "15", id: "15.server" },
    { asked: "13", id: "13[].server" },
    { asked: "13[4]", id: "13[].server" },
    { asked: "13[4].server", id: "13[].server" },
    { asked: "102", id: "102_[1-20%5]" },
    { asked: "5_7", id: "5_[2-20]" },
    { asked: "8", id: "8" },
  ])("$asked is $id", ({ asked, id }) => {
    expect(explainJob(plan, ledger, asked)).toMatchObject({ kind: "demand", id });
  });

  test.each([
    { asked: "7", nearest: ["7.a", "7.b"] },
    { asked: "5_1", nearest: [] },
    { asked: "1", nearest: ["8"] },
  ])("$asked is not one of them", ({ asked, nearest }) => {
    expect(explainJob(plan, ledger, asked)).toEqual({ kind: "unknown", name: asked, nearest });
  });

  test("a remedy that would repeat the reason says what is left to do", () => {
    const lost = job({ id: "lost", constraints: [inArrays("compute")] });
    expect(textLines(explainJob(planOf(small, [lost]), ledger, "lost")).slice(-2)).toEqual([
      '- node array "compute" does not exist in the cluster (known: execute)',
      "no raise of a limit helps: change what it asks for",
    ]);
  });

  test("the same if one reason stands for several buckets", () => {
    const offers = ["execute/D4", "execute/D8", "hpc/D4", "hpc/D8"].map((at) =>
      offer(at, at.endsWith("4") ? 4 : 8, []),
    );
    const said = (one: Constraint) =>
      textLines(
        explainJob(planOf(world(offers, []), [job({ id: "lost", constraints: [one] })]), ledger, "lost"),
      ).slice(-2);
    const notALimit = "no raise of a limit helps: change what it asks for";
    expect(said({ kind: "amount", resource: "ncpu", amount: 1 })).toEqual([
      "- 2 VM sizes of execute, 2 of hpc: has no resource ncpu (nearest: ncpus)",
      notALimit,
    ]);
    expect(said({ kind: "resource-choice", resource: "ncpus", choices: [3] })).toEqual([
      "- 2 VM sizes of execute, 2 of hpc: ncpus is 4, 8, asked is 3",
      notALimit,
    ]);
  });
});

const textLines = (told: ReturnType<typeof explainJob>): readonly string[] =>
  "text" in told ? told.text.split("\n") : [];
