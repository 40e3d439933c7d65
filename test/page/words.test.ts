import { describe, expect, test } from "vitest";
import type { Cluster, History } from "../../src/client/answers.ts";
import { addressOf, placeOf } from "../../src/page/place.ts";
import {
  bootsOf,
  fromNow,
  layersOf,
  momentText,
  moneyText,
  nextOf,
  pricesOf,
  quantileOf,
  sentenceOf,
  stretchesOf,
} from "../../src/page/words.ts";

/** What the page says, worked out by hand. */

const NOW = "2026-11-29T12:00:00.000Z";
const at = (time: string): string => `2026-11-29T${time}:00.000Z`;

type NodeShown = Cluster["nodes"]["list"][number];

const node = (other: Partial<NodeShown>): NodeShown => ({
  name: "hpc-1",
  nodeId: "1",
  array: "hpc",
  machineType: "Standard_F2s_v2",
  phase: "ready",
  status: "Ready",
  purpose: "array",
  countsFor: "hpc",
  madeBy: "us",
  ownership: "ours",
  firstSeenAt: at("10:00"),
  busyness: "unknown",
  busynessSince: at("10:00"),
  verdict: "needed",
  why: "needed by pbs/101",
  ...other,
});

describe("the life of a node", () => {
  test.each([
    { name: "it boots", of: {}, life: ["booting 10:00 12:00"] },
    {
      name: "asked for, and boots",
      of: { askedAt: at("09:58") },
      life: ["asked 09:58 10:00", "booting 10:00 12:00"],
    },
    {
      name: "it came up, and no more is known",
      of: { firstReadyAt: at("10:05") },
      life: ["booting 10:00 10:05", "ready 10:05 12:00"],
    },
    {
      name: "needed since it boots, and idle now",
      of: { firstReadyAt: at("10:05"), firstNeededAt: at("10:00"), notNeededSince: at("11:30") },
      life: ["booting 10:00 10:05", "needed 10:05 11:30", "idle 11:30 12:00"],
    },
    {
      name: "needed later, and still",
      of: { firstReadyAt: at("10:05"), firstNeededAt: at("10:30") },
      life: ["booting 10:00 10:05", "ready 10:05 10:30", "needed 10:30 12:00"],
    },
    {
      name: "never needed",
      of: { firstReadyAt: at("10:05"), notNeededSince: at("10:05") },
      life: ["booting 10:00 10:05", "idle 10:05 12:00"],
    },
    {
      name: "it leaves",
      of: {
        firstReadyAt: at("10:05"),
        firstNeededAt: at("10:05"),
        notNeededSince: at("11:00"),
        drainingSince: at("11:55"),
      },
      life: ["booting 10:00 10:05", "needed 10:05 11:00", "idle 11:00 11:55", "leaving 11:55 12:00"],
    },
    {
      name: "it leaves and never came up",
      of: { drainingSince: at("11:00") },
      life: ["booting 10:00 11:00", "leaving 11:00 12:00"],
    },
    {
      name: "it was shut down",
      of: { firstReadyAt: at("10:05"), firstNeededAt: at("10:00"), downSince: at("11:00") },
      life: ["booting 10:00 10:05", "needed 10:05 11:00", "down 11:00 12:00"],
    },
    {
      name: "it was told to stop, and has gone",
      of: {
        askedAt: at("09:59"),
        firstReadyAt: at("10:05"),
        notNeededSince: at("10:20"),
        firstNeededAt: at("10:00"),
        drainingSince: at("10:30"),
        goneAt: at("10:33"),
      },
      life: [
        "asked 09:59 10:00",
        "booting 10:00 10:05",
        "needed 10:05 10:20",
        "idle 10:20 10:30",
        "leaving 10:30 10:33",
      ],
    },
    {
      name: "it has gone by itself while it booted",
      of: { goneAt: at("10:33") },
      life: ["booting 10:00 10:33"],
    },
  ] as const)("$name", ({ of, life }) => {
    const shown = stretchesOf({ firstSeenAt: at("10:00"), ...of }, NOW);
    expect(shown.map(({ what, from, to }) => `${what} ${from.slice(11, 16)} ${to.slice(11, 16)}`)).toEqual(
      life,
    );
  });
});

