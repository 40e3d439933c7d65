import type { StopVerdict } from "../../../src/decide/autostop/stop-survey.ts";
import { describe, expect, test } from "vitest";
import { EXCLUSIVE, needing, ofSizes } from "../../support/build-constraints.ts";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import { arrayName, nodeId } from "../../../src/domain/ids.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildLedger,
  buildNode,
  buildNodes,
  buildSnapshot,
  D8,
  NOW,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import type { Scenario } from "../../support/build-record.ts";
import { buildIntent, buildJob, buildState, buildTarget } from "../../support/build-record.ts";
import { call, draining, judge, marked, one, policy, stateOf, target } from "./autostop-stage.ts";

const verdictOn = (scenario: Scenario, asked = call("n1"), nodes = [one], rules = policy): StopVerdict => {
  const { record, bodies } = stateOf(nodes, scenario);
  const [verdict] = judgeStops(record, bodies, [asked], rules, NOW).verdicts;
  if (verdict === undefined) throw new RangeError("one call has one verdict");
  return verdict;
};

const known = (more: Partial<LedgerNode>) => ({ ledger: buildLedger([rememberNode(one, more)]) });
const resting = { from: at(-900), to: at(-60), until: at(240), awaiting: [] };
const stopAsked = [buildIntent("r-1", { effect: { kind: "terminate", nodes: [nodeId("n1")] } })];

