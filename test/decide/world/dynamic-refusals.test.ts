import { describe, expect, test } from "vitest";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import { settle } from "../../../src/decide/intents/settle.ts";
import { arrayName, placementGroup } from "../../../src/domain/ids.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { inArrays, needing } from "../../support/build-constraints.ts";
import { at, buildArray, buildNode, buildSnapshot, D4, D8, EXECUTE } from "../../support/build-node.ts";
import { buildJob, buildState, buildTarget, OURS, pushSets } from "../../support/build-record.ts";
import type { Decision } from "../../../src/domain/decision.ts";
import type { Case } from "./dynamic-scenario.ts";
import {
  ANY_ATTRIBUTE,
  LICENCE,
  LICENSED,
  arrays,
  creates,
  execute,
  licensed,
  licensedNodes,
  lookedLike,
  pinned,
  plan,
  purposeLicensed,
} from "./dynamic-scenario.ts";

const unmet = ({ plan: { demands } }: Decision): readonly string[] =>
  demands
    .filter(({ placed, asked }) => placed < asked)
    .flatMap(({ set, id, placed, asked, reasons }) =>
      reasons.map((reason) => `${set}/${id} ${placed} of ${asked}: ${renderReason(reason)}`),
    );

describe("why a dynamic array gets nothing", () => {
  test.each<Case & { readonly name: string; readonly expected: readonly string[] }>([
    {
      name: "it extends an array that the cluster does not have: the nearest is named",
      demands: [licensed(2, { extends: arrayName("exceute") })],
      expected: [
        'standard/licensed 0 of 2: dynamic node array "licensed" extends "exceute", which the cluster does not have (nearest: execute; known: execute)',
      ],
    },
    {
      name: "they extend each other in a circle",
      demands: [
        licensed(1, { extends: arrayName("gold") }),
        licensed(1, { id: "gold", array: arrayName("gold"), extends: LICENSED, position: 2 }),
      ],
      expected: [
        'standard/licensed 0 of 1: dynamic node array "licensed" extends more than 8 dynamic node arrays in a row, or itself through others',
        'standard/gold 0 of 1: dynamic node array "gold" extends more than 8 dynamic node arrays in a row, or itself through others',
      ],
    },
    {
      name: "the cluster has an array of that name",
      demands: [licensed(2, { id: "viz", array: arrayName("viz") })],
      snapshot: arrays(buildArray(), buildArray("viz")),
      expected: [
        'standard/viz 0 of 2: node array "viz" is one of the cluster\'s own: a dynamic node array needs a name of its own',
      ],
    },
    {
      name: "nor does a set that names the cluster's array without Dynamic suffer from that",
      sets: {
        a: { demands: [licensed(2, { id: "viz", array: arrayName("viz") })] },
        b: { demands: [buildTarget(1, { id: "viz", array: arrayName("viz") })] },
      },
      nodes: [buildNode("n1", { array: arrayName("viz") })],
      snapshot: arrays(buildArray(), buildArray("viz")),
      expected: [
        'a/viz 0 of 2: node array "viz" is one of the cluster\'s own: a dynamic node array needs a name of its own',
      ],
    },
    {
      name: "the array that it extends is not ours",
      demands: [licensed(2)],
      policy: { nodearrays: [arrayName("viz")] },
      expected: [
        'standard/licensed 0 of 2: node array "execute" is not autoscaled (Configuration.autoscale.enabled is false, or it is not in the configured nodearrays)',
      ],
    },
    {
      name: "the array that it extends offers none of its VM sizes",
      demands: [licensed(2, { machineTypes: [D8] })],
      expected: [
        'standard/licensed 0 of 2: node array "licensed" has no VM size that CycleCloud\'s status offers',
      ],
    },
    {
      name: "no set asks for it any more, and a job names it",
      sets: {
        standard: {
          demands: [buildJob("late", 8, { constraints: [...needing({ ncpus: 1 }), inArrays(LICENSED)] })],
        },
      },
      nodes: licensedNodes(1),
      made: purposeLicensed("l1"),
      record: { dynamicArrays: [{ name: LICENSED, extends: EXECUTE, sets: [] }] },
      expected: [
        'standard/late 4 of 8: no request set asks for dynamic node array "licensed" any more: it keeps its nodes and gets no new ones',
      ],
    },
    {
      name: "the array that it extends has one placement group, with nodes of other attributes",
      demands: [licensed(2, { attributes: LICENCE })],
      nodes: [buildNode("n1", { placementGroup: placementGroup("only") })],
      snapshot: arrays(pinned()),
      expected: [
        "standard/licensed 0 of 2: licensed/Standard_D4s_v5/only: the nodes in its placement group only have other attributes, and those of one scale set must be the same",
      ],
    },
    {
      name: "so it is with a gang that may span buckets",
      demands: [buildJob("wide", 1, { nodeCount: 2, span: true })],
      nodes: [buildNode("n1", { placementGroup: placementGroup("only") })],
      made: { n1: lookedLike(LICENCE) },
      snapshot: arrays(pinned()),
      expected: [
        "standard/wide 0 of 2: 2 nodes asked for at once, 1 possible in all buckets together",
        "standard/wide 0 of 2: execute/Standard_D4s_v5/only: the nodes in its placement group only have other attributes, and those of one scale set must be the same",
      ],
    },
    {
      name: "so it is with new attributes of an array of the cluster that has one placement group",
      demands: [execute(2, { attributes: LICENCE })],
      nodes: [buildNode("n1", { placementGroup: placementGroup("only") })],
      snapshot: arrays(pinned()),
      expected: [
        "standard/execute 1 of 2: execute/Standard_D4s_v5/only: the nodes in its placement group only have other attributes, and those of one scale set must be the same",
      ],
    },
  ])("$name", ({ expected, ...scenario }) => {
    const decision = plan(scenario);
    expect(unmet(decision)).toEqual(expected);
    expect(creates(decision)).toEqual([]);
  });

  test("nodes with the attributes of the one placement group join it", () => {
    const decision = plan({
      demands: [execute(2, { attributes: LICENCE })],
      nodes: [buildNode("n1", { placementGroup: placementGroup("only") })],
      made: { n1: lookedLike(LICENCE) },
      snapshot: arrays(pinned()),
    });
    expect(creates(decision)).toEqual(["1 of execute/Standard_D4s_v5/only for the array"]);
  });

  test("two sets define it differently: the second is unmet, and names both", () => {
    const sets = {
      a: { demands: [licensed(2, { attributes: LICENCE })] },
      b: { demands: [licensed(1)] },
    };
    const decision = plan({ sets });
    expect(creates(decision)).toEqual(["2 of execute/Standard_D4s_v5 for licensed"]);
    expect(unmet(decision)).toEqual([
      'b/licensed 0 of 1: dynamic node array "licensed" is defined differently by the request sets a, b: it belongs to a, which defined it first, until that set lapses or leaves it out',
    ]);
  });

  test("an array that another set defines otherwise keeps its nodes, and serves the first set alone", () => {
    const { plan: made } = plan({
      sets: { a: { demands: [licensed(2, { attributes: LICENCE })] }, b: { demands: [licensed(1)] } },
      nodes: licensedNodes(2),
      made: purposeLicensed("l1", "l2"),
    });
    expect([...made.nodes.values()].map(({ kind }) => kind)).toEqual(["needed", "needed"]);
    expect(made.demands.map(({ placed }) => placed)).toEqual([2, 0]);
  });
});

