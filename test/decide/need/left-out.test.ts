/** Demand that costs more than its share of the planning budget is left out of the plan, and counts as unknown. */
import { describe, expect, test } from "vitest";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { DefaultResource } from "../../../src/domain/default-resource.ts";
import type { Demand, JobDemand } from "../../../src/domain/demand.ts";
import { renderVerdict } from "../../../src/domain/node-verdict.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { setName } from "../../../src/domain/ids.ts";
import { isoTime, plusSeconds } from "../../../src/domain/units.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { describeTroubles } from "../../../src/app/describe/describe-troubles.ts";
import { afterQuestions, buildCall } from "../../support/build-call.ts";
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
import { buildJob, buildState, buildTarget, OURS, pushSets } from "../../support/build-record.ts";
import { confirmStops } from "../../../src/decide/autostop/confirm-stops.ts";

const HPC = buildArray("hpc").name;
/** A budget that is too small for two hundred different jobs and large enough for one target. */
const policy: Policy = { ...DEFAULT_POLICY, planSteps: 400 };
const nodes = [...buildNodes("n", 3), buildNode("h1", { array: HPC })];
const snapshot = buildSnapshot(nodes, { arrays: [buildArray(), buildArray("hpc")] });

/** Different jobs, so that each costs steps of its own. */
const dear = (more: (i: number) => Partial<JobDemand> = () => ({})): readonly Demand[] =>
  Array.from({ length: 200 }, (_, i) =>
    buildJob(`j${i}`, 3, { position: i, constraints: needing({ ncpus: 1 + i / 1000 }), ...more(i) }),
  );

const inHpc = (i: number): Partial<JobDemand> => ({
  constraints: [...needing({ ncpus: 1 + i / 1000 }), inArrays("hpc")],
});

const report = ["ip-n1", "ip-n2", "ip-n3", "ip-h1"].map((hostname) => ({ hostname, jobs: [] }));

function stateWith(evil: readonly Demand[], honest: readonly Demand[] = [buildTarget(1)]) {
  const sets: Record<string, SetScenario> = {
    evil: { demands: evil },
    honest: { demands: honest, report, sentAt: at(-10) },
  };
  return buildState({ sets, ledger: rememberNodes(nodes, idleSince(at(-900))), seen: snapshot });
}

type State = ReturnType<typeof stateWith>;

const planOn = ({ record, bodies }: State, now = NOW, rules = policy) =>
  decide(record, bodies, { snapshot, requestNodes: new Map() }, rules, now, OURS);

const outcomesOf = ({ plan }: ReturnType<typeof planOn>, set: string) =>
  plan.demands.filter((outcome) => outcome.set === set);

const verdictsOf = ({ plan }: ReturnType<typeof planOn>) =>
  [...plan.nodes].map(([id, verdict]) => `${id} ${renderVerdict(verdict)}`);

