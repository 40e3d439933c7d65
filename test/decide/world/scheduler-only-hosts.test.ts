import { describe, expect, test } from "vitest";
import { nodeId } from "../../../src/domain/ids.ts";
import type { Ledger } from "../../../src/domain/ledger.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildLedger,
  buildNode,
  buildSnapshot,
  D8,
  idleSince,
  rememberNode,
} from "../../support/build-node.ts";
import { buildState } from "../../support/build-record.ts";
import { MODES } from "../../support/modes.ts";
import { countCreated, decideOn, push } from "../../support/push-message.ts";

/** Nothing there; new nodes have 8 cores. */
const none = buildSnapshot([], { arrays: [buildArray("execute", { buckets: [buildBucket(D8, 8)] })] });
const job = (name: string, ncpus: number, more: object = {}) => ({ name, constraints: [{ ncpus }], ...more });
/** An idle host of 64 cores that is no node of the cluster. */
const host = (more: object = {}, hostname = "rack7") => ({
  hostname,
  jobs: [],
  resources: { ncpus: 64 },
  ...more,
});

describe.each(MODES)("a host that only the scheduler knows, with $preference and $among", (policy) => {
  const created = (sets: Parameters<typeof push>[0], snapshot = none): number =>
    countCreated(decideOn(push(sets), snapshot, { policy }));

  test.each([
    { name: "a job that fits there", jobs: [job("j", 8)], expected: 0 },
    { name: "slots beyond what it holds", jobs: [job("j", 8, { iterations: 10 })], expected: 2 },
    { name: "a job that is larger than any new node", jobs: [job("j", 64)], expected: 0 },
    { name: "a gang of one", jobs: [job("j", 8, { "node-count": 1 })], expected: 0 },
    { name: "a gang that needs more nodes", jobs: [job("j", 8, { "node-count": 2 })], expected: 2 },
    {
      name: "a job for one node array",
      jobs: [{ name: "j", constraints: [{ "node.nodearray": "execute" }, { ncpus: 1 }] }],
      expected: 1,
    },
    {
      name: "a job for this host",
      jobs: [{ name: "j", constraints: [{ "node.hostname": "rack7" }, { ncpus: 1 }] }],
      expected: 0,
    },
    {
      name: "a resource that no report has",
      jobs: [{ name: "j", constraints: [{ ncpus: 1, mem: "memory::1g" }] }],
      expected: 1,
    },
    {
      name: "two jobs, one that wants it alone",
      jobs: [{ name: "a", constraints: [{ ncpus: 1, exclusive: true }] }, job("b", 8)],
      expected: 1,
    },
    {
      name: "either of two resources",
      jobs: [{ name: "j", constraints: [{ or: [{ ngpus: 1 }, { ncpus: 8 }] }] }],
      expected: 0,
    },
  ])("$name", ({ jobs, expected }) => {
    expect(created({ standard: { jobs, schedulerNodes: [host()] } })).toBe(expected);
  });

  test("is for jobs of the sets that report it, and of no other", () => {
    const other = { jobs: [job("j", 8)] };
    const reporting = { jobs: [], schedulerNodes: [host()] };
    expect(created({ pbs: reporting, slurm: other })).toBe(1);
    expect(created({ pbs: reporting, slurm: { ...other, ...reporting, jobs: other.jobs } })).toBe(0);
    expect(created({ pbs: { ...reporting, jobs: [job("j", 64)] }, slurm: other })).toBe(1);
    // Of one class, so that the second would go where the first ended.
    expect(created({ pbs: { ...reporting, jobs: other.jobs }, slurm: other })).toBe(1);
  });

  test.each([
    { name: "closed", more: { state: "closed" } },
    { name: "down", more: { state: "down" } },
    { name: "offline", more: { state: "offline" } },
    { name: "with nothing left", more: { available: { ncpus: 0 } } },
    { name: "of which nothing is said", more: { resources: {} } },
    { name: "of which other things are said", more: { resources: { rack: "r1" } } },
    { name: "with a job whose amounts are unknown", more: { jobs: ["other"] } },
  ])("is none $name", ({ more }) => {
    expect(created({ standard: { jobs: [job("j", 8)], schedulerNodes: [host(more)] } })).toBe(1);
  });

  test("is one while it is open, or its scheduler says nothing of that", () => {
    const of = (more: object) => created({ standard: { jobs: [job("j", 8)], schedulerNodes: [host(more)] } });
    expect([{ state: "open" }, {}, { jobs: ["other"], available: { ncpus: 8 } }].map(of)).toEqual([0, 0, 0]);
  });

  test("is occupied by what runs there", () => {
    const running = job("run", 60, { placed: [{ hostname: "rack7.site.example", iterations: 1 }] });
    const of = (ncpus: number) =>
      created({ standard: { jobs: [running, job("j", ncpus)], schedulerNodes: [host({ jobs: ["run"] })] } });
    expect([4, 5].map(of)).toEqual([0, 1]);
  });

  test("counts for no target, no limit and no cap", () => {
    const arrays = [buildArray("execute", { limit: { count: 1 }, buckets: [buildBucket(D8, 8)] })];
    const sets = {
      standard: {
        nodearrays: [{ Name: "execute", TargetCount: 1 }],
        jobs: [job("j", 64), job("k", 8, { priority: -1 })],
        schedulerNodes: [host()],
      },
    };
    const caps = { requestSets: new Map([["standard", { nodes: 1 }]]), users: new Map() };
    const { plan } = decideOn(push(sets), { ...none, arrays }, { policy: { ...policy, caps } });
    expect(plan.demands.map(({ id, placed }) => `${id} ${placed}`).toSorted()).toEqual([
      "j 1",
      "k 1",
      "nodearray:execute 1",
    ]);
    expect(plan.creates.map(({ count }) => count)).toEqual([1]);
    expect([plan.nodes.size, plan.terminates, plan.starts]).toEqual([0, [], undefined]);
  });
});

