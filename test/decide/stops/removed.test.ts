import type { Node } from "../../../src/domain/cluster.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import { expect, test } from "vitest";
import { pauseBuckets, removedByOthers } from "../../../src/decide/stops/pause-buckets.ts";
import { DEFAULT_POLICY, type Policy } from "../../../src/domain/policy.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import { reachOf } from "../../../src/decide/stops/reach.ts";
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

/** What a plan makes of the record, whose last observation showed a node on its way up, and this one the nodes of `now`. */
const paused = (now: readonly Node[], known: LedgerNode, policy: Policy = DEFAULT_POLICY): ClusterRecord => {
  const snapshot = buildSnapshot(now);
  const ledger = buildLedger([known]);
  return pauseBuckets(
    EMPTY_RECORD,
    { seen: buildSnapshot([buildNode("n1", { phase: "coming" })]), ledger },
    snapshot,
    ledger,
    {
      open: new Set(),
      standings: new Map(),
      facts: new Map(),
      reach: reachOf(snapshot, policy),
      policy,
    },
    NOW,
  );
};

const sent = { draining: { since: at(-90), by: "callback", plan: 5, attempts: 1, sentAt: at(-80) } } as const;

test.each<{ name: string; now: readonly Node[]; known?: Partial<LedgerNode>; isPaused: boolean }>([
  { name: "still there", now: [buildNode("n1", { phase: "coming" })], isPaused: false },
  { name: "gone", now: [], isPaused: true },
  { name: "being terminated", now: [buildNode("n1", { phase: "going" })], isPaused: true },
  { name: "failed: that pauses by itself", now: [buildNode("n1", { phase: "failed" })], isPaused: false },
  { name: "gone, and stopped by us", now: [], known: sent, isPaused: false },
  { name: "gone, and Ready before", now: [], known: { firstReadyAt: at(-50) }, isPaused: false },
])("a node that was on its way up: $name: its bucket is paused: $isPaused", ({ now, known, isPaused }) => {
  const { backoffs } = paused(now, rememberNode(buildNode("n1", { phase: "coming" }), known));
  const why = "execute-n1 was removed before it was Ready, and not by the autoscaler";
  expect(backoffs.map(({ cause, message }) => [cause, message])).toEqual(
    isPaused ? [["boot-failed", why]] : [],
  );
});

test("an array that is not ours is not paused", () => {
  const known = rememberNode(buildNode("n1", { phase: "coming" }));
  expect(paused([], known, { ...DEFAULT_POLICY, nodearrays: [] })).toBe(EMPTY_RECORD);
});

test.each([
  { name: "another tool's", exclusive: false, count: 0 },
  { name: "in an array that no other tool manages", exclusive: true, count: 1 },
])("gone before it was Ready, and no request of ours made it: $name: $count buckets pause", (given) => {
  const known = notOurs(rememberNode(buildNode("n1", { phase: "coming" })));
  const policy = { ...DEFAULT_POLICY, exclusiveArrays: given.exclusive ? [EXECUTE] : [] };
  expect(paused([], known, policy).backoffs).toHaveLength(given.count);
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