describe("a set with two hundred jobs that differ, which costs too much", () => {
  test("is left out, says so, and the other set is planned", () => {
    const decision = planOn(stateWith(dear(), [buildTarget(5)]));
    expect(decision.plan.leftOut).toMatchObject([{ set: "evil", why: expect.stringMatching(/^\d+ jobs$/) }]);
    const last = outcomesOf(decision, "evil").at(-1);
    expect(last).toMatchObject({ id: "j199", placed: 0, asked: 3 });
    expect(last?.reasons.map(renderReason)).toEqual([
      "left out of this plan: its request set costs more than its share of the planning budget",
    ]);
    expect(outcomesOf(decision, "honest")).toMatchObject([{ placed: 5, asked: 5 }]);
  });

  test("the trouble names it, and what makes it dear", () => {
    const state = stateWith(dear());
    const { plan } = planOn(state);
    const troubles = describeTroubles(state.record, { ...state.bodies, plan }, [], NOW);
    const [trouble] = troubles.filter(({ kind }) => kind === "left-out");
    expect(trouble?.text).toMatch(
      /^request set evil: left out of this plan, from j\d+ on; \d+ jobs cost more than its share of the planning budget\. /,
    );
  });

  test("while it rests, the trouble says when it is planned in full again", () => {
    const state = stateWith(dear());
    const { plan } = planOn(state);
    const textWith = (until: number) => {
      const record = {
        ...state.record,
        dear: { sets: [setName("evil")], since: NOW, until: plusSeconds(NOW, until) },
      };
      const troubles = describeTroubles(record, { ...state.bodies, plan }, [], NOW);
      return troubles.find(({ kind }) => kind === "left-out")?.text.replace(/^.*may need is stopped\. /, "");
    };
    const remedy = "Send fewer kinds of jobs, or fewer alternatives";
    expect(textWith(63)).toBe(
      `It is planned in full again from ${isoTime(plusSeconds(NOW, 63))} on. ${remedy}`,
    );
    // A plan for others has kept it out since.
    expect(textWith(0)).toBe(`It is planned in full again at the next tick. ${remedy}`);
  });

  test("the same input gives the same plan", () => {
    const [one, other] = [planOn(stateWith(dear())), planOn(stateWith(dear()))];
    expect(one.plan).toEqual(other.plan);
  });
});

describe("idle nodes that nothing else needs", () => {
  test("of any array stay, where the jobs name none", () => {
    const held = planOn(stateWith(dear(unmetBut), []));
    expect(held.plan.leftOut).toHaveLength(1);
    expect(marksIn(held)).toEqual([]);
    expect(verdictsOf(held)).toEqual(
      ["n1", "n2", "n3", "h1"].map(
        (id) => `${id} stays: request set evil is left out of this plan, and may need it`,
      ),
    );
  });

  test("of the array that the jobs name stay, and others are marked to be stopped", () => {
    const held = planOn(
      stateWith(
        dear((i) => ({ ...inHpc(i), ...unmetBut(i, [inArrays("hpc")]) })),
        [],
      ),
    );
    expect(held.plan.leftOut).toHaveLength(1);
    expect(marksIn(held)).toEqual(["n1", "n2", "n3"]);
  });

  test("are marked as ever once the demand has ended", () => {
    const state = stateWith(dear(unmetBut), []);
    const ended = pushSets(state, {
      evil: { demands: [], digest: "none" },
      honest: { demands: [], report, sentAt: at(50), digest: "empty" },
    });
    expect(marksIn(planOn(ended, at(60)))).toEqual(["h1", "n1", "n2", "n3"]);
  });
});

/** Jobs for which no node has room: the search costs steps, and no node is taken. */
function unmetBut(i: number, more: JobDemand["constraints"] = []): Partial<JobDemand> {
  return { constraints: [...needing({ ncpus: 1000 + i }), ...more] };
}

const marksIn = ({ ledger }: ReturnType<typeof planOn>): readonly string[] =>
  [...ledger.values()].flatMap(({ nodeId, draining }) => (draining === undefined ? [] : [nodeId])).sort();

describe("a node that asks whether it may stop", () => {
  const ask = (state: State, id: string) =>
    judgeStops(
      state.record,
      state.bodies,
      [buildCall(id, { array: id === "h1" ? HPC : EXECUTE })],
      policy,
      NOW,
    ).verdicts[0];

  test("and that the left out set may need is told to ask again, and not to take work", () => {
    expect(ask(stateWith(dear(unmetBut), []), "n1")).toEqual({
      kind: "cannot-tell",
      why: "demand that costs too much to be planned may need the node; ask again",
      undrain: false,
    });
  });

  test("and that is of another array than the set names may stop", () => {
    const state = stateWith(
      dear((i) => unmetBut(i, [inArrays("hpc")])),
      [],
    );
    expect(ask(state, "n1")).toMatchObject({ kind: "marked" });
    expect(ask(state, "h1")).toMatchObject({ kind: "cannot-tell", undrain: false });
  });

  test("is not stopped, should the dear demand come between its mark and its stop", () => {
    const before = stateWith([], []);
    const call = buildCall("n1");
    const { record, questions } = judgeStops(before.record, before.bodies, [call], policy, NOW);
    const marked = { record, bodies: afterQuestions(before.bodies, questions) };
    const pushed = pushSets(marked, { evil: { demands: dear(unmetBut), digest: "dear" } });
    const mark = [...snapshot.nodes].flatMap(({ nodeId }) =>
      nodeId === "n1" ? [{ node: nodeId, call }] : [],
    );
    const { verdicts, record: after } = confirmStops(pushed.record, pushed.bodies, mark, policy, NOW, OURS);
    expect([...verdicts.values()]).toMatchObject([{ kind: "cannot-tell", undrain: false }]);
    expect(after.intents).toEqual([]);
  });
});

