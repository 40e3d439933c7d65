import { describe, expect, test } from "vitest";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildNode,
  buildNodes,
  buildSnapshot,
  D8,
  NOW,
} from "../../support/build-node.ts";
import { OURS } from "../../support/build-record.ts";
import { MODES } from "../../support/modes.ts";
import { countCreated, decideOn, push } from "../../support/push-message.ts";

/** Up, 8 cores and 32 GiB as we compute it, host ip-a. */
const eight = buildNode("a", { machineType: D8 });
const oneNode = buildSnapshot([eight], {
  arrays: [buildArray("execute", { buckets: [buildBucket(D8, 8)] })],
});
const job = (name: string, ncpus: number, more: object = {}) => ({ name, constraints: [{ ncpus }], ...more });
const report = (more: object, hostname = "ip-a") => ({ hostname, jobs: [], ...more });

describe.each(MODES)("with $preference and $among", (policy) => {
  test.each([
    { name: "as much as is left: it is used", ncpus: 2, reported: { available: { ncpus: 2 } }, created: 0 },
    { name: "more than is left: a new node", ncpus: 8, reported: { available: { ncpus: 2 } }, created: 1 },
    { name: "more than the host has in all", ncpus: 8, reported: { resources: { ncpus: 4 } }, created: 1 },
    { name: "nothing is reported", ncpus: 8, reported: {}, created: 0 },
    { name: "less than zero is left", ncpus: 1, reported: { available: { ncpus: -3 } }, created: 1 },
    { name: "a value that says nothing", ncpus: 8, reported: { resources: { ncpus: null } }, created: 0 },
    { name: "other resources stay", ncpus: 8, reported: { available: { mem: "memory::1g" } }, created: 0 },
  ])("a job for $ncpus cores, $name", ({ ncpus, reported, created }) => {
    const state = push({ standard: { jobs: [job("j", ncpus)], schedulerNodes: [report(reported)] } });
    const decision = decideOn(state, oneNode, { policy });
    expect({ created: countCreated(decision), placed: decision.plan.demands[0]?.placed }).toEqual({
      created,
      placed: 1,
    });
  });

  test("what runs on the host is in what is left already, and is not subtracted again", () => {
    const running = job("run", 1, { iterations: 6, placed: [{ hostname: "ip-a", iterations: 6 }] });
    const hosts = [report({ jobs: ["run"], resources: { ncpus: 8 }, available: { ncpus: 2 } })];
    const next = (ncpus: number) =>
      push({ standard: { jobs: [running, job("j", ncpus)], schedulerNodes: hosts } });
    expect(countCreated(decideOn(next(2), oneNode, { policy }))).toBe(0);
    expect(countCreated(decideOn(next(3), oneNode, { policy }))).toBe(1);
  });

  test("what runs there takes of resources of which nothing is reported left", () => {
    const amounts = { ncpus: 1, mem: "memory::30g" };
    const running = { name: "run", constraints: [amounts], placed: [{ hostname: "ip-a", iterations: 1 }] };
    const next = (mem: string) => ({ name: "j", constraints: [{ ncpus: 1, mem }] });
    const hosts = [report({ jobs: ["run"], available: { ncpus: 7 } })];
    const of = (mem: string) => push({ standard: { jobs: [running, next(mem)], schedulerNodes: hosts } });
    expect(countCreated(decideOn(of("memory::2g"), oneNode, { policy }))).toBe(0);
    expect(countCreated(decideOn(of("memory::3g"), oneNode, { policy }))).toBe(1);
  });

  test("a job that the report names runs there, also where the job itself does not say so", () => {
    const hosts = [report({ jobs: ["run"], available: { ncpus: 0 } })];
    const state = push({ standard: { jobs: [job("run", 8)], schedulerNodes: hosts } });
    const { plan } = decideOn(state, oneNode, { policy });
    expect(plan.creates).toEqual([]);
    expect(plan.nodes.get(eight.nodeId)).toEqual({ kind: "needed", by: ["standard/run"] });
  });

  test("sizes in any unit, and plain numbers in the unit that the resource has", () => {
    const next = (mem: unknown) => ({ name: "j", constraints: [{ mem }] });
    const of = (mem: unknown, reported: unknown) =>
      push({ standard: { jobs: [next(mem)], schedulerNodes: [report({ available: { mem: reported } })] } });
    for (const reported of ["memory::4g", "memory::4096m", 4]) {
      expect(countCreated(decideOn(of("memory::4g", reported), oneNode, { policy }))).toBe(0);
      expect(countCreated(decideOn(of("memory::5g", reported), oneNode, { policy }))).toBe(1);
      expect(countCreated(decideOn(of(4, reported), oneNode, { policy }))).toBe(0);
    }
  });

  test("a job that wants a node to itself does not get one on which the scheduler runs something", () => {
    const alone = { name: "j", exclusive: true, constraints: [{ ncpus: 1, exclusive: true }] };
    const { exclusive: _key, ...wanted } = alone;
    const of = (jobs: readonly string[]) =>
      push({ standard: { jobs: [wanted], schedulerNodes: [report({ jobs, available: { ncpus: 4 } })] } });
    expect(countCreated(decideOn(of([]), oneNode, { policy }))).toBe(0);
    expect(countCreated(decideOn(of(["other"]), oneNode, { policy }))).toBe(1);
  });
});