describe("from asked to ready", () => {
  const life = (asked: string | undefined, ready: string | undefined) => ({
    firstSeenAt: at("10:00"),
    ...(asked === undefined ? {} : { askedAt: at(asked) }),
    ...(ready === undefined ? {} : { firstReadyAt: at(ready) }),
  });
  const MINUTE = 60_000;

  test("of the nodes of the time, without those that never came up or that another tool made", () => {
    const lives = [
      life("10:00", "10:09"),
      life("10:00", undefined),
      life(undefined, "10:05"),
      life("09:59", "10:30"),
      life("10:10", "10:14"),
    ];
    expect(bootsOf(lives, at("10:00"))).toEqual([4 * MINUTE, 9 * MINUTE]);
  });

  test.each([
    { sorted: [], p50: undefined, p95: undefined },
    { sorted: [7], p50: 7, p95: 7 },
    { sorted: [1, 2, 3, 4], p50: 2, p95: 4 },
    { sorted: [1, 2, 3, 4, 5], p50: 3, p95: 5 },
    { sorted: Array.from({ length: 100 }, (_, index) => index + 1), p50: 50, p95: 95 },
  ])("p50 and p95 of $sorted.length values", ({ sorted, p50, p95 }) => {
    expect([quantileOf(sorted, 0.5), quantileOf(sorted, 0.95)]).toEqual([p50, p95]);
  });
});

test.each([
  { moment: at("09:58"), text: "09:58:00" },
  { moment: "2026-11-28T23:59:59.500Z", text: "2026-11-28 23:59:59" },
])("a moment: $text", ({ moment, text }) => {
  expect(momentText(moment, NOW)).toBe(text);
});

describe("what comes next for a node", () => {
  const arrays: Cluster["nodearrays"] = [];
  const groups: Cluster["groups"] = [
    {
      name: "hpc:2n",
      extends: "hpc",
      idleTimeout: 600,
      bootTimeout: 3600,
      requestSets: [],
      groupsWanted: 1,
      groupsWhole: 1,
      nodes: 2,
      nodesReady: 2,
      groups: [],
    },
  ];
  const next = (of: Partial<NodeShown>) => nextOf({ now: NOW, nodearrays: arrays, groups })(node(of));
  test.each([
    { name: "needed: nothing", of: {}, said: undefined },
    { name: "it boots", of: { phase: "coming", expectedReadyAt: at("12:04") }, said: "ready in 4 min" },
    {
      name: "it boots for long",
      of: { phase: "coming", expectedReadyAt: at("11:00") },
      said: "takes longer than others did",
    },
    { name: "it drains", of: { draining: "idle" }, said: "leaves" },
    { name: "it is down", of: { phase: "down", endsAt: at("12:05") }, said: "ends in 5 min" },
    {
      name: "idle in a group",
      of: { busyness: "idle", verdict: "idle", busynessSince: at("11:55"), countsFor: "hpc:2n" },
      said: "may stop in 5 min",
    },
    {
      name: "idle in an array that is not known",
      of: { busyness: "idle", verdict: "idle" },
      said: undefined,
    },
  ] as const)("$name", ({ of, said }) => {
    expect(next(of)).toBe(said);
  });
});

test("a node that has no VM costs nothing, and one of an unknown size has no price", () => {
  const bucket = {
    nodearray: "hpc",
    machineType: "Standard_F2s_v2",
    valid: true,
    spot: false,
    vcpus: 2,
    memoryGib: 4,
    gpus: 0,
    price: 0.1,
    active: 1,
    available: 9,
    limits: [],
  };
  const priceOf = pricesOf({ buckets: [bucket] });
  expect(priceOf(node({}))).toBe(0.1);
  expect(priceOf(node({ phase: "deallocated" }))).toBe(undefined);
  expect(priceOf(node({ machineType: "Standard_F4s_v2" }))).toBe(undefined);
});

test.each([
  { amount: 0, text: "0.00 USD" },
  { amount: 0.1, text: "0.10 USD" },
  { amount: 123.336, text: "123.34 USD" },
  { amount: 12_345.6, text: "12,346 USD" },
])("money: $text", ({ amount, text }) => {
  expect(moneyText(amount, "USD")).toBe(text);
});

test("times are from now, in both directions", () => {
  expect(fromNow(at("11:59"), NOW)).toBe("1 min ago");
  expect(fromNow(at("13:05"), NOW)).toBe("in 1 h 05 min");
  expect(fromNow(NOW, NOW)).toBe("0 s ago");
  expect(fromNow("2026-11-26T08:00:00.000Z", NOW)).toBe("3 d 4 h ago");
});

