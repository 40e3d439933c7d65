import { describe, expect, test } from "vitest";
import type { GroupDemand } from "../../../src/domain/demand.ts";
import { nodeNameStem } from "../../../src/domain/dynamic-array.ts";
import { arrayName, placementGroup, requestId } from "../../../src/domain/ids.ts";
import type { PriceTable } from "../../../src/domain/price.ts";
import type { InFlight } from "../../../src/domain/record.ts";
import { inArrays, needing } from "../../support/build-constraints.ts";
import { at, buildArray, buildBucket, buildNode, D4, D8, EXECUTE, NOW } from "../../support/build-node.ts";
import { BUCKET, buildJob, buildTarget } from "../../support/build-record.ts";
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
  pinned,
  plan,
  purposeLicensed,
} from "./dynamic-scenario.ts";

/** Spot for a tenth. */
const PRICES: PriceTable = {
  currency: "USD",
  locations: new Map([["west", new Map([[D4.toLowerCase(), { machineType: D4, onDemand: 1, spot: 0.1 }]])]]),
  proxies: new Map(),
};

describe("what a dynamic array gets", () => {
  test.each<Case & { readonly name: string; readonly expected: readonly string[] }>([
    {
      name: "its nodes are created in the array that it extends, and both have their own",
      demands: [execute(2), licensed(3)],
      expected: ["2 of execute/Standard_D4s_v5 for the array", "3 of execute/Standard_D4s_v5 for licensed"],
    },
    {
      name: "its nodes count for its own target and not for the parent's",
      demands: [execute(2), licensed(2)],
      nodes: licensedNodes(2),
      made: purposeLicensed("l1", "l2"),
      expected: ["2 of execute/Standard_D4s_v5 for the array"],
    },
    {
      name: "nor do the parent's count for it",
      demands: [execute(2), licensed(2)],
      nodes: licensedNodes(2),
      expected: ["2 of execute/Standard_D4s_v5 for licensed"],
    },
    {
      name: "what is in flight for it counts",
      demands: [execute(0), licensed(5)],
      record: {
        inFlight: [
          {
            requestId: requestId("r"),
            bucket: BUCKET,
            purpose: FOR_LICENSED,
            added: 3,
            seen: [],
            since: NOW,
          },
        ] satisfies readonly InFlight[],
      },
      expected: ["2 of execute/Standard_D4s_v5 for licensed"],
    },
    {
      name: "cores round up",
      demands: [licensed(0, { amount: { unit: "cores", count: 9 } })],
      expected: ["3 of execute/Standard_D4s_v5 for licensed"],
    },
    {
      name: "two sets that define it alike make one, of the larger count",
      sets: { a: { demands: [licensed(3)] }, b: { demands: [licensed(5)] } },
      expected: ["5 of execute/Standard_D4s_v5 for licensed"],
    },
    {
      name: "a set that names it without defining it updates it as another set defines it",
      sets: { a: { demands: [licensed(1)] }, b: { demands: [buildTarget(4, { array: LICENSED })] } },
      expected: ["4 of execute/Standard_D4s_v5 for licensed"],
    },
    {
      name: "or as the record has it",
      demands: [buildTarget(4, { array: LICENSED })],
      record: { dynamicArrays: [{ name: LICENSED, extends: EXECUTE, sets: [] }] },
      expected: ["4 of execute/Standard_D4s_v5 for licensed"],
    },
    {
      name: "its VM sizes are tried in its own order, each as far as it goes",
      demands: [licensed(5, { machineTypes: [D8, D4] })],
      snapshot: arrays(
        buildArray("execute", { buckets: [buildBucket(D4), buildBucket(D8, 8, { availableCount: 2 })] }),
      ),
      expected: ["2 of execute/Standard_D8s_v5 for licensed", "3 of execute/Standard_D4s_v5 for licensed"],
    },
    {
      name: "limits are shared with the parent: by rank, what is left",
      demands: [execute(2), licensed(3)],
      snapshot: arrays(buildArray("execute", { buckets: [buildBucket(D4, 4, { availableCount: 4 })] })),
      expected: ["2 of execute/Standard_D4s_v5 for the array", "2 of execute/Standard_D4s_v5 for licensed"],
    },
    {
      name: "one that extends another dynamic one ends in the array of that",
      demands: [
        licensed(1),
        licensed(2, { id: "gold", array: arrayName("gold"), extends: LICENSED, position: 2 }),
      ],
      expected: ["1 of execute/Standard_D4s_v5 for licensed", "2 of execute/Standard_D4s_v5 for gold"],
    },
    {
      name: "groups of it are its own",
      demands: [groupsOf(2, 3)],
      snapshot: arrays(
        buildArray("execute", { buckets: [buildBucket(D4, 4, { maxPlacementGroupSize: 10 })] }),
      ),
      expected: [
        "3 of execute/Standard_D4s_v5/group-licensed-3n-1 for licensed:3n of licensed",
        "3 of execute/Standard_D4s_v5/group-licensed-3n-2 for licensed:3n of licensed",
      ],
    },
    {
      name: "a job makes no nodes of it unless it names it",
      demands: [licensed(0), buildJob("anywhere", 4, { position: 2 })],
      expected: ["1 of execute/Standard_D4s_v5 for the array"],
    },
    {
      name: "a job that names it does",
      demands: [
        licensed(0),
        buildJob("there", 8, { position: 2, constraints: [...needing({ ncpus: 1 }), inArrays(LICENSED)] }),
      ],
      expected: ["2 of execute/Standard_D4s_v5 for licensed"],
    },
    ...(["existing-first", "bucket-order"] as const).map((preference) => ({
      name: `nor one that asks for what only it has, with ${preference}`,
      demands: [
        licensed(0, { attributes: { Configuration: { autoscale: { resources: { seats: 2 } } } } }),
        buildJob("seated", 2, { position: 2, constraints: needing({ seats: 1 }) }),
      ],
      policy: { preference },
      expected: [],
    })),
    {
      name: "nor does one whose nodes would be cheaper there",
      demands: [
        licensed(0, { attributes: { Interruptible: true } }),
        buildJob("a", 3, { position: 2, spot: "allow" }),
        buildJob("b", 1, { position: 3, spot: "allow", constraints: needing({ ncpus: 0.5 }) }),
      ],
      policy: {
        among: "cheapest",
        prices: PRICES,
      },
      snapshot: arrays(buildArray("execute", { region: "west" })),
      expected: ["1 of execute/Standard_D4s_v5 for the array"],
    },
    {
      name: "in the one placement group of its parent, what comes first decides which attributes the others must have",
      demands: [licensed(1, { attributes: LICENCE, position: 0 }), execute(1, { position: 1 })],
      snapshot: arrays(pinned()),
      expected: ["1 of execute/Standard_D4s_v5/only for licensed"],
    },
    {
      // The first job gets no node, and is of the same kind as the last. The offers must be computed again for the last.
      name: "that holds for a job like one that came before all of them",
      sets: {
        a: { demands: [buildJob("first", 4, { priority: 2 })] },
        b: { demands: [licensed(1, { attributes: LICENCE, priority: 1 })] },
        c: { demands: [buildJob("last", 8)] },
      },
      policy: { caps: { requestSets: new Map([["a", { nodes: 0 }]]), users: new Map() } },
      snapshot: arrays(pinned()),
      expected: ["1 of execute/Standard_D4s_v5/only for licensed"],
    },
    {
      name: "a job makes no nodes in a placement group whose nodes have other attributes",
      demands: [buildJob("anywhere", 8)],
      nodes: [buildNode("n1", { placementGroup: placementGroup("only") })],
      made: { n1: lookedLike(LICENCE) },
      snapshot: arrays(pinned()),
      expected: [],
    },
    {
      name: "nodes of it that do not boot pause it, and not its parent",
      demands: [execute(1), licensed(1)],
      nodes: [buildNode("l1", { phase: "coming" })],
      made: { l1: { purpose: FOR_LICENSED, firstSeenAt: at(-1801) } },
      expected: ["1 of execute/Standard_D4s_v5 for the array"],
    },
    {
      name: "nor a pause of its bucket by the name that the allocator has for it",
      demands: [execute(1), licensed(1)],
      record: {
        backoffs: [
          {
            bucket: { array: LICENSED, machineType: D4 },
            until: at(60),
            seconds: 60,
            cause: "fell-short",
            message: "a group lacked nodes for too long",
          },
        ],
      },
      expected: ["1 of execute/Standard_D4s_v5 for the array"],
    },
    {
      name: "a job that names the parent is not served by it",
      demands: [
        licensed(1),
        buildJob("there", 4, { position: 2, constraints: [...needing({ ncpus: 1 }), inArrays(EXECUTE)] }),
      ],
      nodes: licensedNodes(1),
      made: purposeLicensed("l1"),
      expected: ["1 of execute/Standard_D4s_v5 for the array"],
    },
    {
      name: "a job that says nothing uses what it has, and counts for it as for any array",
      demands: [licensed(1), buildJob("anywhere", 4, { position: 2 })],
      nodes: licensedNodes(1),
      made: purposeLicensed("l1"),
      expected: [],
    },
    {
      name: "nodes that the ledger knows no request of count by their name, as after a lost table",
      demands: [execute(1), licensed(3)],
      nodes: [1, 2].map((number) => buildNode(`x${number}`, { name: `licensed-${number}` })),
      lost: true,
      expected: ["1 of execute/Standard_D4s_v5 for the array", "1 of execute/Standard_D4s_v5 for licensed"],
    },
    {
      name: "but not nodes of a request that was for something else",
      demands: [execute(2), licensed(0)],
      nodes: [1, 2].map((number) => buildNode(`x${number}`, { name: `licensed-${number}` })),
      made: { x1: { requestId: requestId("r") }, x2: { requestId: requestId("r") } },
      expected: [],
    },
  ])("$name", ({ expected, ...scenario }) => {
    const decision = plan(scenario);
    expect(creates(decision)).toEqual(expected);
  });

  test("what it defines is laid over what it extends, member by member, and sent with each node", () => {
    const gold = licensed(1, {
      id: "gold",
      array: arrayName("gold"),
      extends: LICENSED,
      attributes: { Configuration: { grade: "gold" }, Tags: { a: 1 } },
    });
    const decision = plan({ demands: [licensed(0, { attributes: LICENCE }), gold] });
    expect(decision.plan.creates.map(({ attributes }) => attributes)).toEqual([
      { Configuration: { licence: "x", grade: "gold" }, Tags: { a: 1 } },
    ]);
  });

  test("its own resources are there for jobs that name it", () => {
    const attributes = { Configuration: { autoscale: { resources: { seats: 2 } } } };
    const job = buildJob("seated", 4, {
      position: 2,
      constraints: [...needing({ seats: 1 }), inArrays(LICENSED)],
    });
    const decision = plan({ demands: [licensed(0, { attributes }), job] });
    expect(creates(decision)).toEqual(["2 of execute/Standard_D4s_v5 for licensed"]);
  });
});

function groupsOf(groups: number, nodes: number): GroupDemand {
  return {
    kind: "groups",
    id: `licensed:${nodes}n`,
    priority: 0,
    position: 1,
    array: LICENSED,
    extends: EXECUTE,
    groups,
    size: { unit: "nodes", count: nodes },
  };
}

test.each([
  { array: "dynamic_array", parent: "execute", expected: "dynamic-array" },
  { array: "licence x/1.2", parent: "execute", expected: "licence-x-1-2" },
  { array: "Execute", parent: "execute", expected: "execute-dynamic" },
  { array: "ümlaut", parent: "execute", expected: "mlaut" },
  { array: "???", parent: "execute", expected: "execute-dynamic" },
  {
    array: "a-name-that-is-much-longer-than-any-host-may-be-called",
    parent: "execute",
    expected: "a-name-that-is-much-longer-than-any-host",
  },
])("nodes of $array are called $expected", ({ array, parent, expected }) => {
  expect(nodeNameStem(arrayName(array), arrayName(parent))).toBe(expected);
});
