import { describe, expect, test } from "vitest";
import { FirstNeeds, livesOf, noteMachines } from "../../../src/decide/nodes/node-life.ts";
import { costOf, hoursOf } from "../../../src/domain/node-life.ts";
import { placementGroup, setName } from "../../../src/domain/ids.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import type { DemandOutcome } from "../../../src/domain/plan.ts";
import {
  at,
  buildArray,
  buildLedger,
  buildNode,
  buildSnapshot,
  D4,
  NOW,
  notOurs,
  rememberNode,
} from "../../support/build-node.ts";

const spot = buildNode("a", { spot: true, placementGroup: placementGroup("pg-1") });
const seen = buildSnapshot([spot, buildNode("b")], {
  arrays: [buildArray("execute", { region: "westeurope" })],
});
const WAS = { machineType: D4, placementGroup: placementGroup("pg-1"), region: "westeurope", spot: true };

describe("what a node was that has gone", () => {
  const gone = rememberNode(spot, { goneAt: NOW });
  const later = rememberNode(buildNode("c"), { goneAt: at(-60) });

  test("comes from the observation before; other entries stay as they are", () => {
    const ledger = buildLedger([gone, later, rememberNode(buildNode("b"))]);
    const noted = noteMachines(ledger, seen, NOW);
    expect(noted.get(spot.nodeId)).toEqual({ ...gone, was: WAS });
    expect([...noted.values()].slice(1)).toEqual([...ledger.values()].slice(1));
  });

  test.each([
    { name: "no observation before", nodes: [gone], before: undefined },
    { name: "one that lacked it too", nodes: [gone], before: buildSnapshot() },
    { name: "no node that has just gone", nodes: [later], before: seen },
  ])("$name: nothing is noted", ({ nodes, before }) => {
    const ledger = buildLedger(nodes);
    expect(noteMachines(ledger, before, NOW)).toEqual(ledger);
  });
});

describe("who needed a node first", () => {
  const outcome = (set: string, id: string): DemandOutcome => ({
    set: setName(set),
    id,
    kind: "job",
    unit: "slots",
    asked: 1,
    placed: 1,
    pending: 0,
    reasons: [],
  });
  const sets = ["a", "a/b", "c", "d", "e"];
  const first = new FirstNeeds(
    sets.map((set) => outcome(set, "1")),
    NOW,
  );
  const known = rememberNode(buildNode("a"));
  const needed = { ...known, firstNeeded: { at: at(-60), sets: [setName("z")] } };

  test.each<{ name: string; node: LedgerNode; by: readonly string[] | undefined; sets?: readonly string[] }>([
    { name: "a set with a slash in its name", node: known, by: ["a/b/1"], sets: ["a/b"] },
    {
      name: "the first three sets",
      node: known,
      by: ["e/1", "a/1", "a/1", "c/1", "d/1"],
      sets: ["e", "a", "c"],
    },
    { name: "none", node: known, by: undefined },
    { name: "a node that was needed before", node: needed, by: ["a/1"], sets: ["z"] },
    {
      name: "a node that was needed before this was noted",
      node: { ...known, lastNeededAt: at(-9) },
      by: ["a/1"],
    },
  ])("$name", ({ node, by, sets: expected }) => {
    expect(first.noted(node, by).firstNeeded?.sets).toEqual(expected);
  });
});

describe("what an hour costs", () => {
  const prices = {
    currency: "EUR",
    locations: new Map([
      ["westeurope", new Map([[D4.toLowerCase(), { machineType: D4, onDemand: 0.2, spot: 0.05 }]])],
    ]),
    proxies: new Map<string, string>(),
  };
  const priceOf = (known: LedgerNode, table: typeof prices | undefined = prices) =>
    livesOf([known], seen, table === undefined ? {} : { prices: table })[0]?.price;

  test.each<{ name: string; known: LedgerNode; price?: number }>([
    { name: "a spot node that is there", known: rememberNode(spot), price: 0.05 },
    { name: "one on demand", known: rememberNode(buildNode("b")), price: 0.2 },
    {
      name: "one that has gone",
      known: rememberNode(buildNode("x"), { goneAt: NOW, was: { machineType: D4, region: "westeurope" } }),
      price: 0.2,
    },
    {
      name: "one whose region is not known",
      known: rememberNode(buildNode("x"), { goneAt: NOW, was: { machineType: D4 } }),
    },
    { name: "one of which nothing is known", known: rememberNode(buildNode("x"), { goneAt: NOW }) },
  ])("$name", ({ known, price }) => {
    expect(priceOf(known)).toEqual(price === undefined ? undefined : { perHour: price, currency: "EUR" });
  });

  test.each([
    { name: "deallocated now", more: { deallocated: true as const, kept: { since: at(-1800) } } },
    {
      name: "started again",
      more: { offSeconds: 1800, start: { state: "shown" as const, since: at(-600) } },
    },
    { name: "gone while it was deallocated", more: { kept: { since: at(-2400) }, goneAt: at(-600) } },
  ])("a node that is there for an hour, $name: its disks have a price of their own", ({ more }) => {
    const known = rememberNode(buildNode("b"), { firstSeenAt: at(-3600), ...more });
    const [life] = livesOf([known], seen, { prices: { ...prices, deallocated: 0.02 } });
    const [unpriced] = livesOf([known], seen, { prices });
    if (life === undefined || unpriced === undefined) throw new Error("a life each");
    const all = "goneAt" in more ? 5 / 6 : 1;
    expect(hoursOf(life, NOW)).toEqual({ all, off: 0.5 });
    expect(life.price).toEqual({ perHour: 0.2, offPerHour: 0.02, currency: "EUR" });
    expect(costOf(life, NOW)).toBeCloseTo((all - 0.5) * 0.2 + 0.5 * 0.02, 9);
    expect(unpriced.price).toEqual({ perHour: 0.2, currency: "EUR" });
    expect(costOf(unpriced, NOW)).toBeCloseTo((all - 0.5) * 0.2, 9);
  });

  test("nothing without prices; whose node it is follows from its request and its stop URL", () => {
    const known = rememberNode(buildNode("b"));
    expect(
      livesOf([known, notOurs(known)], seen, {}).map(({ price, notOurs: theirs }) => [price, theirs]),
    ).toEqual([
      [undefined, undefined],
      [undefined, true],
    ]);
  });
});