test("what the last plan had placed of it is shown", () => {
  const state = stateWith(dear(), []);
  const whole = planOn(state, NOW, DEFAULT_POLICY);
  expect(outcomesOf(whole, "evil").at(-1)).toMatchObject({ id: "j199", placed: 3 });
  const next = planOn({ ...state, bodies: { ...state.bodies, plan: whole.plan } });
  expect(next.plan.leftOut).toHaveLength(1);
  expect(outcomesOf(next, "evil").at(-1)).toMatchObject({ id: "j199", placed: 3, asked: 3 });
});

test("nothing is created for what is left out", () => {
  const few = planOn(stateWith(dear(), []));
  const placed = outcomesOf(few, "evil").filter((outcome) => outcome.placed > 0).length;
  expect([placed > 0, placed < 200]).toEqual([true, true]);
  // As if only the placed jobs had been sent.
  const alone = planOn(stateWith(dear().slice(0, placed), []), NOW, DEFAULT_POLICY);
  expect(few.plan.creates).toEqual(alone.plan.creates);
});

describe("default resources that cost more than half of a plan", () => {
  const names = ["ngpus", "mem"];
  const entries = (count: number): readonly DefaultResource[] =>
    Array.from({ length: count }, (_, i) => ({
      select: needing({ ncpus: 1 }),
      name: `r${i}`,
      value: { kind: "resource", resource: names[i % 2] ?? "" },
    }));
  // Two steps for each entry on each bucket: 99 entries on two buckets, and on the nodes of each, are 792 steps.
  const dear: Policy = { ...DEFAULT_POLICY, planSteps: 1500, defaultResources: entries(99) };

  test("leave out all demand; no node that it may need is stopped, and the reasons name the configuration", () => {
    const state = stateWith([buildJob("j", 1)], [buildTarget(1)]);
    const decision = planOn(state, NOW, dear);
    expect(decision.plan).toMatchObject({ creates: [], terminates: [] });
    expect(outcomesOf(decision, "honest")[0]?.reasons.map(renderReason)).toEqual([
      "left out of this plan: default_resources of the configuration cost more than half of the planning budget",
    ]);
    expect(decision.plan.leftOut).toMatchObject([
      { set: "evil", why: "99 entries of default_resources", by: "configuration" },
      { set: "honest" },
    ]);
    expect(verdictsOf(decision).every((verdict) => !verdict.includes("spare"))).toBe(true);
    const { plan } = decision;
    const troubles = describeTroubles(state.record, { ...state.bodies, plan }, [], NOW);
    expect(troubles.find(({ kind }) => kind === "left-out")?.text).toBe(
      "request set evil: left out of this plan, from j on; 99 entries of default_resources cost more than half of the planning budget. No nodes are created for this demand, and no node that it may need is stopped. Configure fewer of them, or with fewer constraints",
    );
  });

  test("fewer of them leave fewer steps for the demand, and all is planned", () => {
    const state = stateWith([buildJob("j", 1)], [buildTarget(1)]);
    const few = { ...dear, defaultResources: entries(20) };
    expect(planOn(state, NOW, few).plan.leftOut).toBeUndefined();
  });
});
