import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { Allocation } from "../../../src/domain/allocation.ts";
import type { Charge, InFlightSupply, SupplyNode, World } from "../../../src/domain/world.ts";
import type { JobDemand, RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName, machineType, nodeId, setName } from "../../../src/domain/ids.ts";
import { instant } from "../../../src/domain/units.ts";
import { needing } from "../../support/build-constraints.ts";
import { policy } from "./scenario.ts";

const D4 = { array: arrayName("a"), machineType: machineType("D4") };
/** The limit of the array, then the quota. */
const ARRAY: Charge = { limit: 0, amount: 1 };
const QUOTA: Charge = { limit: 1, amount: 1 };

interface Left {
  readonly array?: number;
  readonly quota?: number;
}

/** One bucket of nodes with four cores. */
function world(
  nodes: readonly SupplyNode[],
  { array = 9, quota = 9 }: Left = {},
  inFlight: World["inFlight"] = [],
): World {
  return {
    nodes,
    inFlight,
    arrays: new Map([[D4.array, "managed"]]),
    limits: [
      { id: { kind: "nodearray", name: "a", unit: "nodes" }, used: 0, max: array, left: array },
      { id: { kind: "regional-quota", name: "here", unit: "nodes" }, used: 0, max: quota, left: quota },
    ],
    buckets: [
      {
        bucket: D4,
        resources: { ncpus: 4 },
        cores: 4,
        charges: [ARRAY, QUOTA],
        groupSizes: new Map(),
      },
    ],
  };
}

/** A node that is up. */
function node(name: string, order: number, more: Partial<SupplyNode> = {}): SupplyNode {
  return {
    nodeId: nodeId(name),
    hostname: `host-${name}`,
    bucket: D4,
    purpose: { kind: "array" },
    resources: { ncpus: 4 },
    cores: 4,
    order,
    ready: true,
    ...more,
  };
}

/** As the status of a cluster gives them: starts are not charged to quotas. */
const DEALLOCATED = { deallocated: true, ready: false, charges: [ARRAY] } as const;

const inFlight = (count: number, order: number): InFlightSupply => ({
  bucket: D4,
  purpose: { kind: "array" },
  resources: { ncpus: 4 },
  cores: 4,
  count,
  order,
});

/** Jobs j0, j1, … in the order of rank. */
function jobs(...written: readonly (Partial<JobDemand> & { readonly cores: number })[]): RankedDemand[] {
  return written.map(({ cores, ...more }, position) => {
    const id = `j${position}`;
    const demand: JobDemand = {
      kind: "job",
      id,
      name: id,
      priority: 0,
      position,
      constraints: needing({ ncpus: cores }),
      iterations: 1,
      colocated: false,
      placed: [],
      ...more,
    };
    return { set: setName("s"), demand };
  });
}

/** What is used in turn: nodes by their names, "coming", "new". */
function uses({ orders = [] }: Allocation): readonly string[] {
  return orders.flatMap(({ by, uses: list }) =>
    list.map(({ nodes, nodeId: id, made }) => {
      return `${by.slice(2)}: ${nodes} ${id ?? (made > 0 ? "new" : "coming")}`;
    }),
  );
}

const place = (world_: World, demands: readonly RankedDemand[]): Allocation =>
  allocate(world_, demands, policy, instant(0));

test("a newer node does not go before an older one because it has a lower name: the plan stands", () => {
  const busy = jobs(
    { cores: 2, placed: [{ hostname: "host-a-2", iterations: 1 }] },
    { cores: 2 },
    { cores: 4 },
  );
  const before = place(world([node("a-2", 1.1)]), busy);
  expect(uses(before)).toEqual(["j1: 1 a-2", "j2: 1 new"]);
  // CycleCloud gives the new node the lowest free name.
  const after = place(world([node("a-1", 1.2), node("a-2", 1.1)]), busy);
  expect(uses(after)).toEqual(["j1: 1 a-2", "j2: 1 a-1"]);
  expect(after.creates).toEqual([]);
});

test("names decide between nodes that came at the same time", () => {
  const answer = place(world([node("a-10", 1), node("a-9", 1)]), jobs({ cores: 4, iterations: 2 }));
  expect(uses(answer)).toEqual(["j0: 1 a-9", "j0: 1 a-10"]);
});

test("a node that asked to stop comes after its equals", () => {
  const answer = place(world([node("a-1", 2), node("a-2", 1.5)]), jobs({ cores: 4 }));
  expect(uses(answer)).toEqual(["j0: 1 a-2"]);
});

test("no deallocated node is started while another one is idle, or on its way", () => {
  const off = node("a-1", 4, DEALLOCATED);
  const starting = node("a-2", 2_000_000, { starting: true, ready: false });
  const nodes = [off, starting, node("a-3", 1.5)];
  const answer = place(world(nodes, {}, [inFlight(1, 1_000_000)]), jobs({ cores: 4, iterations: 5 }));
  expect(uses(answer)).toEqual(["j0: 1 a-3", "j0: 1 coming", "j0: 1 a-2", "j0: 1 a-1", "j0: 1 new"]);
  expect(answer.starts).toEqual(["a-1"]);
});

test("a deallocated node is started where the quota allows no new node", () => {
  const nodes = [node("a-1", 4, DEALLOCATED)];
  const answer = place(world(nodes, { array: 1, quota: 0 }), jobs({ cores: 4, iterations: 2 }));
  expect(uses(answer)).toEqual(["j0: 1 a-1"]);
  expect(answer.starts).toEqual(["a-1"]);
  expect(answer.creates).toEqual([]);
  expect(answer.outcomes[0]).toMatchObject({ placed: 1, asked: 2 });
});

test("nodes that are started leave less of the array's limit for new ones", () => {
  const nodes = [node("a-1", 4, DEALLOCATED), node("a-2", 4, DEALLOCATED)];
  const answer = place(world(nodes, { array: 3, quota: 2 }), jobs({ cores: 4, iterations: 5 }));
  expect(uses(answer)).toEqual(["j0: 1 a-1", "j0: 1 a-2", "j0: 1 new"]);
  expect(answer.outcomes[0]).toMatchObject({ placed: 3, asked: 5 });
});

test("no more nodes are started than the array allows", () => {
  const nodes = [node("a-1", 4, DEALLOCATED), node("a-2", 4, DEALLOCATED)];
  const answer = place(world(nodes, { array: 1, quota: 0 }), jobs({ cores: 4, iterations: 2 }));
  expect(answer.starts).toEqual(["a-1"]);
  expect(answer.outcomes[0]).toMatchObject({ placed: 1, asked: 2 });
});
