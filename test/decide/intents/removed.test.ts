import { expect, test } from "vitest";
import { pauseRemoved, removedByOthers } from "../../../src/decide/intents/removed.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import {
  at,
  buildLedger,
  buildNode,
  buildSnapshot,
  EXECUTE,
  notOurs,
  NOW,
  rememberNode,
} from "../../support/build-node.ts";
import { EMPTY_RECORD } from "../../support/build-record.ts";

const sent = { draining: { since: at(-90), by: "callback", plan: 5, attempts: 1, sentAt: at(-80) } } as const;

test.each<{ name: string; now: readonly Node[]; known?: Partial<LedgerNode>; paused: boolean }>([
  { name: "still there", now: [buildNode("n1", { phase: "coming" })], paused: false },
  { name: "gone", now: [], paused: true },
  { name: "being terminated", now: [buildNode("n1", { phase: "going" })], paused: true },
  { name: "failed: that pauses by itself", now: [buildNode("n1", { phase: "failed" })], paused: false },
  { name: "gone, and stopped by us", now: [], known: sent, paused: false },
  { name: "gone, and Ready before", now: [], known: { firstReadyAt: at(-50) }, paused: false },
])("a node that was on its way up: $name: its bucket is paused: $paused", ({ now, known, paused }) => {
  const node = buildNode("n1", { phase: "coming" });
  const change = {
    before: buildSnapshot([node]),
    open: new Set<never>(),
    snapshot: buildSnapshot(now),
    ledger: buildLedger([rememberNode(node, known)]),
    managed: new Set([EXECUTE]),
    policy: DEFAULT_POLICY,
  };
  const { backoffs } = pauseRemoved(EMPTY_RECORD, change, NOW);
  const why = "execute-n1 was removed before it was Ready, and not by the autoscaler";
  expect(backoffs.map(({ cause, message }) => [cause, message])).toEqual(
    paused ? [["boot-failed", why]] : [],
  );
});

test("an array that is not ours is not paused", () => {
  const node = buildNode("n1", { phase: "coming" });
  const ledger = buildLedger([rememberNode(node)]);
  const change = {
    before: buildSnapshot([node]),
    open: new Set<never>(),
    snapshot: buildSnapshot([]),
    ledger,
    managed: new Set<never>(),
    policy: DEFAULT_POLICY,
  };
  expect(pauseRemoved(EMPTY_RECORD, change, NOW)).toBe(EMPTY_RECORD);
});

test.each([
  { name: "another tool's", exclusive: false, paused: 0 },
  { name: "in an array that no other tool manages", exclusive: true, paused: 1 },
])("gone before it was Ready, and no request of ours made it: $name: $paused buckets pause", (given) => {
  const node = buildNode("n1", { phase: "coming" });
  const change = {
    before: buildSnapshot([node]),
    open: new Set<never>(),
    snapshot: buildSnapshot([]),
    ledger: buildLedger([notOurs(rememberNode(node))]),
    managed: new Set([EXECUTE]),
    policy: { ...DEFAULT_POLICY, exclusiveArrays: given.exclusive ? [EXECUTE] : [] },
  };
  expect(pauseRemoved(EMPTY_RECORD, change, NOW).backoffs).toHaveLength(given.paused);
});

test("another tool's nodes that it removed are not counted; one with our stop URL is", () => {
  const foreign = notOurs(rememberNode(buildNode("theirs"), { goneAt: at(-60) }));
  const bound = { ...notOurs(rememberNode(buildNode("bound"), { goneAt: at(-60) })), keyId: "k1" };
  const ledger = buildLedger([foreign, bound]);
  const names = (exclusiveArrays: true | readonly never[]) =>
    removedByOthers(EMPTY_RECORD, ledger, { exclusiveArrays }, NOW).map(({ name }) => name);
  expect(names([])).toEqual(["execute-bound"]);
  expect(names(true)).toEqual(["execute-theirs", "execute-bound"]);
});

test("removed in the last hour, and not by us", () => {
  const nodes = [
    rememberNode(buildNode("now"), { goneAt: at(0) }),
    rememberNode(buildNode("lately"), { goneAt: at(-3599) }),
    rememberNode(buildNode("before"), { goneAt: at(-3600) }),
    rememberNode(buildNode("ours"), { goneAt: at(-60), ...sent }),
    rememberNode(buildNode("there")),
  ];
  const names = removedByOthers(EMPTY_RECORD, buildLedger(nodes), DEFAULT_POLICY, NOW).map(
    ({ name }) => name,
  );
  expect(names).toEqual(["execute-now", "execute-lately"]);
});