describe("a resource that only the scheduler knows", () => {
  const onScratch = { name: "j", constraints: [{ scratch: 100 }] };

  test.each(MODES.slice(0, 2))("may be more of what we count ($preference, $among)", (policy) => {
    const hosts = [report({ resources: { ncpus: 16 } })];
    const state = push({ standard: { jobs: [job("j", 16)], schedulerNodes: hosts } });
    expect(decideOn(state, oneNode, { policy }).plan.demands[0]?.placed).toBe(1);
  });

  test.each(MODES.slice(0, 2))("is there to be used ($preference, $among)", (policy) => {
    for (const key of ["resources", "available"]) {
      const hosts = [report({ [key]: { scratch: 250 } })];
      const state = push({ standard: { jobs: [{ ...onScratch, iterations: 3 }], schedulerNodes: hosts } });
      const [outcome] = decideOn(state, oneNode, { policy }).plan.demands;
      expect(outcome?.placed).toBe(2);
    }
  });

  test("may be a mark to choose nodes by", () => {
    const nodes = [eight, buildNode("b", { machineType: D8 })];
    const hosts = [
      report({ resources: { rack: "r1", ssd: true } }),
      report({ resources: { rack: "r2", ssd: false } }, "ip-b"),
    ];
    const state = push({
      standard: { jobs: [{ name: "j", constraints: [{ rack: "r2", ncpus: 1 }] }], schedulerNodes: hosts },
    });
    const { plan } = decideOn(state, { ...oneNode, nodes });
    expect([...plan.nodes.values()].map(({ kind }) => kind)).toEqual(
      ["busyness-unknown", "needed"].map((k) => (k === "needed" ? k : expect.any(String))),
    );
  });
});

describe("a report", () => {
  const hosts = [report({ available: { ncpus: 2 } })];

  test("overrides while it is younger than two intervals of its set, and no longer", () => {
    const state = push({
      standard: { sentAt: at(-600), expirationInterval: 300, jobs: [], schedulerNodes: [] },
    });
    expect(state.record.sets.size).toBe(1);
    const sets = (age: number) =>
      push({
        hosts: { sentAt: at(-age), expirationInterval: 300, jobs: [], schedulerNodes: hosts },
        standard: { jobs: [job("j", 8)] },
      });
    expect(countCreated(decideOn(sets(299), oneNode))).toBe(1);
    expect(countCreated(decideOn(sets(301), oneNode))).toBe(0);
  });

  test("of two sets: neither says what is left there, whichever is later", () => {
    const two = (first: number, second: number) => ({
      one: { sentAt: at(first), jobs: [], schedulerNodes: hosts },
      two: { sentAt: at(second), jobs: [], schedulerNodes: [report({ available: { ncpus: 8 } })] },
      standard: { jobs: [job("j", 8)] },
    });
    const reversed = (sets: object) => Object.fromEntries(Object.entries(sets).toReversed());
    for (const order of [(sets: object) => ({ ...sets }), reversed]) {
      expect(countCreated(decideOn(push(order(two(-10, -20))), oneNode))).toBe(0);
      expect(countCreated(decideOn(push(order(two(-20, -10))), oneNode))).toBe(0);
      expect(countCreated(decideOn(push(order(two(-10, -10))), oneNode))).toBe(0);
    }
  });

  test("says nothing of a node that is not up", () => {
    const coming = buildSnapshot([{ ...eight, phase: "coming" }], { arrays: oneNode.arrays });
    const state = push({
      standard: { jobs: [job("j", 8)], schedulerNodes: [report({ available: { ncpus: 0 } })] },
    });
    expect(countCreated(decideOn(state, coming))).toBe(0);
  });

  test("that is the same leaves the plan as it was; another one is planned with", () => {
    const createdWith = (ncpus: number): number => {
      const { record, bodies } = push({
        standard: { jobs: [job("j", 8)], schedulerNodes: [report({ available: { ncpus } })] },
      });
      const observation = { snapshot: oneNode, requestNodes: new Map() };
      return countCreated(decide(record, bodies, observation, DEFAULT_POLICY, NOW, OURS));
    };
    expect([8, 2, 2, 8].map(createdWith)).toEqual([0, 1, 1, 0]);
  });
});

describe("a bucket whose nodes have less than we compute", () => {
  const big = (names: readonly string[], ncpus: number) => ({
    jobs: [job("j", 8)],
    schedulerNodes: names.map((name) => report({ resources: { ncpus } }, `ip-${name}`)),
  });
  const withNodes = (count: number) => ({ ...oneNode, nodes: buildNodes("n", count, { machineType: D8 }) });

  test("gets one more on the word of one node, and none on that of two", () => {
    expect(countCreated(decideOn(push({ standard: big(["n1"], 4) }), withNodes(1)))).toBe(1);
    const { plan } = decideOn(push({ standard: big(["n1", "n2"], 4) }), withNodes(2));
    expect(plan.creates).toEqual([]);
    expect(plan.demands[0]?.reasons.map(renderReason)).toEqual([
      "execute/Standard_D8s_v5: ncpus 8 asked of one node, 4 offered",
    ]);
  });

  test("is believed to have what its best node has", () => {
    const state = push({
      standard: {
        jobs: [job("j", 8, { iterations: 2 })],
        schedulerNodes: [4, 8, 4].map((ncpus, i) => report({ resources: { ncpus } }, `ip-n${i + 1}`)),
      },
    });
    expect(countCreated(decideOn(state, withNodes(3)))).toBe(1);
  });
});
