import { describe, expect, test } from "vitest";
import type { Circumstances, NodeAction } from "../../../src/decide/stops/scale-down.ts";
import {
  applyAction,
  idleSeconds,
  isIdleLongEnough,
  judgeNode,
  whyGivenUp,
} from "../../../src/decide/stops/scale-down.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Draining, LedgerNode } from "../../../src/domain/ledger.ts";
import { at, buildNode, idleSince, NOW, rememberNode } from "../../support/build-node.ts";
import { isExcluded } from "../../../src/decide/nodes/excluded.ts";

const policy = DEFAULT_POLICY;

/** Spare, reported idle just now, nothing in the way. */
const free: Circumstances = {
  policy,
  now: NOW,
  plan: 7,
  resting: false,
  spare: true,
  reportedIdleAt: NOW,
  busy: false,
};
const mark = (more: Partial<Draining> = {}): { readonly draining: Draining } => ({
  draining: { since: at(-30), by: "idle", plan: 6, attempts: 0, ...more },
});
const silent = { reportedIdleAt: undefined };
const keptAlive = { keepAlive: true };
const idle = idleSince(at(-300));

interface Row {
  readonly name: string;
  readonly known?: Partial<LedgerNode>;
  readonly around?: Partial<Circumstances>;
  readonly node?: Partial<Node>;
  readonly action: NodeAction;
}

const none = { kind: "none" } as const;
const terminate = (by: Draining["by"]) => ({ kind: "terminate", by }) as const;

function check(node: Node, { known = {}, around = {}, action }: Row): void {
  expect(judgeNode(node, rememberNode(node, known), { ...free, ...around })).toEqual(action);
}

describe("a Ready node", () => {
  const rows: readonly Row[] = [
    {
      name: "spare and idle for the whole timeout: marked",
      known: idle,
      action: { kind: "mark", by: "idle" },
    },
    { name: "idle a moment less", known: idleSince(at(-299.999)), action: none },
    { name: "idle, but needed", known: idle, around: { spare: false }, action: none },
    {
      name: "idle, but needed until two minutes ago",
      known: { ...idle, lastNeededAt: at(-120) },
      action: none,
    },
    {
      name: "idle, but Ready for two minutes only",
      known: { ...idle, firstReadyAt: at(-120) },
      action: none,
    },
    {
      name: "idle for long, but its report says that it still takes jobs: left to its own callback",
      known: idle,
      around: silent,
      action: none,
    },
    { name: "idle, but scale-down rests", known: idle, around: { resting: true }, action: none },
    { name: "idle, but KeepAlive is set", known: idle, node: keptAlive, action: none },
    {
      name: "idle, but its configuration switches autostop off",
      known: idle,
      node: { stopDisabled: true },
      action: none,
    },
    {
      name: "marked as idle, then its configuration switched autostop off",
      known: { ...idle, ...mark() },
      node: { stopDisabled: true },
      action: { kind: "undrain" },
    },
    { name: "nobody says what it does: never idle", action: none },
    {
      name: "marked as idle, reported idle since: stopped",
      known: { ...idle, ...mark() },
      action: terminate("idle"),
    },
    {
      name: "marked as idle, no newer report yet",
      known: { ...idle, ...mark() },
      around: { reportedIdleAt: at(-30) },
      action: none,
    },
    {
      name: "marked as idle, its report is thirty-one seconds old: a job may have started since",
      known: { ...idle, ...mark({ since: at(-60) }) },
      around: { reportedIdleAt: at(-31) },
      action: none,
    },
    {
      name: "marked as idle, and nobody reports it any more: taken back",
      known: mark(),
      around: silent,
      action: { kind: "undrain" },
    },
    {
      name: "marked by this very plan: it is looked at again first",
      known: { ...idle, ...mark({ plan: 7 }) },
      action: none,
    },
    {
      name: "marked as idle, and needed again",
      known: mark(),
      around: { spare: false },
      action: { kind: "undrain" },
    },
    {
      name: "marked as idle, and a job has come",
      known: mark(),
      around: { busy: true },
      action: { kind: "undrain" },
    },
    {
      name: "marked as idle, but scale-down rests",
      known: { ...idle, ...mark() },
      around: { resting: true },
      action: none,
    },
    {
      name: "marked as idle, then KeepAlive was set",
      known: mark(),
      node: keptAlive,
      action: { kind: "undrain" },
    },
    {
      name: "a callback's mark, half a minute old: its owner is at work",
      known: mark({ by: "callback" }),
      action: none,
    },
    {
      name: "a callback's mark, a minute old: its owner is gone, the node will ask again",
      known: mark({ by: "callback", since: at(-60) }),
      action: { kind: "undrain" },
    },
    {
      name: "an unhealthy node's mark, a minute old",
      known: mark({ by: "unhealthy", since: at(-60) }),
      action: { kind: "undrain" },
    },
    {
      name: "a terminate was accepted two minutes ago, no sooner",
      known: mark({ sentAt: at(-119.999) }),
      action: none,
    },
    {
      name: "a terminate was accepted two minutes ago, and it is still up: decided anew",
      known: mark({ sentAt: at(-120) }),
      action: { kind: "undrain" },
    },
  ];
  test.each(rows)("$name", (row) => check(buildNode("n1", row.node), row));
});