describe("what a node is told", () => {
  const placed = [buildJob("sim", 1, { placed: [{ hostname: "ip-n1", iterations: 1 }] })];
  const rows: readonly { name: string; scenario: Scenario; verdict: StopVerdict }[] = [
    { name: "no demand needs it", scenario: {}, verdict: marked },
    {
      name: "a set needs it",
      scenario: { sets: target(1) },
      verdict: { kind: "needed", why: "needed by standard/execute", undrain: true },
    },
    {
      name: "the set that needed it has run out",
      scenario: { sets: { standard: { demands: [buildTarget(1)], sentAt: at(-300) } } },
      verdict: marked,
    },
    {
      name: "a job is placed on it",
      scenario: { sets: { standard: { demands: placed } } },
      verdict: { kind: "needed", why: "job sim is on it", undrain: true },
    },
    {
      name: "a job is reported on it",
      scenario: { sets: { standard: { report: [{ hostname: "IP-N1.example", jobs: ["7"] }] } } },
      verdict: { kind: "needed", why: "job 7 is on it", undrain: true },
    },
    {
      name: "it is reported without a job",
      scenario: { sets: { standard: { report: [{ hostname: "ip-n1", jobs: [] }] } } },
      verdict: marked,
    },
    {
      name: "it has gone: yes, again",
      scenario: known({ goneAt: at(-3599) }),
      verdict: { kind: "stopping" },
    },
    {
      name: "it has gone for less than a minute, and we did not stop it: the status may be wrong",
      scenario: known({ goneAt: at(-59) }),
      verdict: { kind: "cannot-tell", why: "the last observation does not show the node", undrain: false },
    },
    {
      name: "it has gone just now, and we stopped it",
      scenario: known({ goneAt: at(-59), ...draining({ sentAt: at(-200) }) }),
      verdict: { kind: "stopping" },
    },
    {
      name: "its record is unclear",
      scenario: {
        seen: buildSnapshot([{ ...one, phase: "unknown" }]),
        ...known({ unclearSince: at(-3599) }),
      },
      verdict: {
        kind: "cannot-tell",
        why: "CycleCloud's record of the node does not say whether it is wanted",
        undrain: false,
      },
    },
    {
      name: "its record has been unclear for too long: its own word ends that",
      scenario: {
        seen: buildSnapshot([{ ...one, phase: "unknown" }]),
        ...known({ unclearSince: at(-3600) }),
      },
      verdict: marked,
    },
    {
      name: "it was asked to terminate",
      scenario: known(draining({ sentAt: at(-20) })),
      verdict: { kind: "stopping" },
    },
    {
      name: "it was asked to terminate two minutes ago and is up: what was asked has come to nothing, and is decided again",
      scenario: known(draining({ sentAt: at(-120) })),
      verdict: marked,
    },
    {
      name: "its terminate is committed and not confirmed: its sender may be dead",
      scenario: { record: { intents: stopAsked } },
      verdict: {
        kind: "cannot-tell",
        why: "its stop is under way; ask again",
        undrain: false,
        underWay: true,
      },
    },
    {
      name: "it is marked, and its first call's answer got lost",
      scenario: known(draining({})),
      verdict: marked,
    },
    {
      name: "our own idleness mark is no answer yet: its own word makes it one",
      scenario: known(draining({ by: "idle" })),
      verdict: marked,
    },
    {
      name: "the observation is two intervals old",
      scenario: { seen: buildSnapshot([one], { at: at(-120) }) },
      verdict: marked,
    },
    {
      name: "the observation is older than that",
      scenario: { seen: buildSnapshot([one], { at: at(-121) }) },
      verdict: {
        kind: "cannot-tell",
        why: "the last observation of the cluster is 121 s old",
        undrain: true,
      },
    },
    {
      name: "the observation lacks it",
      scenario: { seen: buildSnapshot([{ ...one, missing: { since: at(-60), observations: 1 } }]) },
      verdict: {
        kind: "cannot-tell",
        why: "the last observation does not show the node",
        undrain: false,
      },
    },
    {
      name: "scale-down rests after an outage",
      scenario: { record: { outage: resting } },
      verdict: {
        kind: "cannot-tell",
        why: "scale-down rests after a start or an interruption of the autoscaler",
        undrain: true,
      },
    },
    {
      name: "the rest is over",
      scenario: { record: { outage: { ...resting, until: at(0) } } },
      verdict: marked,
    },
  ];
  test.each(rows)("$name", ({ scenario, verdict }) => {
    expect(verdictOn(scenario)).toEqual(verdict);
  });

  const away = { from: at(-900), to: at(-60), until: at(240) };
  test.each([
    { name: "the set that was awaited has been pushed", sentAt: at(-30), verdict: "marked" },
    { name: "the set that is awaited has not", sentAt: at(-1000), verdict: "cannot-tell" },
  ])("after an outage: $name", ({ sentAt, verdict }) => {
    const { record } = buildState({ sets: { standard: { sentAt, intervalSeconds: 3600 } } });
    const scenario: Scenario = {
      sets: { standard: { sentAt, intervalSeconds: 3600 } },
      record: { outage: { ...away, awaiting: [...record.sets.keys()] } },
    };
    expect(verdictOn(scenario).kind).toBe(verdict);
  });

  test.each([
    { name: "an unknown instance", asked: call("n9"), verdict: { kind: "unknown-instance" } },
    {
      name: "another array's token",
      asked: call("n1", { array: arrayName("viz") }),
      verdict: { kind: "forbidden", undrain: true },
    },
    {
      name: "another array's token, though unhealthy",
      asked: call("n1", { array: arrayName("viz"), unhealthy: true }),
      verdict: { kind: "forbidden", undrain: true },
    },
  ])("$name", ({ asked, verdict }) => {
    expect(verdictOn({}, asked)).toEqual(verdict);
  });

  test.each([
    {
      name: "KeepAlive is set",
      node: { keepAlive: true },
      verdict: { kind: "needed", why: "KeepAlive is set", undrain: true },
    },
    { name: "it is going already", node: { phase: "going" }, verdict: { kind: "stopping" } },
    { name: "it has no VM any more", node: { phase: "off" }, verdict: { kind: "stopping" } },
    { name: "it asks before we saw it Ready", node: { phase: "coming" }, verdict: marked },
    { name: "it asks before we saw that it was started", node: { phase: "deallocated" }, verdict: marked },
    { name: "CycleCloud calls it failed", node: { phase: "failed" }, verdict: marked },
  ] as const)("$name", ({ node, verdict }) => {
    expect(verdictOn({}, call("n1"), [buildNode("n1", node)])).toEqual(verdict);
  });

  test("it asks before we saw that it was started, and is needed: no other is started in its place", () => {
    const nodes = [buildNode("n1", { phase: "deallocated" }), buildNode("n2", { phase: "deallocated" })];
    expect(verdictOn({ sets: target(1), seen: buildSnapshot(nodes) }, call("n1"), nodes)).toEqual({
      kind: "needed",
      why: "needed by standard/execute",
      undrain: true,
    });
  });

  test("nothing has been looked at since the record was born", () => {
    const { record, bodies } = buildState({ ledger: rememberNodes([one]) });
    const why = "the cluster has not been observed yet";
    expect(judge({ record, bodies }, [call("n1"), call("n9")]).verdicts).toEqual([
      { kind: "cannot-tell", why, undrain: true },
      { kind: "not-seen-yet", why },
    ]);
  });

  test("autoscaling is switched off", () => {
    expect(verdictOn({}, call("n1"), [one], { ...policy, mode: "observe" })).toEqual({
      kind: "needed",
      why: "observe mode",
      undrain: true,
    });
  });

  test("its array is not ours", () => {
    expect(verdictOn({}, call("n1"), [one], { ...policy, nodearrays: [arrayName("viz")] })).toEqual({
      kind: "needed",
      why: 'node array "execute" is not autoscaled',
      undrain: true,
    });
  });

  test("it is spare in the plan, but the nodes that are to serve the demand are not Ready yet", () => {
    const coming = buildNodes("large", 2, { machineType: D8, phase: "coming" });
    const nodes = [...buildNodes("n", 2), ...coming];
    const demands = [
      buildJob("wide", 2, { constraints: [...needing({ ncpus: 1 }), ofSizes(D8), EXCLUSIVE] }),
      buildTarget(2, { position: 1 }),
    ];
    const arrays = [buildArray("execute", { buckets: [buildBucket(), buildBucket(D8, 8)] })];
    const scenario = { sets: { standard: { demands } }, seen: buildSnapshot(nodes, { arrays }) };
    expect(verdictOn(scenario, call("n1"), nodes)).toEqual({
      kind: "needed",
      why: "needed until other nodes are Ready",
      undrain: true,
    });
  });

  test("a VM that was deallocated and came back under a new NodeId: the live node is meant", () => {
    const gone = rememberNode(buildNode("old", { instanceId: "vm-n1" }), { goneAt: at(-100) });
    for (const entries of [
      [gone, rememberNode(one)],
      [rememberNode(one), gone],
    ]) {
      expect(verdictOn({ ledger: buildLedger(entries) })).toEqual(marked);
    }
  });
});
