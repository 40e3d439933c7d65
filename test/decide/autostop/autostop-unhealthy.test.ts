import type { StopVerdict } from "../../../src/decide/autostop/stop-survey.ts";
import { describe, expect, test } from "vitest";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import { at, buildNode, buildSnapshot, NOW } from "../../support/build-node.ts";
import type { Scenario } from "../../support/build-record.ts";
import { afterMarks, call, confirm, marked, one, policy, stateOf, target } from "./autostop-stage.ts";

const verdictOn = (scenario: Scenario, asked = call("n1"), nodes = [one], rules = policy): StopVerdict => {
  const { record, bodies } = stateOf(nodes, scenario);
  const [verdict] = judgeStops(record, bodies, [asked], rules, NOW).verdicts;
  if (verdict === undefined) throw new RangeError("one call has one verdict");
  return verdict;
};

const resting = { from: at(-900), to: at(-60), until: at(240), awaiting: [] };

describe("a node that calls itself unhealthy", () => {
  const unhealthy = call("n1", { unhealthy: true });
  test.each([
    { name: "though it is needed", scenario: { sets: target(1) } },
    { name: "though scale-down rests", scenario: { record: { outage: resting } } },
    {
      name: "though the last observation is old",
      scenario: { seen: buildSnapshot([one], { at: at(-900) }) },
    },
  ])("goes, $name", ({ scenario }) => {
    expect(verdictOn(scenario, unhealthy)).toEqual(marked);
    const first = afterMarks(stateOf([one], scenario), [unhealthy]);
    const { going, record, ledger } = confirm(first.state, ["n1"]);
    expect([...going]).toEqual(["n1"]);
    expect(ledger.get(nodeId("n1"))?.draining).toMatchObject({ by: "unhealthy" });
    expect(record.backoffs).toEqual([
      {
        bucket: { array: "execute", machineType: "Standard_D4s_v5" },
        until: at(60),
        seconds: 60,
        cause: "unhealthy",
        message: "execute-n1 asked to be stopped as unhealthy",
      },
    ]);
  });

  test("stays if KeepAlive is set", () => {
    expect(verdictOn({}, unhealthy, [buildNode("n1", { keepAlive: true })]).kind).toBe("needed");
  });
});