describe("a node that never was Ready", () => {
  const young = { firstSeenAt: at(-3599.999) };
  const old = { firstSeenAt: at(-3600) };
  const rows: readonly Row[] = [
    { name: "on its way up", known: young, action: none },
    { name: "its time to boot is over", known: old, action: terminate("boot-timeout") },
    {
      name: "its time is over, though a plan needs it",
      known: old,
      around: { spare: false },
      action: terminate("boot-timeout"),
    },
    {
      name: "its time is over, though scale-down rests",
      known: old,
      around: { resting: true },
      action: terminate("boot-timeout"),
    },
    { name: "its time is over, KeepAlive is set", known: old, node: keptAlive, action: none },
    {
      name: "CycleCloud names no target state: never stopped for that",
      known: { ...old, unclearSince: at(-7200), busyness: { state: "unknown", since: at(-7200) } },
      node: { phase: "unknown" },
      action: none,
    },
    {
      name: "failed: no jobs can be on it",
      known: young,
      node: { phase: "failed" },
      action: terminate("failed"),
    },
    {
      name: "failed, though a plan needs it",
      known: young,
      node: { phase: "failed" },
      around: { spare: false },
      action: terminate("failed"),
    },
    { name: "failed, KeepAlive is set", known: young, node: { phase: "failed", ...keptAlive }, action: none },
    {
      name: "failed, and the last look does not show it: it is in doubt, and not stopped",
      known: young,
      node: { phase: "failed", missing: { since: at(-30) } },
      around: silent,
      action: none,
    },
    {
      name: "failed, its terminate is under way",
      known: { ...young, ...mark({ by: "failed", sentAt: at(-60) }) },
      node: { phase: "failed" },
      action: none,
    },
    {
      name: "failed, its terminate had no effect",
      known: { ...young, ...mark({ by: "failed", sentAt: at(-120) }) },
      node: { phase: "failed" },
      action: terminate("failed"),
    },
  ];
  test.each(rows)("$name", (row) => {
    const node = buildNode("n1", { phase: "coming", ...row.node });
    const known = { ...rememberNode(node), ...row.known };
    const { firstReadyAt: _never, ...unborn } = known;
    expect(judgeNode(node, unborn, { ...free, ...row.around })).toEqual(row.action);
  });
});

