import { expect, test } from "vitest";
import type { Creation, Stock } from "./floors.ts";
import { settleWants } from "./orders.ts";
import { faultOf } from "./otherwise.ts";
import type { ClusterShape } from "./shape.ts";
import type { Want } from "./wants.ts";

/** Plans that may differ from the model's, and plans that may not: the cluster has room for twelve nodes, and the wants need more. */
const AMPLE = 100_000;
const shape: ClusterShape = {
  arrays: [{ name: "array0", types: ["Small", "Large"], maxCount: 12, maxCoreCount: AMPLE, maxGroupSize: 5 }],
  maxCount: AMPLE,
  maxCoreCount: AMPLE,
  regionalCores: AMPLE,
  familyCores: { Small: AMPLE, Middle: AMPLE, Large: AMPLE },
  bootFailureShare: 0,
  neverBootShare: 0,
  seed: 1,
};
const stock: Stock = {
  usable: [],
  holding: [],
  blocked: new Set(),
  keyOfGroup: new Map(),
  isShut: () => false,
  isInvalid: () => false,
  fills: new Map(),
  patientSince: 0,
};
const common = { set: "a", array: "array0", picky: true };
const wants: readonly Want[] = [
  {
    ...common,
    by: "a/any",
    id: "any",
    position: 0,
    types: ["Small", "Large"],
    kind: "target",
    unit: "nodes",
    count: 2,
  },
  {
    ...common,
    by: "a/groups",
    id: "groups",
    position: 1,
    types: ["Large"],
    kind: "groups",
    unit: "nodes",
    count: 3,
    size: 4,
    key: "array0:4n",
  },
  { ...common, by: "a/job", id: "job", position: 2, types: ["Small"], kind: "job", count: 1 },
];
const small = (count: number): Creation => ({ array: "array0", type: "Small", count });
const group: Creation = { array: "array0", type: "Large", count: 4, key: "array0:4n" };
const placed = (any: number, groups: number, job: number): ReadonlyMap<string, number> =>
  new Map([
    ["a/any", any],
    ["a/groups", groups],
    ["a/job", job],
  ]);

const cases: readonly {
  readonly name: string;
  readonly asked?: readonly Want[];
  readonly creations: readonly Creation[];
  readonly placed: ReadonlyMap<string, number>;
  readonly fault?: string;
}[] = [
  {
    name: "one that serves who comes first by rank",
    creations: [group, group, group],
    placed: placed(2, 3, 0),
  },
  {
    name: "beyond a limit",
    creations: [small(1), group, group, group],
    placed: placed(2, 3, 1),
    fault: "no limit allows",
  },
  {
    name: "a claim that is not true",
    creations: [group, group, group],
    placed: placed(2, 3, 1),
    fault: "a/job has 0, not 1",
  },
  {
    name: "a node that nobody needs",
    creations: [small(2), group, group],
    placed: placed(2, 2, 1),
    fault: "nobody needs all of",
  },
  {
    name: "less for one",
    creations: [small(1), group],
    placed: placed(2, 1, 1),
    fault: "a/groups, the first by rank that differs, has 1 and could have 2",
  },
  {
    name: "another size than the one that is preferred",
    asked: wants.slice(0, 1),
    creations: [{ array: "array0", type: "Large", count: 2 }],
    placed: placed(2, 0, 0),
    fault: "nobody has more",
  },
];

test.each(cases)("$name: $fault", ({ asked = wants, creations, placed: told, fault }) => {
  const found = faultOf(shape, asked, stock, { creations, placed: told }, settleWants(shape, asked, stock));
  if (fault === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(fault);
});
