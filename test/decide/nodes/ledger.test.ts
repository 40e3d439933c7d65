import { describe, expect, test } from "vitest";
import { followNodes } from "../../../src/decide/nodes/ledger.ts";
import type { Snapshot } from "../../../src/domain/cluster.ts";
import type { NodeId } from "../../../src/domain/ids.ts";
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
import { BUCKET } from "../../support/build-record.ts";
import type { Observation } from "../../../src/domain/record.ts";
import { managedArrays } from "../../../src/domain/exclusive.ts";

const R1 = requestId("r-1");
const policy = DEFAULT_POLICY;

function observationOf(snapshot: Snapshot, ofRequest: readonly string[] = []): Observation {
  const nodes = ofRequest.map((id) => buildNode(id));
  return { snapshot, requestNodes: new Map([[R1, { askedAt: snapshot.at, nodes }]]) };
}

describe("the ledger", () => {
  const noFacts = new Map<NodeId, { jobs: readonly string[]; reportedAt?: Instant }>();
  const busy = new Map([[nodeId("n1"), { jobs: ["7"], reportedAt: NOW }]]);
  const idle = new Map([[nodeId("n1"), { jobs: [], reportedAt: NOW }]]);
  const N1 = nodeId("n1");
  const coming = buildNode("n1", { phase: "coming" });
  const ready = buildNode("n1");
  const see = (
    ledger: Ledger,
    nodes: readonly ReturnType<typeof buildNode>[],
    now: Instant,
    facts = noFacts,
  ) =>
    followNodes(
      { ledger, isRestart: false },
      observationOf(buildSnapshot(nodes, { at: now })),
      [],
      facts,
      now,
    );

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
    const observation = (shown: readonly [string, string][], now: Instant) => ({
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
    const seen = followNodes(
      { ledger: new Map(), isRestart: false },
      observation(
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
    const later = followNodes(
      { ledger: seen, isRestart: false },
      observation([["n2", "r-2"]], at(65)),
      open.slice(1),
      noFacts,
      at(65),
    );
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
    const observation = observationOf(buildSnapshot([coming, buildNode("n2", { phase: "coming" })]), ["n1"]);
    const after = followNodes(
      { ledger: new Map(), isRestart: false },
      observation,
      [{ requestId: R1, bucket: BUCKET, purpose, added: 3, seen: [], since: NOW }],
      noFacts,
      NOW,
    );
    expect(after.get(N1)).toMatchObject({ requestId: "r-1", purpose });
    expect(after.get(nodeId("n2"))).toMatchObject({ purpose: { kind: "array" } });
    // When the request is closed, the ledger still knows.
    const later = followNodes(
      { ledger: after, isRestart: false },
      observationOf(buildSnapshot([ready])),
      [],
      noFacts,
      at(60),
    );
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