describe("a node that failed after it was Ready: jobs may still run there", () => {
  const rows: readonly Row[] = [
    { name: "reported idle: marked, and looked at again", action: { kind: "mark", by: "failed" } },
    { name: "reported busy", around: { busy: true, ...silent }, action: none },
    { name: "nobody says what it does", around: silent, action: none },
    { name: "scale-down rests", around: { resting: true }, action: none },
    {
      name: "needed by a plan: it is no capacity all the same",
      around: { spare: false },
      action: { kind: "mark", by: "failed" },
    },
    { name: "marked, reported idle since", known: mark({ by: "failed" }), action: terminate("failed") },
    {
      name: "marked, no newer report yet",
      known: mark({ by: "failed" }),
      around: { reportedIdleAt: at(-30) },
      action: none,
    },
    {
      name: "marked, and a job is on it",
      known: mark({ by: "failed" }),
      around: { busy: true },
      action: none,
    },
    { name: "KeepAlive is set", known: mark({ by: "failed" }), node: keptAlive, action: { kind: "undrain" } },
  ];
  test.each(rows)("$name", (row) => check(buildNode("n1", { phase: "failed", ...row.node }), row));
});

describe("a node that is on its way down, gone, or restarting", () => {
  const rows: readonly Row[] = [
    { name: "terminating", node: { phase: "going" }, action: none },
    {
      name: "stuck: it failed while terminating",
      node: { phase: "going", status: "Failed" },
      action: terminate("stuck"),
    },
    {
      name: "stuck, asked a minute ago",
      node: { phase: "going", status: "Failed" },
      known: mark({ sentAt: at(-60) }),
      action: none,
    },
    {
      name: "stuck, asked two minutes ago: again",
      node: { phase: "going", status: "Failed" },
      known: mark({ sentAt: at(-120) }),
      action: terminate("stuck"),
    },
    {
      name: "stuck, while scale-down rests",
      node: { phase: "going", status: "Failed" },
      around: { resting: true },
      action: terminate("stuck"),
    },
    {
      name: "stuck, KeepAlive is set",
      node: { phase: "going", status: "Failed", ...keptAlive },
      action: none,
    },
    { name: "without a VM", node: { phase: "off" }, action: none },
    {
      name: "started 100 s ago, first seen long before: its boot timeout counts from the start",
      node: { phase: "coming" },
      known: { firstSeenAt: at(-9000), start: { state: "shown", since: at(-100) } },
      action: none,
    },
    {
      name: "started an hour ago, and not Ready",
      node: { phase: "coming" },
      known: { firstSeenAt: at(-9000), start: { state: "shown", since: at(-3600) } },
      action: terminate("boot-timeout"),
    },
    { name: "deallocated: kept on purpose", node: { phase: "deallocated" }, action: none },
    {
      name: "restarting long after it was Ready: no boot timeout",
      node: { phase: "coming" },
      known: { firstReadyAt: at(-3500) },
      action: none,
    },
    {
      name: "restarting with a callback's mark that was left",
      node: { phase: "coming" },
      known: { firstReadyAt: at(-3500), ...mark({ by: "callback", since: at(-60) }) },
      action: { kind: "undrain" },
    },
  ];
  test.each(rows)("$name", (row) => check(buildNode("n1", row.node), row));
});

test.each([
  {
    name: "failed",
    node: buildNode("n1", { phase: "failed", statusMessage: "no capacity" }),
    seen: 10,
    why: "Status Failed: no capacity",
  },
  {
    name: "too slow",
    node: buildNode("n1", { phase: "coming" }),
    seen: 3600,
    why: "execute-n1 was not Ready 3600 s after it was first seen (Status Preparation)",
  },
  { name: "in time", node: buildNode("n1", { phase: "coming" }), seen: 3599, why: undefined },
  { name: "terminating", node: buildNode("n1", { phase: "going" }), seen: 9000, why: undefined },
])("why a node that never was Ready is given up: $name", ({ node, seen, why }) => {
  const { firstReadyAt: _never, ...known } = rememberNode(node, { firstSeenAt: at(-seen) });
  expect(whyGivenUp(node, known, { policy, now: NOW, busy: false, resting: false })).toBe(why);
});

