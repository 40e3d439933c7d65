import { describe, expect, test } from "vitest";
import { isFlagged } from "../../../src/decide/world/existing-dynamics.ts";
import { digestOfAttributes } from "../../../src/domain/attributes-digest.ts";
import { decide } from "../../../src/decide/reconcile.ts";
import { settle } from "../../../src/decide/intents/settle.ts";
import type { Purpose } from "../../../src/domain/bucket.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import type { Node, Snapshot } from "../../../src/domain/cluster.ts";
import type { Demand, GroupDemand, TargetDemand } from "../../../src/domain/demand.ts";
import { nodeNameStem } from "../../../src/domain/dynamic-array.ts";
import { arrayName, placementGroup, requestId, setName } from "../../../src/domain/ids.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { PriceTable } from "../../../src/domain/price.ts";
import { renderReason } from "../../../src/domain/reason.ts";
import type { InFlight } from "../../../src/domain/in-flight.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import { inArrays, needing } from "../../support/build-constraints.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildLedger,
  buildNode,
  buildSnapshot,
  D4,
  D8,
  EXECUTE,
  NOW,
  notOurs,
  rememberNode,
} from "../../support/build-node.ts";
import { SENDER_RULE } from "../../support/sender-rule.ts";
import type { Scenario, SetScenario } from "../../support/build-record.ts";
import { BUCKET, buildJob, buildState, buildTarget, OURS, pushSets } from "../../support/build-record.ts";
import type { Decision } from "../../../src/domain/decision.ts";

const LICENSED = arrayName("licensed");
const FOR_LICENSED: Purpose = { kind: "dynamic", array: LICENSED };
const LICENCE = { Configuration: { licence: "x" } };

/** "The dynamic array licensed, which extends execute, shall have so many nodes." */
function licensed(count: number, more: Partial<TargetDemand> = {}): TargetDemand {
  return buildTarget(count, { id: "licensed", array: LICENSED, extends: EXECUTE, position: 1, ...more });
}

const execute = (count: number, more: Partial<TargetDemand> = {}): TargetDemand => buildTarget(count, more);

/** Nodes of execute that the ledger knows as made for the dynamic array. */
function licensedNodes(count: number, more: Partial<Node> = {}): readonly Node[] {
  return Array.from({ length: count }, (_, i) => buildNode(`l${i + 1}`, more));
}

/** Spot for a tenth. */
const PRICES: PriceTable = {
  currency: "USD",
  locations: new Map([["west", new Map([[D4.toLowerCase(), { machineType: D4, onDemand: 1, spot: 0.1 }]])]]),
  proxies: new Map(),
};

const ANY_ATTRIBUTE: Policy = { ...DEFAULT_POLICY, senders: [{ ...SENDER_RULE, attributes: ["*"] }] };

interface Case extends Scenario {
  readonly demands?: readonly Demand[];
  readonly nodes?: readonly Node[];
  /** By node id, what it was made for; absent: the array. */
  readonly made?: Readonly<Record<string, Partial<LedgerNode>>>;
  readonly snapshot?: Partial<Snapshot>;
  readonly policy?: Partial<Policy>;
  /** No request of any node is known. */
  readonly lost?: true;
}

function plan({ demands = [], nodes = [], made = {}, ...more }: Case): Decision {
  const { lost, snapshot, policy, sets, record } = more;
  const known = nodes.map((node) => rememberNode(node, made[node.nodeId]));
  const ledger = buildLedger(lost === true ? known.map(notOurs) : known);
  const state = buildState({
    sets: sets ?? { standard: { demands } },
    ledger,
    ...(record === undefined ? {} : { record }),
  });
  const look = { snapshot: buildSnapshot(nodes, snapshot), requestNodes: new Map() };
  return decide(state.record, state.bodies, look, { ...ANY_ATTRIBUTE, ...policy }, NOW, OURS);
}

/** "3 of execute/Standard_D4s_v5 for licensed". */
function creates({ plan: { creates: all } }: Decision): readonly string[] {
  return all.map(({ bucket, count, purpose }) => {
    // With or without a dash behind the word: what generated groups are called is not tried here.
    const place = bucketText(bucket).replace(/\/group-?/, "/group-");
    return `${count} of ${place} for ${textOf(purpose)}`;
  });
}

function textOf(purpose: Purpose): string {
  if (purpose.kind !== "group") return purpose.kind === "dynamic" ? purpose.array : "the array";
  return `${purpose.key}${purpose.dynamic === undefined ? "" : ` of ${purpose.dynamic}`}`;
}

const unmet = ({ plan: { demands } }: Decision): readonly string[] =>
  demands
    .filter(({ placed, asked }) => placed < asked)
    .flatMap(({ set, id, placed, asked, reasons }) =>
      reasons.map((reason) => `${set}/${id} ${placed} of ${asked}: ${renderReason(reason)}`),
    );

const purposeLicensed = (...ids: readonly string[]): NonNullable<Case["made"]> =>
  Object.fromEntries(ids.map((id) => [id, { purpose: FOR_LICENSED }]));

const arrays = (...all: Snapshot["arrays"]): Partial<Snapshot> => ({ arrays: all });

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
      // The first job may have nothing, and is of the same kind as the last: what was open to the one must be asked anew for the other.
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
      expected: ['standard/licensed 0 of 2: node array "licensed" offers no VM size'],
    },
    {
      name: "nobody asks for it any more, and a job names it",
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

/** The array execute with a placement group of its own. */
function pinned() {
  return buildArray("execute", {
    placementGroup: placementGroup("only"),
    buckets: [buildBucket(D4, 4, { maxPlacementGroupSize: 10 })],
  });
}

function lookedLike(attributes: TargetDemand["attributes"]): Partial<LedgerNode> {
  const look = digestOfAttributes(attributes);
  return look === undefined ? {} : { look };
}

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
    const look = { snapshot: { ...buildSnapshot(), at: at(10) }, requestNodes: new Map() };
    const next = decide(pushed.record, pushed.bodies, look, ANY_ATTRIBUTE, at(10), OURS);
    expect(creates(next)).toEqual(["1 of execute/Standard_D4s_v5 for the array"]);
    expect(unmet(next)).toEqual([
      "a/licensed 0 of 1: licensed/Standard_D4s_v5: pausing until 2025-11-20T11:01:01.000Z after: no such image",
    ]);
  });
});

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
