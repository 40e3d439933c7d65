/** While all sets of a sender rest, plans read a thousand of its jobs together (docs/protocol.md, The budget of a plan). */
import { expect, test } from "vitest";
import { describeTroubles } from "../../../src/app/describe/describe-troubles.ts";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { Demand } from "../../../src/domain/demand.ts";
import { withUnread } from "../../../src/decide/need/left-out.ts";
import { setName } from "../../../src/domain/ids.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import { countDemands } from "../../../src/domain/plan.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { isoTime } from "../../../src/domain/units.ts";
import { buildCall } from "../../support/build-call.ts";
import { inArrays, needing } from "../../support/build-constraints.ts";
import {
  at,
  buildArray,
  buildNode,
  buildNodes,
  buildSnapshot,
  EXECUTE,
  idleSince,
  NOW,
  rememberNodes,
} from "../../support/build-node.ts";
import type { SetScenario } from "../../support/build-record.ts";
import { buildJob, buildState, buildTarget, OURS } from "../../support/build-record.ts";
import { SENDER_RULE } from "../../support/sender-rule.ts";

const HPC = buildArray("hpc").name;
const senders = ["big*", "other"].map((set) => ({ ...SENDER_RULE, requestSets: [set] }));
const policy = { ...DEFAULT_POLICY, senders };
const nodes = [...buildNodes("n", 2), buildNode("h1", { array: HPC }), buildNode("h2", { array: HPC })];
const snapshot = buildSnapshot(nodes, { arrays: [buildArray(), buildArray("hpc")] });

/** Jobs that name an array, and that no node has room for. */
const jobs = (count: number, prefix = "j"): readonly Demand[] =>
  Array.from({ length: count }, (_, i) =>
    buildJob(`${prefix}${i}`, 1, {
      position: i,
      constraints: [...needing({ ncpus: 1000 }), inArrays("hpc")],
    }),
  );

const UNTIL = at(180);
/** The last plan was made 10 s ago. */
const PLANNED = at(-10);

function planWith(
  sets: Readonly<Record<string, SetScenario>>,
  last: Plan["demands"] = [],
  ...allOf: readonly string[]
) {
  const state = buildState({
    sets: { ...sets, other: { demands: [buildTarget(1)] } },
    record: { dear: { sets: [], allOf: allOf.map((set) => setName(set)), since: PLANNED, until: UNTIL } },
    ledger: rememberNodes(nodes, idleSince(at(-900))),
    seen: snapshot,
  });
  const plan: Plan = {
    number: 1,
    at: PLANNED,
    creates: [],
    terminates: [],
    demands: last,
    nodes: new Map(),
  };
  const bodies = { ...state.bodies, plan };
  const { plan: next } = decide(
    state.record,
    bodies,
    { snapshot, requestNodes: new Map() },
    policy,
    NOW,
    OURS,
  );
  const idsOf = (set: string) => next.demands.filter((one) => one.set === set).map(({ id }) => id);
  return { record: state.record, bodies, plan: next, idsOf };
}

/** The last plan had placed the last job, and no other. */
const LAST: Plan["demands"] = Array.from({ length: 1500 }, (_, i) => ({
  set: setName("big"),
  id: `j${i}`,
  kind: "job",
  unit: "slots",
  asked: 1,
  placed: i === 1499 ? 1 : 0,
  pending: 0,
  reasons: [],
}));

test("those that the last plan placed keep their outcome, and readers see the others as left out", () => {
  const { record, bodies, plan, idsOf } = planWith(
    { big: { demands: jobs(1500), sentAt: at(-20) } },
    LAST,
    "big",
  );
  expect(idsOf("big")).toHaveLength(1001);
  expect(plan.demands.find(({ id }) => id === "j1499")).toMatchObject({ placed: 1, asked: 1 });
  expect(plan.leftOut).toMatchObject([{ set: "big", unread: 499 }]);
  expect(plan.demands.find(({ set }) => set === "other")).toMatchObject({ placed: 1 });
  expect(countDemands(plan)).toEqual({ demands: 1501, unmet: 1499 });

  const { demands } = withUnread(plan, record, bodies);
  expect(new Set(demands.map(({ id }) => id)).size).toBe(1501);
  expect(demands.find(({ id }) => id === "j1200")).toMatchObject({
    placed: 0,
    reasons: [{ code: "left-out" }],
  });
});

test("those of a message that came after the last plan have no outcome of it", () => {
  const { plan, idsOf } = planWith({ big: { demands: jobs(1500), sentAt: at(-5) } }, LAST, "big");
  expect(idsOf("big")).toHaveLength(1000);
  expect(plan.leftOut).toMatchObject([{ unread: 500 }]);
});

test("a thousand jobs of all its sets are read, and each target, which may define a node array", () => {
  const sets = {
    "big-1": { demands: jobs(600, "a") },
    "big-2": { demands: jobs(600, "b") },
    "big-3": { demands: [buildTarget(2), ...jobs(3, "c")] },
  };
  const { idsOf } = planWith(sets, [], "big-9");
  expect(["big-1", "big-2"].map((set) => idsOf(set).length)).toEqual([600, 400]);
  expect(idsOf("big-3")).toEqual(["execute"]);
});

test("nothing is left out of a sender with fewer", () => {
  expect(planWith({ big: { demands: jobs(100) } }, [], "big").plan.leftOut).toBeUndefined();
});

test("no node of the arrays that they name is stopped, those of other arrays are", () => {
  const { record, bodies, plan } = planWith({ big: { demands: jobs(1500) } }, [], "big");
  expect([...plan.nodes].filter(([, { kind }]) => kind === "perhaps-needed").map(([id]) => id)).toEqual([
    "h1",
    "h2",
  ]);
  const verdictOf = (id: string) =>
    judgeStops(record, bodies, [buildCall(id, { array: id === "h1" ? HPC : EXECUTE })], policy, NOW)
      .verdicts[0];
  expect(verdictOf("h1")).toMatchObject({ kind: "cannot-tell", undrain: false });
  expect(["n1", "n2"].map((id) => verdictOf(id)?.kind)).toContain("marked");
});

test("the trouble says until when", () => {
  const { record, bodies, plan } = planWith({ big: { demands: jobs(1500) } }, [], "big-2");
  const troubles = describeTroubles(record, { ...bodies, plan }, [], NOW, NOW, undefined, policy);
  expect(troubles.find(({ kind }) => kind === "left-out")?.text).toContain(
    `It is planned in full again from ${isoTime(UNTIL)} on.`,
  );
  // Most of the time for some seconds each: that of many jobs beside another sender.
  const short = { ...record, dear: { sets: [], allOf: [setName("big-2")], since: at(-9), until: at(170) } };
  expect(describeTroubles(short, { ...bodies, plan }, [], NOW, NOW, undefined, policy)).toEqual(
    troubles.filter(({ kind }) => kind !== "left-out"),
  );
});
