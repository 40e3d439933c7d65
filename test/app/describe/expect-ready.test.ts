import { describe, expect, test } from "vitest";
import { expectReady, readyForDemand } from "../../../src/app/describe/expect-ready.ts";
import { historyRow } from "../../../src/app/tick.ts";
import { priceNodes } from "../../../src/decide/world/price-nodes.ts";
import type { Bodies } from "../../../src/domain/bodies.ts";
import { arrayName, machineType, nodeId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { PriceTable } from "../../../src/domain/price.ts";
import {
  at,
  buildLedger,
  buildNode,
  buildNodes,
  buildSnapshot,
  D4,
  D8,
  NOW,
  PROD,
  rememberNode,
} from "../../support/build-node.ts";
import { BUCKET, buildState } from "../../support/build-record.ts";
import { emptyRecord } from "../../support/sample-record.ts";

/** When nodes are expected, and what they cost. */

const booted = (id: string, seconds: number, type = D4) => {
  const node = buildNode(id, { machineType: type });
  return { node, known: rememberNode(node, { firstSeenAt: at(-3600), firstReadyAt: at(-3600 + seconds) }) };
};
const coming = buildNode("new", { phase: "coming" });

function expected(nodes: readonly ReturnType<typeof booted>[], node = coming) {
  const seen = buildSnapshot([...nodes.map((one) => one.node), node]);
  const ledger = buildLedger([...nodes.map(({ known }) => known), rememberNode(node)]);
  return expectReady({ seen, ledger }).of(node);
}

// Seen first 100 s ago.
test.each([
  { name: "nothing was seen to boot: the default, 300 s", nodes: [], ready: at(200) },
  {
    name: "the median of its VM size",
    nodes: [booted("a", 120), booted("b", 240), booted("c", 900), booted("d", 30, D8)],
    ready: at(140),
  },
  { name: "none of its size: of all", nodes: [booted("d", 400, D8)], ready: at(300) },
  { name: "longer than usual: a moment that is past", nodes: [booted("a", 60)], ready: at(-40) },
  { name: "Ready at the first observation tells nothing", nodes: [booted("a", 0)], ready: at(200) },
])("$name", ({ nodes, ready }) => {
  expect(expected(nodes)).toBe(ready);
});

test("a node that is not coming is not expected; one that was started counts from there", () => {
  expect(expected([], buildNode("up"))).toBeUndefined();
  const ledger = buildLedger([rememberNode(coming, { start: { state: "shown", since: at(-10) } })]);
  expect(expectReady({ seen: buildSnapshot([coming]), ledger }).of(coming)).toBe(at(290));
});

describe("a demand that waits", () => {
  const other = buildNode("b", { phase: "coming" });
  const bodies = (more: Partial<Bodies> = {}): Bodies => ({
    ...buildState({}).bodies,
    seen: buildSnapshot([coming, other, buildNode("up")]),
    ledger: buildLedger([rememberNode(coming), rememberNode(other, { firstSeenAt: at(-40) })]),
    ...more,
  });
  const place = (id?: string) => (id === undefined ? {} : { nodeId: nodeId(id) });
  const ready = (ids: readonly (string | undefined)[], of = bodies(), pending = 1) =>
    readyForDemand({ pending, places: ids.map(place) }, of, NOW);

  test("the last of its nodes counts, not those of others", () => {
    expect(ready(["new", "up"])).toBe(at(200));
    expect(ready(["new", "b"])).toBe(at(260));
  });

  test("a node that no observation has shown takes as long as others did", () => {
    expect(ready(["new", undefined])).toBe(at(300));
    expect(ready([])).toBe(at(300));
  });

  test("it waits for none, or for nodes that are not requested: nothing is told", () => {
    const plan = { number: 1, at: NOW, creates: [], terminates: [], demands: [], nodes: new Map() };
    const withheld = {
      creates: [{ bucket: BUCKET, purpose: { kind: "array" as const }, count: 1 }],
      starts: [],
      terminates: [],
    };
    expect(ready(["new"], bodies(), 0)).toBeUndefined();
    expect(ready([undefined], bodies({ plan: { ...plan, mode: "observe" } }))).toBeUndefined();
    expect(ready([undefined], bodies({ plan: { ...plan, withheld } }))).toBeUndefined();
  });
});

const PRICES: PriceTable = {
  currency: "EUR",
  locations: new Map([
    ["westeurope", new Map([[D4.toLowerCase(), { machineType: D4, onDemand: 0.25, spot: 0.1 }]])],
  ]),
  proxies: new Map(),
};
const policy = { ...DEFAULT_POLICY, prices: PRICES };

function snapshot(nodes: Parameters<typeof buildSnapshot>[0]) {
  const seen = buildSnapshot(nodes);
  return { ...seen, arrays: seen.arrays.map((array) => ({ ...array, region: "westeurope" })) };
}

test("nodes are priced by size and kind; without a VM they cost nothing, and an unknown price is counted", () => {
  const nodes = [
    buildNode("a"),
    buildNode("b", { spot: true }),
    buildNode("c", { phase: "deallocated" }),
    buildNode("d", { machineType: machineType("Odd") }),
  ];
  expect(priceNodes(nodes, snapshot(nodes), policy)).toEqual({
    pricePerHour: 0.35,
    currency: "EUR",
    unpricedNodes: 1,
  });
  expect(priceNodes(nodes, snapshot(nodes), DEFAULT_POLICY)).toBeUndefined();
});

test("history: a Ready node that nothing needs and nobody calls busy is idle", () => {
  const nodes = [buildNode("needed"), buildNode("spare"), buildNode("busy"), coming];
  const seen = snapshot(nodes);
  const ledger = buildLedger(
    nodes.map((node) =>
      rememberNode(node, node.name === "execute-busy" ? { busyness: { state: "busy", since: NOW } } : {}),
    ),
  );
  const [needed, spare, busy] = nodes.map(({ nodeId }) => nodeId);
  const plan = {
    number: 1,
    at: NOW,
    creates: [],
    terminates: [],
    demands: [],
    nodes: new Map([
      [needed ?? coming.nodeId, { kind: "needed", by: ["a/b"] }],
      [spare ?? coming.nodeId, { kind: "busyness-unknown" }],
      [busy ?? coming.nodeId, { kind: "busy" }],
    ] as const),
  };
  const bodies = { demands: new Map(), reports: new Map(), ledger, seen, plan };
  expect(historyRow({ record: emptyRecord(PROD), stored: undefined, bodies }, policy, NOW)).toEqual({
    at: NOW,
    plan: 0,
    nodes: { ready: 3, coming: 1 },
    idle: 1,
    pricePerHour: 1,
    idlePricePerHour: 0.25,
    currency: "EUR",
    arrays: [{ name: "execute", nodes: 4, idle: 1, pricePerHour: 1, idlePricePerHour: 0.25 }],
    inFlight: 0,
    liveSets: 0,
    created: 0,
    terminated: 0,
    unmet: 0,
  });
});

test("history names the twenty arrays with most nodes, also dynamic ones, and counts the others together; deallocated nodes cost no VM", () => {
  const many = Array.from({ length: 22 }, (_, n) => `lab${n}`);
  const nodes = [
    ...many.map((name) => buildNode(name)),
    ...buildNodes("two", 2),
    buildNode("kept", { phase: "deallocated" }),
  ];
  const ledger = buildLedger(
    nodes.map((node, at) => {
      const name = many[at];
      return rememberNode(
        node,
        name === undefined ? {} : { purpose: { kind: "dynamic", array: arrayName(name) } },
      );
    }),
  );
  const bodies = { demands: new Map(), reports: new Map(), ledger, seen: snapshot(nodes) };
  const { arrays = [] } = historyRow({ record: emptyRecord(PROD), stored: undefined, bodies }, policy, NOW);
  expect(arrays).toHaveLength(21);
  expect(arrays[0]).toMatchObject({ name: "execute", nodes: 2, pricePerHour: 0.5 });
  expect(arrays[1]).toMatchObject({ name: "lab0", nodes: 1 });
  expect(arrays.at(-1)).toMatchObject({ name: undefined, nodes: 3 });
});
