import { describe, expect, test } from "vitest";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { Snapshot } from "../../../src/domain/cluster.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import { isObserving, observingText } from "../../../src/domain/mode.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { buildCall } from "../../support/build-call.ts";
import {
  at,
  buildArray,
  buildLedger,
  buildNode,
  buildSnapshot,
  idleSince,
  NOW,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import type { Scenario } from "../../support/build-record.ts";
import { buildState, buildTarget, OURS } from "../../support/build-record.ts";

const EXECUTE = arrayName("execute");
const HTC = arrayName("htc");
const observesHtc: Policy = { ...DEFAULT_POLICY, arrayModes: new Map([[HTC, "observe"]]) };

function decideOn(scenario: Scenario, snapshot: Snapshot, policy: Policy) {
  const { record, bodies } = buildState(scenario);
  return decide(record, bodies, { snapshot, requestNodes: new Map() }, policy, NOW, OURS);
}

const both = [buildArray("execute"), buildArray("htc")];

describe("a node array in observe mode beside one that acts", () => {
  const hung = (name: string, array: typeof HTC) => buildNode(name, { phase: "coming", array });
  const nodes = [hung("e1", EXECUTE), hung("h1", HTC)];
  const ledger = buildLedger(nodes.map((node) => rememberNode(node, { firstSeenAt: at(-9000) })));

  test("its node is shown as to be stopped, and the other one is stopped", () => {
    const { plan, record } = decideOn({ ledger }, buildSnapshot(nodes, { arrays: both }), observesHtc);
    expect(plan).toMatchObject({
      observed: ["htc"],
      terminates: ["e1"],
      withheld: { creates: [], starts: [], terminates: ["h1"] },
    });
    expect(plan.mode).toBeUndefined();
    expect(record.intents.map(({ effect }) => effect)).toEqual([{ kind: "terminate", nodes: ["e1"] }]);
  });

  test("only the array that acts pauses for a node that did not boot", () => {
    const { record } = decideOn({ ledger }, buildSnapshot(nodes, { arrays: both }), observesHtc);
    expect(record.backoffs.map(({ bucket }) => bucket.array)).toEqual(["execute"]);
  });

  test("a mark from before the switch is taken back", () => {
    const node = buildNode("h2", { array: HTC });
    const draining = { since: at(-10), by: "idle", plan: 1, attempts: 0 } as const;
    const marked = buildLedger([rememberNode(node, { ...idleSince(at(-3000)), draining })]);
    const after = decideOn({ ledger: marked }, buildSnapshot([node], { arrays: both }), observesHtc);
    expect(after.ledger.get(node.nodeId)?.draining).toBeUndefined();
    expect(after.record.intents).toEqual([]);
  });

  test("its node that asks hears observe mode; one whose stop was accepted hears yes", () => {
    const asking = buildNode("h3", { array: HTC });
    const sent = { since: at(-20), by: "callback", plan: 1, attempts: 1, sentAt: at(-10) } as const;
    const call = { ...buildCall("h3"), array: HTC };
    const answer = (known: object) => {
      const seen = buildSnapshot([asking], { arrays: both });
      const { record, bodies } = buildState({ seen, ledger: buildLedger([rememberNode(asking, known)]) });
      return judgeStops(record, bodies, [call], observesHtc, NOW).verdicts;
    };
    expect(answer({})).toEqual([{ kind: "needed", why: "observe mode", undrain: true }]);
    expect(answer({ draining: sent })).toEqual([{ kind: "stopping" }]);
  });
});

test("new nodes are created in the array that acts, and shown in the other", () => {
  const scenario = { sets: { standard: { demands: [buildTarget(2)] } }, ledger: rememberNodes([]) };
  const snapshot = buildSnapshot([], { arrays: both });
  const acting = decideOn(scenario, snapshot, observesHtc).plan;
  expect(acting.creates).toMatchObject([{ bucket: { array: "execute" }, count: 2 }]);
  expect(acting.withheld?.creates).toEqual([]);
  const observed: Policy = {
    ...DEFAULT_POLICY,
    mode: "observe",
    arrayModes: new Map([[HTC, "act"]]),
  };
  const { plan, record } = decideOn(scenario, snapshot, observed);
  expect(plan).toMatchObject({ creates: [], observed: ["execute"], withheld: { creates: [{ count: 2 }] } });
  expect(record.intents).toEqual([]);
});

describe("what a cluster says of its mode", () => {
  const OBSERVE: Policy = { ...DEFAULT_POLICY, mode: "observe" };
  test.each<{ readonly policy: Policy; readonly text: string | undefined; readonly nothing: boolean }>([
    { policy: DEFAULT_POLICY, text: undefined, nothing: false },
    { policy: OBSERVE, text: "observing only: nothing is created or stopped", nothing: true },
    {
      policy: observesHtc,
      text: "observing only node array htc: nothing is created or stopped there",
      nothing: false,
    },
    {
      policy: { ...OBSERVE, arrayModes: new Map([[HTC, "act"]]) },
      text: "observing only, except node array htc: nothing is created or stopped elsewhere",
      nothing: false,
    },
    {
      policy: { ...observesHtc, nodearrays: [HTC] },
      text: "observing only: nothing is created or stopped",
      nothing: true,
    },
  ])("$text", ({ policy, text, nothing }) => {
    expect(observingText(policy)).toBe(text);
    expect(isObserving(policy)).toBe(nothing);
  });
});