test.each(["demo", "a/b", "x?y#z", "ü %41", "50%"])("the address of cluster %s leads to it", (cluster) => {
  const place = placeOf(addressOf(cluster, "nodes", { node: "a&b=c" }));
  expect([place?.cluster, place?.view, place?.query.get("node")]).toEqual([cluster, "nodes", "a&b=c"]);
});

test.each(["", "#", "#/demo", "#/%/now", "#key=1", "#/demo/now/more"])("%j is no place", (hash) => {
  expect(placeOf(hash)).toBe(undefined);
});

describe("the sentence", () => {
  const cluster = (other: object): Parameters<typeof sentenceOf>[0] =>
    Object.assign(
      JSON.parse(
        '{"cluster":"demo","health":{"ok":true,"notes":[],"warnings":[]},"waiting":{"unmet":0,"missing":[],"onTheirWay":0,"reasons":[],"remedies":[]},"inFlight":[],"nodes":{"count":0}}',
      ),
      other,
    );
  const first = { requestSet: "pbs", id: "1" };
  const quota = { text: "family quota standardHBv3Family: 0 left", demands: 2, first };
  test.each([
    { name: "nothing", of: {}, said: "Nothing is asked for, and there are no nodes." },
    { name: "what is left", of: { nodes: { count: 1 } }, said: "Nothing is asked for; 1 node left." },
    { name: "all is there", of: { plan: { demands: 2 } }, said: "All of 2 demands has its nodes." },
    {
      name: "a fault comes first",
      of: { health: { ok: false, notes: ["CycleCloud cannot be reached"], warnings: [] } },
      said: "demo is not well: CycleCloud cannot be reached.",
    },
    {
      name: "what is missing, and why",
      of: {
        plan: { demands: 3 },
        waiting: {
          unmet: 2,
          missing: [
            { unit: "slots", amount: 1611 },
            { unit: "nodes", amount: 1 },
          ],
          onTheirWay: 0,
          reasons: [quota],
          remedies: [],
        },
      },
      said: "2 of 3 demands cannot be had in full, 1,611 slots and 1 node missing: family quota standardHBv3Family: 0 left.",
    },
    {
      name: "all of it boots",
      of: {
        plan: { demands: 3 },
        waiting: { unmet: 0, missing: [], onTheirWay: 3, reasons: [], remedies: [] },
      },
      said: "Everything has a place; 3 of 3 demands wait for nodes that boot.",
    },
  ])("$name", ({ of, said }) => {
    expect(sentenceOf(cluster(of))).toBe(said);
  });
});

describe("node arrays over time, stacked", () => {
  const rowWith = (arrays?: History["rows"][number]["arrays"]): History["rows"][number] => ({
    at: NOW,
    plan: 1,
    nodes: {},
    inFlight: 0,
    liveSets: 0,
    created: 0,
    terminated: 0,
    unmet: 0,
    ...(arrays === undefined ? {} : { arrays }),
  });
  const of = (name: string | undefined, nodes: number) => ({
    ...(name === undefined ? {} : { name }),
    nodes,
    idle: 0,
  });

  test("the largest one is lowest, and each stands on those below", () => {
    const rows = [rowWith([of("htc", 1)]), rowWith(), rowWith([of("hpc", 5), of("htc", 2)])];
    expect(layersOf(rows, ({ nodes }) => nodes)).toEqual([
      { name: "hpc", values: [0, 0, 5], tops: [0, 0, 5] },
      { name: "htc", values: [1, 0, 2], tops: [1, 0, 7] },
    ]);
    expect(layersOf(rows, ({ nodes }) => 10 - nodes).map(({ name }) => name)).toEqual(["hpc", "htc"]);
  });

  test("beyond six the smallest ones are one layer, with those that the rows do not name", () => {
    const many = ["a", "b", "c", "d", "e", "f", "g"].map((name, at) => of(name, 10 - at));
    const layers = layersOf([rowWith([...many, of(undefined, 100)])], ({ nodes }) => nodes);
    expect(layers.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e", "all others"]);
    expect(layers.at(-1)).toEqual({ name: "all others", values: [109], tops: [149] });
    expect(layersOf([rowWith()], ({ nodes }) => nodes)).toEqual([]);
  });
});