describe("hosts that were or will be nodes of the cluster", () => {
  const created = (hostname: string, nodes = none.nodes, ledger: Ledger = new Map()) => {
    const state = push(
      { standard: { jobs: [job("j", 8)], schedulerNodes: [host({}, hostname)] } },
      buildState({ ledger }),
    );
    return countCreated(decideOn(state, { ...none, nodes }));
  };
  const node = buildNode("a", { machineType: D8, hostname: "custom1.site.example", privateIp: "10.0.4.4" });

  test.each(["custom1", "CUSTOM1.other.example", "execute-a", "10.0.4.4"])(
    "%s is no capacity once its node is gone, or on its way",
    (hostname) => {
      expect(created(hostname)).toBe(0);
      expect(created(hostname, [{ ...node, phase: "going" }])).toBe(1);
      expect(created(hostname, [{ ...node, phase: "off" }])).toBe(1);
      const gone = { ...rememberNode(node, { goneAt: at(-60) }) };
      // The ledger knows no addresses.
      if (hostname !== "10.0.4.4") expect(created(hostname, [], buildLedger([gone]))).toBe(1);
    },
  );

  test.each(["ip-0A000404", "ip-0a000404.internal", "execute-17", "lab-execute-3", "EXECUTE-1"])(
    "%s is called as CycleCloud calls them, and no capacity even when our memory is lost",
    (hostname) => {
      expect(created(hostname)).toBe(1);
    },
  );

  test("are remembered for an hour, and for as long as a report in force gives them resources", () => {
    const gone = buildLedger([rememberNode(node, { goneAt: at(-7200), hostname: "custom1" })]);
    const of = (hostname: string) => {
      const state = push(
        { standard: { jobs: [], schedulerNodes: [host({}, hostname)] } },
        buildState({ ledger: gone }),
      );
      return decideOn(state, none).ledger.has(nodeId("a"));
    };
    expect([of("custom1"), of("other1")]).toEqual([true, false]);
  });
});

describe("a node of ours", () => {
  const idle = buildNode("a", { machineType: D8 });
  const ledger = buildLedger([rememberNode(idle, idleSince(at(-3000)))]);

  test("is let go when the demand fits on a host that only the scheduler knows", () => {
    const reports = [host(), { hostname: "ip-a", jobs: [], state: "closed" }];
    const of = (schedulerNodes: readonly object[]) => {
      const state = push({ standard: { jobs: [job("j", 8)], schedulerNodes } }, buildState({ ledger }));
      return decideOn(state, { ...none, nodes: [idle] }).plan.nodes.get(idle.nodeId)?.kind;
    };
    expect([of(reports), of(reports.slice(1))]).toEqual(["draining", "needed"]);
  });
});

describe("jobs of two sets that ask for the same", () => {
  test("one goes to its host, although the other has just gone to a node with room for both", () => {
    const node = buildNode("a", { machineType: D8 });
    const state = push({
      a: { jobs: [job("first", 1)] },
      pbs: { jobs: [job("second", 1)], schedulerNodes: [host()] },
    });
    const { plan } = decideOn(state, { ...none, nodes: [node] });
    expect(plan.nodes.get(node.nodeId)).toEqual({ kind: "needed", by: ["a/first"] });
    expect(plan.demands.map(({ placed }) => placed)).toEqual([1, 1]);
  });
});

describe("many hosts", () => {
  test("are used one after the other, and gangs that may span take alike ones", () => {
    const hosts = Array.from({ length: 300 }, (_, i) => host({}, `rack${i + 1}`));
    const of = (jobs: readonly object[]) =>
      countCreated(decideOn(push({ standard: { jobs, schedulerNodes: hosts } }), none));
    expect(of([job("j", 8, { iterations: 2400 })])).toBe(0);
    expect(of([job("j", 8, { iterations: 2401 })])).toBe(1);
    expect(of(Array.from({ length: 600 }, (_, i) => job(`j${i}`, 32)))).toBe(0);
    expect(of([job("j", 64, { "node-count": 300 })])).toBe(0);
  });
});
