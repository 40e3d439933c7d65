import { describe, expect, test } from "vitest";
import { isFlagged } from "../../../src/decide/world/existing-dynamics.ts";
import { arrayName, placementGroup, requestId, setName } from "../../../src/domain/ids.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import { needing } from "../../support/build-constraints.ts";
import { at, buildArray, buildBucket, buildNode, D4, EXECUTE, NOW } from "../../support/build-node.ts";
import type { SetScenario } from "../../support/build-record.ts";
import { BUCKET, buildJob } from "../../support/build-record.ts";
import type { Case } from "./dynamic-scenario.ts";
import {
  FOR_LICENSED,
  LICENCE,
  LICENSED,
  arrays,
  creates,
  execute,
  licensed,
  licensedNodes,
  lookedLike,
  plan,
  purposeLicensed,
} from "./dynamic-scenario.ts";

describe("placement groups", () => {
  const groupedJob = buildJob("mpi", 2, {
    position: 3,
    colocated: true,
    constraints: needing({ ncpus: 4 }),
  });
  const roomy = arrays(
    buildArray("execute", {
      buckets: [
        buildBucket(D4, 4, {
          maxPlacementGroupSize: 10,
          placementGroups: [{ name: placementGroup("rack"), activeCount: 1 }],
        }),
      ],
    }),
  );
  const inRack = buildNode("n1", { placementGroup: placementGroup("rack"), phase: "coming" });

  test("nodes for a job join a group whose nodes are like them", () => {
    const decision = plan({ demands: [groupedJob], nodes: [inRack], snapshot: roomy });
    expect(creates(decision)).toEqual(["1 of execute/Standard_D4s_v5/rack for the array"]);
  });

  test.each<{ readonly name: string; readonly known: Partial<LedgerNode> }>([
    { name: "that was made for a dynamic array", known: { purpose: FOR_LICENSED } },
    { name: "whose nodes were created with other attributes", known: lookedLike(LICENCE) },
  ])("but not one $name: they get a new one", ({ known }) => {
    // Both slots need a node each, and all of them one group: the node of the rack cannot be one of them.
    const scene = {
      demands: [licensed(0), groupedJob],
      nodes: [inRack],
      made: { n1: known },
      snapshot: roomy,
    };
    expect(creates(plan(scene))).toEqual([
      "2 of execute/Standard_D4s_v5/group-execute-Standard_D4s_v5-1 for the array",
    ]);
    expect(creates(plan({ ...scene, policy: { preference: "bucket-order" } }))).toEqual([
      "2 of execute/Standard_D4s_v5 for the array",
    ]);
  });

  test("a group that the definition names is the array's only one, and is named in the request alone", () => {
    const attributes = { ...LICENCE, PlacementGroupId: "lab" };
    const decision = plan({
      demands: [licensed(2, { attributes })],
      snapshot: arrays(
        buildArray("execute", { buckets: [buildBucket(D4, 4, { maxPlacementGroupSize: 10 })] }),
      ),
    });
    expect(creates(decision)).toEqual(["2 of execute/Standard_D4s_v5/lab for licensed"]);
    expect(decision.plan.creates.map(({ attributes: sent }) => sent)).toEqual([LICENCE]);
  });
});

describe("which dynamic arrays exist", () => {
  const remembered = { name: LICENSED, extends: EXECUTE, sets: [setName("a")] };
  const withNode: Case = {
    nodes: licensedNodes(1),
    made: purposeLicensed("l1"),
    record: { dynamicArrays: [remembered] },
  };
  const lapsed: SetScenario = { demands: [licensed(1)], live: false, expiresAt: at(-10) };

  test.each<Case & { readonly name: string; readonly expected: readonly string[] }>([
    {
      name: "one that is asked for, whatever could be had",
      sets: { a: { demands: [licensed(0)] } },
      expected: ["licensed of execute for a"],
    },
    {
      name: "sets that ask for it are named, in order",
      sets: { b: { demands: [licensed(0)] }, a: { demands: [licensed(2)] } },
      expected: ["licensed of execute for a, b"],
    },
    {
      name: "one that cannot come to be is none",
      sets: { a: { demands: [licensed(1, { extends: arrayName("nowhere") })] } },
      expected: [],
    },
    {
      name: "of two that were defined at once the first by name is one",
      sets: { a: { demands: [licensed(1)] }, b: { demands: [licensed(1, { attributes: LICENCE })] } },
      expected: ["licensed of execute for a"],
    },
    {
      name: "one that is left out by the set that asked for it is flagged while it has nodes",
      ...withNode,
      sets: { a: { demands: [execute(1)] } },
      expected: ["licensed of execute flagged"],
    },
    {
      name: "so it is with an emptied set",
      ...withNode,
      sets: { a: { demands: [] } },
      expected: ["licensed of execute flagged"],
    },
    {
      name: "another set's silence about it says nothing",
      ...withNode,
      sets: { a: { demands: [licensed(1)] }, b: { demands: [execute(1)] } },
      expected: ["licensed of execute for a"],
    },
    {
      name: "nor does the lapse of its set",
      ...withNode,
      sets: { a: lapsed, b: { demands: [execute(1)] } },
      expected: ["licensed of execute for a"],
    },
    {
      name: "without nodes it is gone, flagged",
      record: { dynamicArrays: [remembered] },
      sets: { a: { demands: [execute(0)] } },
      expected: [],
    },
    {
      name: "or lapsed",
      record: { dynamicArrays: [remembered] },
      sets: { a: lapsed },
      expected: [],
    },
    {
      name: "what is in flight for it keeps it",
      record: {
        dynamicArrays: [remembered],
        inFlight: [
          {
            requestId: requestId("r"),
            bucket: BUCKET,
            purpose: FOR_LICENSED,
            added: 1,
            seen: [],
            since: NOW,
          },
        ],
      },
      sets: { a: { demands: [] } },
      expected: ["licensed of execute flagged"],
    },
    {
      name: "a terminated cluster has it only until its nodes are gone",
      record: { dynamicArrays: [remembered] },
      sets: { a: { demands: [licensed(3)] } },
      snapshot: { state: "Terminated", targetState: "Terminated" },
      expected: [],
    },
    {
      name: "another definition leaves it as it was defined before",
      ...withNode,
      sets: { a: { demands: [licensed(1)] }, b: { demands: [licensed(1, { attributes: LICENCE })] } },
      expected: ["licensed of execute for a"],
    },
  ])("$name", ({ expected, ...scenario }) => {
    const { record } = plan(scenario);
    expect(
      (record.dynamicArrays ?? []).map((array) => {
        const asked = isFlagged(array) ? "flagged" : `for ${array.sets.join(", ")}`;
        return `${array.name} of ${array.extends} ${asked}`;
      }),
    ).toEqual(expected);
  });

  test("flagged, it is asked for again: it is as before", () => {
    const flagged = { ...remembered, sets: [] };
    const { record } = plan({
      ...withNode,
      record: { dynamicArrays: [flagged] },
      sets: { b: { demands: [licensed(1)] } },
    });
    expect(record.dynamicArrays).toEqual([{ ...remembered, sets: ["b"], by: "b" }]);
  });
});