describe("idle time", () => {
  test.each([
    { name: "since it became idle", known: idle, seconds: 300 },
    {
      name: "since it was last needed, if that is later",
      known: { ...idle, lastNeededAt: at(-20) },
      seconds: 20,
    },
    {
      name: "since it was first Ready, if that is later",
      known: { ...idle, firstReadyAt: at(-10) },
      seconds: 10,
    },
    { name: "never below zero", known: idleSince(at(5)), seconds: 0 },
  ])("runs $name", ({ known, seconds }) => {
    expect(idleSeconds(rememberNode(buildNode("n1"), known), NOW)).toBe(seconds);
  });

  test.each([
    { state: "idle", enough: true },
    { state: "unknown", enough: false },
    { state: "busy", enough: false },
  ] as const)("an hour of $state: $enough", ({ state, enough }) => {
    const known = rememberNode(buildNode("n1"), { busyness: { state, since: at(-3600) } });
    expect(isIdleLongEnough(known, policy, NOW)).toBe(enough);
  });
});

describe("an action on the ledger", () => {
  const known = rememberNode(buildNode("n1"), idle);

  test("a mark notes when, by whom and with which plan", () => {
    expect(applyAction(known, { kind: "mark", by: "idle" }, 7, NOW).draining).toEqual({
      since: NOW,
      by: "idle",
      plan: 7,
      attempts: 0,
    });
  });

  test("a terminate keeps the mark's time and the attempts, and forgets when the last was sent", () => {
    const marked = { ...known, ...mark({ attempts: 2, sentAt: at(-120) }) };
    expect(applyAction(marked, terminate("stuck"), 7, NOW).draining).toEqual({
      since: at(-30),
      by: "stuck",
      plan: 7,
      attempts: 2,
    });
  });

  test("a node that is taken out of draining starts its idle clock anew", () => {
    const after = applyAction({ ...known, ...mark() }, { kind: "undrain" }, 7, NOW);
    expect(after).toEqual({ ...known, busyness: { state: "unknown", since: NOW } });
  });

  test("nothing to do: the same object", () => {
    expect(applyAction(known, none, 7, NOW)).toBe(known);
  });
});

test.each([
  { name: "not marked", known: {}, excluded: false },
  {
    name: "our own mark for idleness: it can be taken back",
    known: mark({ since: at(-500) }),
    excluded: false,
  },
  {
    name: "a callback's mark: the node may still be told to stay",
    known: mark({ by: "callback" }),
    excluded: false,
  },
  { name: "the mark of an unfit node", known: mark({ by: "unhealthy", since: at(-59.999) }), excluded: true },
  {
    name: "the mark of an unfit node that nobody followed up",
    known: mark({ by: "unhealthy", since: at(-60) }),
    excluded: false,
  },
  { name: "its terminate was accepted", known: mark({ sentAt: at(-119.999) }), excluded: true },
  { name: "its terminate had no effect in time", known: mark({ sentAt: at(-120) }), excluded: false },
])("a node is no capacity while it is being stopped: $name -> $excluded", ({ known, excluded }) => {
  expect(isExcluded(rememberNode(buildNode("n1"), known), new Set(), NOW)).toBe(excluded);
});

test.each([
  { by: "idle", excluded: false },
  { by: "callback", excluded: false },
  { by: "unhealthy", excluded: true },
  { by: "boot-timeout", excluded: false },
  { by: "failed", excluded: false },
] as const)("a node with a committed stop, $by, is no capacity for that: $excluded", ({ by, excluded }) => {
  const known = rememberNode(buildNode("n1"), mark({ by, sentAt: at(-500) }));
  expect(isExcluded(known, new Set([nodeId("n1")]), NOW)).toBe(excluded);
});
