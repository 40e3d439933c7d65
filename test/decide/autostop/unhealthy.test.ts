import type { StopCall } from "../../../src/decide/autostop/stop-survey.ts";
import { describe, expect, test } from "vitest";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import type { SchedulerNode } from "../../../src/domain/demand.ts";
import { arrayName, nodeId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { afterQuestions, buildCall } from "../../support/build-call.ts";
import {
  at,
  buildArray,
  buildNode,
  buildNodes,
  buildSnapshot,
  NOW,
  rememberNodes,
} from "../../support/build-node.ts";
import type { Scenario } from "../../support/build-record.ts";
import { buildJob, buildState, OURS } from "../../support/build-record.ts";
import { confirmStops } from "../../../src/decide/autostop/confirm-stops.ts";

/** Nodes that call themselves unhealthy: any holder of the stop URL of their array can call each of them unhealthy. */

const unhealthy = (id: string, more: Partial<StopCall> = {}) => buildCall(id, { unhealthy: true, ...more });

type State = ReturnType<typeof buildState>;

function stateOf(nodes: readonly Node[], scenario: Scenario = {}): State {
  return buildState({ ledger: rememberNodes(nodes), seen: buildSnapshot(nodes), ...scenario });
}

/** Both commits of calls of one moment: what each is told in the end, and the state that they leave. */
function ask(state: State, calls: readonly StopCall[], now: Instant = NOW) {
  const arrived = calls.map((call) => ({ ...call, arrivedAt: now }));
  const first = judgeStops(state.record, state.bodies, arrived, DEFAULT_POLICY, now);
  const bodies = afterQuestions(state.bodies, first.questions);
  const marked = first.verdicts.flatMap((verdict, index) => {
    const call = arrived[index];
    return verdict.kind === "marked" && call !== undefined ? [{ node: verdict.node, call }] : [];
  });
  const second = confirmStops(first.record, bodies, marked, DEFAULT_POLICY, now, OURS);
  const told = first.verdicts.map((verdict) =>
    verdict.kind === "marked" ? second.verdicts.get(verdict.node) : verdict,
  );
  return { told, state: { record: second.record, bodies: afterQuestions(bodies, second.questions) } };
}

const kindsOf = (told: ReturnType<typeof ask>["told"]): readonly (string | undefined)[] =>
  told.map((verdict) => verdict?.kind);
const grantedOf = (told: ReturnType<typeof ask>["told"]): number =>
  told.filter((verdict) => verdict?.kind === "granted").length;
const report = (hosts: readonly SchedulerNode[], sentAt: Instant = NOW): Scenario => ({
  sets: { pbs: { report: hosts, sentAt } },
});

describe("a job is on the node", () => {
  const busy = { kind: "needed", why: "job 7 is on it", undrain: false, held: "job" };
  const placed = buildJob("7", 1, { placed: [{ hostname: "ip-b", iterations: 1 }] });
  test.each([
    { name: "reported", scenario: report([{ hostname: "ip-b", jobs: ["7"] }]) },
    {
      name: "reported, and its host is closed",
      scenario: report([{ hostname: "ip-b", jobs: ["7"], state: "closed" }]),
    },
    { name: "placed", scenario: { sets: { pbs: { demands: [placed] } } } },
  ] satisfies readonly { name: string; scenario: Scenario }[])(
    "$name: it stays, and is never told to open",
    ({ scenario }) => {
      const { told, state } = ask(stateOf([buildNode("b")], scenario), [unhealthy("b")]);
      expect(told).toEqual([busy]);
      expect(state.record.intents).toEqual([]);
      expect(state.record.backoffs).toEqual([]);
      expect(state.bodies.questions?.get(nodeId("b"))).toMatchObject({
        unhealthy: { since: NOW, held: "job" },
      });
    },
  );

  test("a job that comes between the two commits keeps it, and its mark is taken back", () => {
    const state = stateOf([buildNode("b")]);
    const first = judgeStops(state.record, state.bodies, [unhealthy("b")], DEFAULT_POLICY, NOW);
    expect(first.verdicts).toEqual([{ kind: "marked", node: "b" }]);
    const bodies = afterQuestions(state.bodies, first.questions);
    const { record, bodies: reported } = stateOf(
      [buildNode("b")],
      report([{ hostname: "ip-b", jobs: ["7"] }]),
    );
    const second = confirmStops(
      { ...first.record, sets: record.sets },
      { ...bodies, reports: reported.reports, demands: reported.demands },
      [{ node: nodeId("b"), call: { arrivedAt: NOW } }],
      DEFAULT_POLICY,
      at(1),
      OURS,
    );
    expect([...second.verdicts.values()]).toEqual([busy]);
    expect(afterQuestions(bodies, second.questions).ledger.get(nodeId("b"))).not.toHaveProperty("draining");
    expect(second.questions.get(nodeId("b"))?.unhealthy).toEqual({ since: at(1), held: "job" });
  });

  test("it says so again each minute: since the first time; and goes once the job is no longer reported", () => {
    const nodes = [buildNode("b")];
    const first = ask(stateOf(nodes, report([{ hostname: "ip-b", jobs: ["7"] }])), [unhealthy("b")]);
    const again = ask(first.state, [unhealthy("b")], at(60));
    expect(again.state.bodies.questions?.get(nodeId("b"))?.unhealthy?.since).toBe(NOW);
    const free = stateOf(nodes, report([{ hostname: "ip-b", jobs: [] }], at(90)));
    const bodies = { ...again.state.bodies, reports: free.bodies.reports };
    const last = ask(
      { record: { ...again.state.record, sets: free.record.sets }, bodies },
      [unhealthy("b")],
      at(120),
    );
    expect(kindsOf(last.told)).toEqual(["granted"]);
    expect(last.state.bodies.questions?.get(nodeId("b"))).not.toHaveProperty("unhealthy");
  });

  test("a plain question ends that: the node may open again", () => {
    const first = ask(stateOf([buildNode("b")], report([{ hostname: "ip-b", jobs: ["7"] }])), [
      unhealthy("b"),
    ]);
    const { told, state } = ask(first.state, [buildCall("b")], at(60));
    expect(told).toEqual([{ kind: "needed", why: "job 7 is on it", undrain: true }]);
    expect(state.bodies.questions?.get(nodeId("b"))).not.toHaveProperty("unhealthy");
  });
});

describe("without a scheduler's word only a few nodes of an array go within an hour", () => {
  const why = (most: number) =>
    `at most ${most} nodes of node array "execute" go as unhealthy within an hour, unless a scheduler reports their hosts closed or without jobs`;

  test("all of 20 nodes say so at once: three go, and the others are held and shown", () => {
    const nodes = buildNodes("n", 20);
    const { told, state } = ask(
      stateOf(nodes),
      nodes.map(({ nodeId: id }) => unhealthy(id)),
    );
    expect(grantedOf(told)).toBe(3);
    expect(told[3]).toEqual({ kind: "needed", why: why(3), undrain: false, held: "limit" });
    expect(state.record.unhealthyStops).toEqual([{ array: "execute", at: NOW, count: 3 }]);
    const held = [...(state.bodies.questions ?? [])].filter(
      ([, question]) => question.unhealthy?.held === "limit",
    );
    expect(held).toHaveLength(17);
    expect([...state.bodies.ledger.values()].filter(({ draining }) => draining !== undefined)).toHaveLength(
      3,
    );
  });

  test("a tenth of 57 nodes: five", () => {
    const nodes = buildNodes("n", 57);
    const { told } = ask(
      stateOf(nodes),
      nodes.map(({ nodeId: id }) => unhealthy(id)),
    );
    expect(grantedOf(told)).toBe(5);
  });

  test("one a minute: three go, and the fourth an hour after the third", () => {
    let state = stateOf(buildNodes("n", 9), { seen: buildSnapshot(buildNodes("n", 9)) });
    const going: number[] = [];
    for (let minute = 0; minute < 70; minute += 1) {
      // A node that was let go has gone: another one asks.
      const step = ask(state, [unhealthy(`n${Math.min(9, going.length + 1)}`)], at(60 * minute));
      if (grantedOf(step.told) === 1) going.push(minute);
      state = { ...step.state, record: { ...step.state.record, intents: [] } };
    }
    // 0 to 2 are one entry of five minutes, whose last counts.
    expect(going).toEqual([0, 1, 2, 62, 63, 64]);
    expect(state.record.unhealthyStops).toHaveLength(1);
  });

  test("each array by itself", () => {
    const viz = arrayName("viz");
    const nodes = [...buildNodes("n", 5), ...buildNodes("v", 5, { array: viz })];
    const seen = buildSnapshot(nodes, { arrays: [buildArray("execute"), buildArray("viz")] });
    const { told } = ask(
      stateOf(nodes, { seen }),
      nodes.map(({ nodeId: id, array }) => unhealthy(id, { array })),
    );
    expect(grantedOf(told.slice(0, 5))).toBe(3);
    expect(grantedOf(told.slice(5))).toBe(3);
  });

  test.each([
    { name: "has no jobs", host: { jobs: [] } },
    { name: "has no jobs, and is open", host: { jobs: [], state: "open" } },
    { name: "is closed", host: { jobs: [], state: "closed" } },
  ] satisfies readonly { name: string; host: Omit<SchedulerNode, "hostname"> }[])(
    "a report that the host $name is a scheduler's word: all go, and none of them counts",
    ({ host }) => {
      const nodes = buildNodes("n", 12);
      const hosts = nodes.map(({ hostname = "" }) => ({ hostname, ...host }));
      const { told, state } = ask(
        stateOf(nodes, report(hosts)),
        nodes.map(({ nodeId: id }) => unhealthy(id)),
      );
      expect(grantedOf(told)).toBe(12);
      expect(state.record).not.toHaveProperty("unhealthyStops");
    },
  );

  test("a report that has run out is no word", () => {
    const nodes = buildNodes("n", 5);
    const hosts = nodes.map(({ hostname = "" }) => ({ hostname, jobs: [] }));
    const { told } = ask(
      stateOf(nodes, report(hosts, at(-600))),
      nodes.map(({ nodeId: id }) => unhealthy(id)),
    );
    expect(grantedOf(told)).toBe(3);
  });

  test("two hosts judge at once: the second commit counts what the first has let go", () => {
    const nodes = buildNodes("n", 6);
    const state = stateOf(nodes);
    const calls = nodes.map(({ nodeId: id }) => unhealthy(id));
    const one = judgeStops(state.record, state.bodies, calls.slice(0, 3), DEFAULT_POLICY, NOW);
    const afterOne = { record: one.record, bodies: afterQuestions(state.bodies, one.questions) };
    const two = judgeStops(afterOne.record, afterOne.bodies, calls.slice(3), DEFAULT_POLICY, NOW);
    const bodies = afterQuestions(afterOne.bodies, two.questions);
    const confirm = (record: ClusterRecord, ids: readonly string[]) =>
      confirmStops(
        record,
        bodies,
        ids.map((id) => ({ node: nodeId(id), call: { arrivedAt: NOW } })),
        DEFAULT_POLICY,
        NOW,
        OURS,
      );
    const first = confirm(two.record, ["n1", "n2", "n3"]);
    const second = confirm(first.record, ["n4", "n5", "n6"]);
    expect([...first.verdicts.values()].map(({ kind }) => kind)).toEqual(["granted", "granted", "granted"]);
    expect([...second.verdicts.values()].map(({ kind }) => kind)).toEqual(["needed", "needed", "needed"]);
    expect(second.record.intents).toHaveLength(1);
  });

  test("one that is held and asks only about its earlier question is not told to open", () => {
    const nodes = buildNodes("n", 5);
    const spent = { unhealthyStops: [{ array: arrayName("execute"), at: at(-60), count: 3 }] };
    const state = stateOf(nodes, { record: spent });
    expect(ask(state, [unhealthy("n1", { begin: false })]).told).toEqual([
      { kind: "needed", why: why(3), undrain: false, held: "limit" },
    ]);
    // While there is room, no stop of it is under way, and the next question may begin one.
    expect(ask(stateOf(nodes), [unhealthy("n1", { begin: false })]).told).toEqual([
      { kind: "cannot-tell", why: "no stop of this node is under way", undrain: true },
    ]);
  });

  test("while there is no verdict, it is unhealthy since the same moment", () => {
    const nodes = buildNodes("n", 5);
    const spent = { unhealthyStops: [{ array: arrayName("execute"), at: at(-60), count: 3 }] };
    const first = ask(stateOf(nodes, { record: spent }), [unhealthy("n1")]);
    const lacking = buildSnapshot([
      { ...buildNode("n1"), missing: { since: at(30), observations: 1 } },
      ...nodes.slice(1),
    ]);
    const blurred = { ...first.state, bodies: { ...first.state.bodies, seen: lacking } };
    const second = ask(blurred, [unhealthy("n1")], at(60));
    expect(kindsOf(second.told)).toEqual(["cannot-tell"]);
    expect(second.state.bodies.questions?.get(nodeId("n1"))?.unhealthy).toEqual({
      since: NOW,
      held: "limit",
    });
  });

  test("a node that is held is no substitute for one that asks plainly", () => {
    const nodes = buildNodes("n", 5);
    const spent = { unhealthyStops: [{ array: arrayName("execute"), at: at(-60), count: 3 }] };
    const demands = [buildJob("four", 4, { nodeCount: 4 })];
    const state = stateOf(nodes, { sets: { standard: { demands } }, record: spent });
    expect(kindsOf(ask(state, [unhealthy("n1"), buildCall("n2")]).told)).toEqual(["needed", "needed"]);
    expect(kindsOf(ask(state, [buildCall("n2")]).told)).toEqual(["granted"]);
  });
});
