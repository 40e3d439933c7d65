import { describe, expect, test } from "vitest";
import { missingUntil, withMissing } from "../../../src/decide/nodes/missing.ts";
import { stoppingNodes } from "../../../src/decide/intents/stops.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { Node, Snapshot } from "../../../src/domain/cluster.ts";
import { nodeId, requestId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { InFlight } from "../../../src/domain/record.ts";
import type { Draining, LedgerNode } from "../../../src/domain/ledger.ts";
import {
  at,
  buildLedger,
  buildNode,
  buildNodes,
  buildSnapshot,
  D4,
  EXECUTE,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import { BUCKET, buildIntent, buildState, buildTarget, OURS } from "../../support/build-record.ts";

const [n1, n2] = [buildNode("n1"), buildNode("n2")];
const lookAt = (seconds: number, nodes: readonly Node[], more: Partial<Snapshot> = {}): Snapshot =>
  buildSnapshot(nodes, { at: at(seconds), ...more });
const NONE_OPEN = new Set<never>();
const stopOf = (id: string) => buildIntent("r-1", { effect: { kind: "terminate", nodes: [nodeId(id)] } });
const unlisted = (name: string, since = at(0)) => ({ array: EXECUTE, machineType: D4, name, since });
const idsOf = ({ nodes }: Snapshot) => nodes.map(({ nodeId: id }) => id).join(" ");

describe("a node that an observation lacks", () => {
  const ledger = rememberNodes([n1, n2]);
  const first = withMissing(lookAt(0, [n2]), lookAt(-60, [n1, n2]), ledger, NONE_OPEN);

  /** The ids that are left after each of these observations. Those of `early` are early. */
  const left = (seconds: readonly number[], early: readonly number[] = []) => {
    let before = lookAt(-60, [n1, n2]);
    return seconds.map((second) => {
      const more = early.includes(second) ? { early: true as const } : {};
      before = withMissing(lookAt(second, [n2], more), before, ledger, NONE_OPEN);
      return idsOf(before);
    });
  };

  test("stays in the observation, as its last record said", () => {
    expect(first.nodes).toEqual([n2, { ...n1, missing: { since: at(0), observations: 1 } }]);
    expect(first.nodes.map(missingUntil)).toEqual([undefined, at(60)]);
  });

  test.each([
    { name: "for 60 s, if there are many observations", seconds: [0, 20, 40, 59.999, 60], left: [4, 1] },
    { name: "for three observations, if they are a minute apart", seconds: [0, 60, 120], left: [2, 1] },
    { name: "for three, however long there was none", seconds: [0, 600, 601], left: [2, 1] },
    {
      name: "the same observation, decided on again, counts once",
      seconds: [0, 0, 60, 60, 120],
      left: [4, 1],
    },
    { name: "early ones do not count", seconds: [0, 30, 60, 90], early: [0], left: [3, 1] },
    { name: "an early one ends nothing", seconds: [0, 30, 60, 61], early: [60], left: [3, 1] },
  ])("$name", ({ seconds, early, left: [kept = 0, gone = 0] }) => {
    const wanted = [...Array<string>(kept).fill("n2 n1"), ...Array<string>(gone).fill("n2")];
    expect(left(seconds, early)).toEqual(wanted);
  });

  test("is there again once an observation shows it, and lost again after that", () => {
    const again = withMissing(lookAt(30, [n1, n2]), first, ledger, NONE_OPEN);
    expect(again.nodes).toEqual([n1, n2]);
    const lost = withMissing(lookAt(70, [n2]), again, ledger, NONE_OPEN);
    expect(lost.nodes[1]).toEqual({ ...n1, missing: { since: at(70), observations: 1 } });
  });

  test("losses that go on are told apart: only the new one is in doubt", () => {
    const second = withMissing(lookAt(30, [n2]), first, ledger, NONE_OPEN);
    const next = withMissing(lookAt(60, []), second, ledger, NONE_OPEN);
    expect(next.nodes).toEqual([{ ...n2, missing: { since: at(60), observations: 1 } }]);
  });

  const mark = (by: Draining["by"], more: Partial<Draining> = {}): Partial<LedgerNode> => ({
    draining: { since: at(-30), by, plan: 5, attempts: 0, ...more },
  });
  test.each([
    { name: "we stopped it", known: mark("idle", { sentAt: at(-20), attempts: 1 }), carried: "" },
    { name: "its stop is open", known: mark("callback"), intents: [stopOf("n1")], carried: "n1" },
    {
      name: "it did not boot, and its stop is open",
      known: mark("boot-timeout"),
      intents: [stopOf("n1")],
      carried: "n1",
    },
    { name: "it is marked alone", known: mark("idle"), carried: "n1" },
    { name: "it had gone before", known: { goneAt: at(-300) }, carried: "" },
    { name: "it was on its way up", node: { phase: "coming" }, carried: "n1" },
    { name: "its record was unclear", node: { phase: "unknown" }, carried: "n1" },
    { name: "it was going", node: { phase: "going" }, carried: "n1" },
    { name: "it had failed", node: { phase: "failed" }, carried: "n1" },
    { name: "it was deallocated", node: { phase: "deallocated" }, carried: "n1" },
    { name: "it had no VM", node: { phase: "off" }, carried: "" },
  ] as const)("$name: kept: '$carried'", (row) => {
    const node = buildNode("n1", "node" in row ? row.node : {});
    const known = buildLedger([rememberNode(node, "known" in row ? row.known : {})]);
    const intents = "intents" in row ? row.intents : [];
    expect(idsOf(withMissing(lookAt(0, []), lookAt(-60, [node]), known, stoppingNodes(intents)))).toBe(
      row.carried,
    );
  });

  test("with its whole array: both stay until three observations have lacked them for 60 s, and nothing new is created there", () => {
    const first = withMissing(lookAt(0, [], { arrays: [] }), lookAt(-60, [n1]), ledger, NONE_OPEN);
    expect(idsOf(first)).toBe("n1");
    expect(first.arrays).toMatchObject([{ name: "execute", missing: { since: at(0) } }]);
    expect(first.arrays[0]?.buckets.map(({ valid }) => valid)).toEqual([false]);
    const second = withMissing(lookAt(59.999, [], { arrays: [] }), first, ledger, NONE_OPEN);
    expect([idsOf(second), second.arrays.length]).toEqual(["n1", 1]);
    const third = withMissing(lookAt(60, [], { arrays: [] }), second, ledger, NONE_OPEN);
    expect([idsOf(third), third.arrays]).toEqual(["", []]);
    const secondOfAll = withMissing(lookAt(60, [], { arrays: [] }), first, ledger, NONE_OPEN);
    expect([idsOf(secondOfAll), secondOfAll.arrays.length]).toEqual(["n1", 1]);
    const back = withMissing(lookAt(60, [n1]), second, ledger, NONE_OPEN);
    expect(back.arrays).toEqual(lookAt(60, [n1]).arrays);
  });

  test("never known of: it is not carried on", () => {
    expect(idsOf(withMissing(lookAt(0, []), lookAt(-60, [n1]), new Map(), NONE_OPEN))).toBe("");
    expect(idsOf(withMissing(lookAt(0, [n2]), undefined, ledger, NONE_OPEN))).toBe("n2");
  });
});

describe("a node that only its bucket names", () => {
  const ledger = rememberNodes([n1, n2]);
  const half = (seconds: number) =>
    lookAt(seconds, [n2], { unlisted: [unlisted("execute-n1", at(seconds))] });

  test("is in doubt for three minutes", () => {
    const first = withMissing(half(0), lookAt(-60, [n1, n2]), ledger, NONE_OPEN);
    expect(first.nodes[1]).toEqual({ ...n1, missing: { since: at(0), observations: 1, named: true } });
    const later = withMissing(half(179.999), first, ledger, NONE_OPEN);
    expect(idsOf(later)).toBe("n2 n1");
    expect(later.unlisted).toEqual([unlisted("execute-n1", at(0))]);
    expect(idsOf(withMissing(half(180), later, ledger, NONE_OPEN))).toBe("n2");
  });

  test("and once its bucket names it no more, for a minute since it was lost", () => {
    const first = withMissing(half(0), lookAt(-60, [n1, n2]), ledger, NONE_OPEN);
    const second = withMissing(lookAt(59, [n2]), first, ledger, NONE_OPEN);
    expect(idsOf(second)).toBe("n2 n1");
    expect(idsOf(withMissing(lookAt(60, [n2]), second, ledger, NONE_OPEN))).toBe("n2");
  });
});

describe("names that we do not know", () => {
  const listed = buildNodes("n", 5);
  const named = ["a", "b", "c"].map((name) => unlisted(name));
  const inFlight = (added: number): InFlight => ({
    requestId: requestId("r-7"),
    bucket: BUCKET,
    purpose: { kind: "array" },
    added,
    seen: [],
    since: at(-20),
  });
  const created = (seconds: number, requests: readonly InFlight[], known = rememberNodes(listed)) => {
    const { record, bodies } = buildState({
      sets: { standard: { demands: [buildTarget(10)], expiresAt: at(9000) } },
      ledger: known,
      record: { inFlight: requests, lastGoodLookAt: at(seconds - 30) },
    });
    const snapshot = lookAt(seconds, listed, { unlisted: named });
    const observation = { snapshot, requestNodes: new Map() };
    return decide(record, bodies, observation, DEFAULT_POLICY, at(seconds), OURS).plan.creates.reduce(
      (sum, { count }) => sum + count,
      0,
    );
  };

  test.each([
    { name: "count as there", seconds: 0, added: 0, creates: 2 },
    { name: "fill places in flight first", seconds: 0, added: 2, creates: 2 },
    { name: "and are none beside more places than names", seconds: 0, added: 4, creates: 1 },
    { name: "for three minutes", seconds: 179, added: 0, creates: 2 },
    { name: "and not longer", seconds: 180, added: 0, creates: 5 },
  ])("$name", ({ seconds, added, creates }) => {
    expect(created(seconds, added === 0 ? [] : [inFlight(added)])).toBe(creates);
  });

  test("names of nodes that have gone are not counted again", () => {
    const gone = rememberNode(buildNode("old", { name: "a" }), { goneAt: at(-100) });
    expect(created(0, [], new Map([...rememberNodes(listed), ...buildLedger([gone])]))).toBe(3);
  });
});