describe("what CycleCloud refuses of a dynamic array", () => {
  const demands = { a: { demands: [execute(1), licensed(1, { attributes: { ImageName: "none" } })] } };

  test("pauses that array and nothing else", () => {
    // CycleCloud has refused a request before, so that the array's nodes are asked for in one of their own.
    const alone = [{ array: EXECUTE, machineType: D4, dynamic: arrayName("licensed") }];
    const first = plan({ sets: demands, record: { alone } });
    const settled = first.record.intents.reduce(
      (state, { id, effect }) =>
        settle(
          state,
          id,
          effect.kind === "create" && effect.sets[0]?.purpose.kind === "dynamic"
            ? { kind: "refused", message: "no such image" }
            : { kind: "accepted", sets: [{ added: 1 }] },
          at(1),
        ),
      { record: first.record, ledger: first.ledger },
    );
    const state = buildState({ sets: demands });
    const pushed = pushSets(
      { record: settled.record, bodies: { ...state.bodies, ledger: settled.ledger } },
      { a: { demands: [execute(2), licensed(1, { attributes: { ImageName: "none" } })] } },
    );
    const observation = { snapshot: { ...buildSnapshot(), at: at(10) }, requestNodes: new Map() };
    const next = decide(pushed.record, pushed.bodies, observation, ANY_ATTRIBUTE, at(10), OURS);
    expect(creates(next)).toEqual(["1 of execute/Standard_D4s_v5 for the array"]);
    expect(unmet(next)).toEqual([
      "a/licensed 0 of 1: licensed/Standard_D4s_v5: pausing until 2025-11-20T11:01:01.000Z after: no such image",
    ]);
  });
});
