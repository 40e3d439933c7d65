import { describe, expect, test } from "vitest";
import { updateLedger } from "../../../src/decide/nodes/ledger.ts";
import { entryOfNode } from "../../../src/domain/hosts.ts";
import type { Snapshot } from "../../../src/domain/cluster.ts";
import { arrayName, nodeId, requestId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Ledger, LedgerNode } from "../../../src/domain/ledger.ts";
import type { Instant } from "../../../src/domain/units.ts";
import {
  at,
  buildArray,
  buildLedger,
  buildNode,
  buildSnapshot,
  idleSince,
  NOW,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import type { SetScenario } from "../../support/build-record.ts";
import { BUCKET, buildJob, buildState } from "../../support/build-record.ts";
import type { Observation } from "../../../src/domain/observation.ts";
import { managedArrays } from "../../../src/domain/managed-arrays.ts";
import { hostFacts } from "../../../src/decide/senders/host-facts.ts";

const R1 = requestId("r-1");
const policy = DEFAULT_POLICY;

function digestOfAttributes(snapshot: Snapshot, ofRequest: readonly string[] = []): Observation {
  const nodes = ofRequest.map((id) => buildNode(id));
  return { snapshot, requestNodes: new Map([[R1, { askedAt: snapshot.at, nodes }]]) };
}

describe("what schedulers say of hosts", () => {
  const factsOf = (sets: Record<string, SetScenario>, now: Instant = NOW) => {
    const { record, bodies } = buildState({ sets });
    return Object.fromEntries(hostFacts(record, bodies, now));
  };
  const idleReport = [{ hostname: "ip-a", jobs: [] }];
  const long = { expiresAt: at(5000) };

  test.each([
    {
      name: "a report without a job",
      sets: { a: { report: idleReport, sentAt: at(-10) } },
      facts: { "ip-a": { jobs: [], by: ["a"], reportedAt: at(-10) } },
    },
    {
      name: "a report with jobs",
      sets: { a: { report: [{ hostname: "ip-a", jobs: ["7", "8"] }] } },
      facts: { "ip-a": { jobs: ["7", "8"], by: ["a"], reportedAt: NOW } },
    },
    {
      name: "a placed job, without any report",
      sets: { a: { demands: [buildJob("sim", 4, { placed: [{ hostname: "ip-a", iterations: 2 }] })] } },
      facts: { "ip-a": { jobs: ["sim"] } },
    },
    {
      name: "one set reports it idle, another has placed a job there: busy",
      sets: {
        a: { report: idleReport, sentAt: at(-10) },
        b: { demands: [buildJob("sim", 4, { placed: [{ hostname: "ip-a", iterations: 2 }] })] },
      },
      facts: { "ip-a": { jobs: ["sim"], by: ["a"], reportedAt: at(-10) } },
    },
    {
      name: "two idle reports: each must say so, and the older one proves it",
      sets: { a: { report: idleReport, sentAt: at(-10) }, b: { report: idleReport, sentAt: at(-50) } },
      facts: { "ip-a": { jobs: [], by: ["a", "b"], reportedAt: at(-10), idleAt: at(-50) } },
    },
    {
      name: "spelled in other ways, with a domain and in capitals: the same host",
      sets: {
        a: { report: [{ hostname: "IP-A.internal.example", jobs: ["7"] }], sentAt: at(-10) },
        b: { report: idleReport },
      },
      facts: { "ip-a": { jobs: ["7"], by: ["a", "b"], reportedAt: NOW, idleAt: at(-10) } },
    },
    {
      name: "a report almost two intervals old still counts",
      sets: { a: { report: idleReport, sentAt: at(-599.999), ...long } },
      facts: { "ip-a": { jobs: [], by: ["a"], reportedAt: at(-599.999) } },
    },
    {
      name: "a report of two intervals does not",
      sets: { a: { report: idleReport, sentAt: at(-600), ...long } },
      facts: {},
    },
    {
      name: "a report of a lapsed set does not",
      sets: { a: { report: idleReport, live: false } },
      facts: {},
    },
    {
      name: "nor one of a set that has run out",
      sets: { a: { report: idleReport, sentAt: at(-300) } },
      facts: {},
    },
    {
      name: "addresses are compared whole",
      sets: {
        a: {
          report: [
            { hostname: "10.0.0.1", jobs: [] },
            { hostname: "10.0.0.2", jobs: ["7"] },
          ],
        },
      },
      facts: {
        "10.0.0.1": { jobs: [], by: ["a"], reportedAt: NOW },
        "10.0.0.2": { jobs: ["7"], by: ["a"], reportedAt: NOW },
      },
    },
  ])("$name", ({ sets, facts }) => {
    expect(factsOf(sets)).toEqual(facts);
  });

  describe("asked again of the same sets", () => {
    const scenario = { sets: { a: { report: idleReport, sentAt: at(-10), expiresAt: at(700) } } };
    const idle = { "ip-a": { jobs: [], by: ["a"], reportedAt: at(-10) } };

    test.each([
      { name: "a moment before the report is two intervals old", later: 589.999, facts: idle },
      { name: "when it is", later: 590, facts: {} },
      { name: "when the set has run out", later: 700, facts: {} },
      { name: "earlier than before", later: -1, facts: idle },
    ])("$name", ({ later, facts }) => {
      const { record, bodies } = buildState(scenario);
      expect(Object.fromEntries(hostFacts(record, bodies, NOW))).toEqual(idle);
      expect(Object.fromEntries(hostFacts(record, bodies, at(later)))).toEqual(facts);
    });

    test("forward and back again, past the end of the report", () => {
      const { record, bodies } = buildState(scenario);
      expect(hostFacts(record, bodies, at(600)).size).toBe(0);
      expect(Object.fromEntries(hostFacts(record, bodies, NOW))).toEqual(idle);
    });

    test("with other bodies", () => {
      const { record, bodies } = buildState(scenario);
      const others = buildState({ sets: { a: { ...scenario.sets.a, report: [] } } }).bodies;
      expect(hostFacts(record, bodies, NOW).size).toBe(1);
      expect(hostFacts(record, others, NOW).size).toBe(0);
    });

    test("while nothing has run out it is the very same answer", () => {
      const { record, bodies } = buildState(scenario);
      const first = hostFacts(record, bodies, NOW);
      expect(hostFacts(record, bodies, at(60))).toBe(first);
    });
  });

  test.each([
    { name: "by its hostname", node: { hostname: "IP-A.example", name: "execute-1" }, found: true },
    {
      name: "by its name, where the hostname is another",
      node: { hostname: "ip-b", name: "ip-a" },
      found: true,
    },
    { name: "by its name, where it has no hostname yet", node: { name: "ip-a" }, found: true },
    { name: "not at all", node: { hostname: "ip-ab", name: "execute-1" }, found: false },
  ])("a node is found $name", ({ node, found }) => {
    const { record, bodies } = buildState({ sets: { a: { report: idleReport } } });
    expect(entryOfNode(hostFacts(record, bodies, NOW), node) !== undefined).toBe(found);
  });
});

describe("the ledger", () => {
  const noFacts = new Map<string, { jobs: readonly string[]; reportedAt?: Instant }>();
  const busy = new Map([["ip-n1", { jobs: ["7"], reportedAt: NOW }]]);
  const idle = new Map([["ip-n1", { jobs: [], reportedAt: NOW }]]);
  const N1 = nodeId("n1");
  const coming = buildNode("n1", { phase: "coming" });
  const ready = buildNode("n1");
  const see = (
    ledger: Ledger,
    nodes: readonly ReturnType<typeof buildNode>[],
    now: Instant,
    facts = noFacts,
  ) => updateLedger(ledger, digestOfAttributes(buildSnapshot(nodes, { at: now })), [], facts, now);

  test("notes when a node was first seen and when it was first Ready, and keeps both", () => {
    const born = see(new Map(), [coming], at(0));
    const up = see(born, [ready], at(90));
    const rebooting = see(up, [coming], at(200));
    const upAgain = see(rebooting, [ready], at(300));
    const times = [born, up, rebooting, upAgain].map((ledger) => {
      const node = ledger.get(N1);
      return [node?.firstSeenAt, node?.firstReadyAt];
    });
    expect(times).toEqual([
      [at(0), undefined],
      [at(0), at(90)],
      [at(0), at(90)],
      [at(0), at(90)],
    ]);
  });

  test("remembers of which request a node is, and how many were open before that one", () => {
    const [first, second] = [requestId("r-1"), requestId("r-2")];
    const open = [first, second].map((id) => ({
      requestId: id,
      bucket: BUCKET,
      purpose: { kind: "array" } as const,
      added: 2,
      seen: [],
      since: at(0),
    }));
    const look = (shown: readonly [string, string][], now: Instant) => ({
      snapshot: buildSnapshot(
        shown.map(([id]) => buildNode(id, { phase: "coming" })),
        { at: now },
      ),
      requestNodes: new Map(
        [first, second].map((id) => [
          id,
          { askedAt: now, nodes: shown.flatMap(([n, of]) => (of === id ? [buildNode(n)] : [])) },
        ]),
      ),
    });
    const seen = updateLedger(
      new Map(),
      look(
        [
          ["n2", "r-2"],
          ["n1", "r-1"],
        ],
        at(5),
      ),
      open,
      noFacts,
      at(5),
    );
    expect([...seen.values()].map(({ requestId: of, askedAfter }) => [of, askedAfter])).toEqual([
      ["r-2", 1],
      ["r-1", undefined],
    ]);
    // It stays so when the first request is done.
    const later = updateLedger(seen, look([["n2", "r-2"]], at(65)), open.slice(1), noFacts, at(65));
    expect(later.get(nodeId("n2"))?.askedAfter).toBe(1);
  });

  test("a name that is used again is another node: the old one has gone, the new one starts from nothing", () => {
    const old = buildLedger([rememberNode(ready, { lastNeededAt: at(-60), ...idleSince(at(-900)) })]);
    const reborn = buildNode("n2", { name: ready.name, hostname: "ip-n1", phase: "coming" });
    const after = see(old, [reborn], NOW);
    expect(after.get(N1)).toMatchObject({ goneAt: NOW });
    expect(after.get(nodeId("n2"))).toEqual({
      nodeId: "n2",
      name: "execute-n1",
      array: "execute",
      hostname: "ip-n1",
      instanceId: "vm-n2",
      purpose: { kind: "array" },
      firstSeenAt: NOW,
      busyness: { state: "unknown", since: NOW },
    });
  });

  test.each([
    { name: "is remembered with the moment it was missed", now: at(0), goneAt: at(0) },
    { name: "is remembered almost an hour", now: at(3599.999), goneAt: at(0) },
    { name: "is forgotten after an hour", now: at(3600), goneAt: undefined },
  ])("a node that has gone $name", ({ now, goneAt }) => {
    const missed = see(rememberNodes([ready]), [], at(0));
    expect(see(missed, [], now).get(N1)?.goneAt).toBe(goneAt);
  });

  test("a node that was missed once and is back has not gone", () => {
    const back = see(see(rememberNodes([ready]), [], at(0)), [ready], at(60));
    expect(back.get(N1)).not.toHaveProperty("goneAt");
  });

  test("a node of an open request takes its purpose from it", () => {
    const purpose = { kind: "group", key: "execute:4n", group: "group-a" } as const;
    const look = digestOfAttributes(buildSnapshot([coming, buildNode("n2", { phase: "coming" })]), ["n1"]);
    const after = updateLedger(
      new Map(),
      look,
      [{ requestId: R1, bucket: BUCKET, purpose, added: 3, seen: [], since: NOW }],
      noFacts,
      NOW,
    );
    expect(after.get(N1)).toMatchObject({ requestId: "r-1", purpose });
    expect(after.get(nodeId("n2"))).toMatchObject({ purpose: { kind: "array" } });
    // When the request is closed, the ledger still knows.
    const later = updateLedger(after, digestOfAttributes(buildSnapshot([ready])), [], noFacts, at(60));
    expect(later.get(N1)).toMatchObject({ requestId: "r-1", purpose });
  });

  test("single nodes, such as the head node, are no array's and not in it", () => {
    const head = buildNode("head", { array: arrayName("scheduler") });
    expect([...see(new Map(), [head, ready], NOW).keys()]).toEqual(["n1"]);
  });

  test("an unchanged node is the same object, so that nothing is written for it", () => {
    const before = rememberNodes([ready]);
    expect(see(before, [ready], NOW).get(N1)).toBe(before.get(N1));
  });

  const since = at(-100);
  const was = (state: LedgerNode["busyness"]["state"]) =>
    buildLedger([rememberNode(ready, { busyness: { state, since } })]);
  test.each([
    {
      name: "idle, and still idle: the clock runs on",
      before: "idle",
      node: ready,
      facts: idle,
      after: { state: "idle", since },
    },
    {
      name: "busy, now idle: the clock starts",
      before: "busy",
      node: ready,
      facts: idle,
      after: { state: "idle", since: NOW },
    },
    {
      name: "idle, now busy",
      before: "idle",
      node: ready,
      facts: busy,
      after: { state: "busy", since: NOW },
    },
    {
      name: "idle, and no word any more",
      before: "idle",
      node: ready,
      facts: noFacts,
      after: { state: "unknown", since: NOW },
    },
    {
      name: "unknown, now idle: the clock starts now, not when the silence began",
      before: "unknown",
      node: ready,
      facts: idle,
      after: { state: "idle", since: NOW },
    },
    {
      name: "unknown and still unknown",
      before: "unknown",
      node: ready,
      facts: noFacts,
      after: { state: "unknown", since },
    },
    {
      name: "busy, and failed: a report of a host that is not up says nothing",
      before: "busy",
      node: buildNode("n1", { phase: "failed" }),
      facts: idle,
      after: { state: "unknown", since: NOW },
    },
    {
      name: "idle, and restarting",
      before: "idle",
      node: coming,
      facts: idle,
      after: { state: "unknown", since: NOW },
    },
  ] as const)("busyness: $name", ({ before, node, facts, after }) => {
    expect(see(was(before), [node], NOW, facts).get(N1)?.busyness).toEqual(after);
  });
});

test.each([
  { name: "autoscaled, and no list in the configuration", nodearrays: undefined, ours: ["execute", "viz"] },
  { name: "autoscaled and listed", nodearrays: ["viz"], ours: ["viz"] },
  { name: "listed, but switched off in CycleCloud", nodearrays: ["off"], ours: [] },
])("arrays that are ours: $name", ({ nodearrays, ours }) => {
  const arrays = [buildArray(), buildArray("viz"), buildArray("off", { autoscaled: false })];
  const named = nodearrays === undefined ? policy : { ...policy, nodearrays: nodearrays.map(arrayName) };
  expect([...managedArrays(buildSnapshot([], { arrays }), named)]).toEqual(ours);
});
