import { describe, expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { Constraint } from "../../../src/domain/constraint.ts";
import type { JobDemand } from "../../../src/domain/demand.ts";
import { propertiesOf } from "../../../src/decide/bins/empty-node-fit.ts";
import { EXCLUSIVE, inArrays, needing, ofSizes } from "../../support/build-constraints.ts";
import {
  bucket,
  job,
  limit,
  namedModes,
  node,
  now,
  offer,
  target,
  world,
} from "../../support/build-world.ts";
import { inAGroup, shown } from "./scenario.ts";

/** A job that asks for no amount gets one slot on each node, in every mode. */

const described = (at: string, cores: number) =>
  offer(
    at,
    cores,
    { 0: 1 },
    {
      maxPlacementGroupSize: 20,
      properties: () => ({ ...propertiesOf(bucket(at)), location: "westeurope", gpu_count: 0, spot: false }),
    },
  );

const two = world({
  buckets: [described("execute/D4", 4), described("execute/D8", 8)],
  pools: [{ name: "licence", total: 5, used: 0 }],
});

const is = (property: "location" | "gpu_count", ...choices: (string | number)[]): Constraint => ({
  kind: "property-choice",
  property,
  choices,
});

const FORMS: readonly (readonly [name: string, constraints: readonly Constraint[]])[] = [
  ["no constraint", []],
  ["a VM size", [ofSizes("D4")]],
  ["a node array", [inArrays("execute")]],
  ["a location", [is("location", "westeurope")]],
  ["a list of VM sizes", [ofSizes("D4", "D8")]],
  ["or", [{ kind: "or", of: [is("gpu_count", 1), is("gpu_count", 0)] }]],
  ["xor", [{ kind: "xor", of: [is("location", "westeurope"), is("location", "northeurope")] }]],
  ["not", [{ kind: "not", of: is("gpu_count", 2) }]],
  ["exclusive-task", [{ kind: "exclusive", scope: "task", wanted: true }]],
  ["exclusive", [EXCLUSIVE]],
  ["a pool", [{ kind: "pool", pool: "licence", amount: 1 }]],
  ["no cores", needing({ ncpus: 0 })],
  [
    "one alternative that takes nothing",
    [{ kind: "or", of: [...needing({ ngpus: 1 }), is("gpu_count", 0)] }],
  ],
  [
    "alternatives of which the first takes nothing",
    [{ kind: "or", of: [is("gpu_count", 0), ...needing({ ncpus: 1 })] }],
  ],
  [
    "exclusive-task as an alternative",
    [{ kind: "or", of: [{ kind: "exclusive", scope: "task", wanted: true }, EXCLUSIVE] }],
  ],
];

const ask = (constraints: readonly Constraint[], more: Partial<JobDemand> = {}) =>
  job("j", { constraints, iterations: 3, ...more });

describe.each(namedModes)("$name", ({ mode }) => {
  test.each(FORMS)("three slots that ask for %s get three new nodes", (_, constraints) => {
    const answer = allocate(two, [ask(constraints)], mode, now);
    expect(shown(answer)).toEqual({
      creates: ["3 x execute/D4"],
      needed: [],
      placed: ["j 3/3 (3 pending)"],
      reasons: [],
    });
  });

  test.each([
    ["in-a-placement-group", ask([inAGroup])],
    ["colocated", ask([inAGroup], { colocated: true })],
  ])("%s: three new nodes in one group", (_, demand) => {
    const { creates, outcomes } = allocate(two, [demand], mode, now);
    expect(outcomes.map(({ placed }) => placed)).toEqual([3]);
    expect(
      creates.map(({ count, bucket: { machineType, placementGroup } }) => [
        count,
        machineType,
        placementGroup !== undefined,
      ]),
    ).toEqual([[3, "D4", true]]);
  });

  test.each(FORMS)("nodes that exist have one slot each, then new ones: %s", (_, constraints) => {
    const nodes = ["n1", "n2"].map((id) => ({
      ...node({ id }),
      properties: described("execute/D4", 4).properties ?? (() => propertiesOf(bucket("execute/D4"))),
    }));
    const answer = allocate({ ...two, nodes }, [ask(constraints)], mode, now);
    expect(shown(answer)).toEqual({
      creates: ["1 x execute/D4"],
      needed: ["n1: standard/j", "n2: standard/j"],
      placed: ["j 3/3 (1 pending)"],
      reasons: [],
    });
  });

  test("each of two such jobs has one slot on a node, and they share nodes", () => {
    const answer = allocate(
      two,
      [ask([]), job("k", { constraints: [ofSizes("D4")], iterations: 4 })],
      mode,
      now,
    );
    expect(answer.creates.reduce((sum, { count }) => sum + count, 0)).toBe(4);
    expect(answer.outcomes.map(({ placed }) => placed)).toEqual([3, 4]);
    expect(answer.loads.every(({ jobs }) => jobs.every(({ slots }) => slots === 1))).toBe(true);
  });

  test("a slot that runs counts: the others go elsewhere", () => {
    const running = ask([], { placed: [{ hostname: "h1", iterations: 1 }] });
    const answer = allocate({ ...two, nodes: [node({ id: "n1", host: "h1" })] }, [running], mode, now);
    expect(shown(answer)).toEqual({
      creates: ["2 x execute/D4"],
      needed: ["n1: standard/j"],
      placed: ["j 3/3 (2 pending)"],
      reasons: [],
    });
  });

  test("nodes that another job needs will do", () => {
    const answer = allocate(two, [job("k", { iterations: 4 }), ask([])], mode, now);
    expect(shown(answer).creates).toEqual(["3 x execute/D4"]);
  });

  test("nodes of a target will do", () => {
    const answer = allocate(two, [target("execute", 5), ask([])], mode, now);
    expect(answer.creates.reduce((sum, { count }) => sum + count, 0)).toBe(5);
    expect(answer.outcomes.map(({ placed, asked }) => [placed, asked])).toEqual([
      [5, 5],
      [3, 3],
    ]);
  });

  test("a limit is a limit", () => {
    const scarce = { ...two, limits: [limit("cluster", "", "nodes", 0, 2)] };
    const answer = allocate(scarce, [ask([])], mode, now);
    expect(shown(answer)).toEqual({
      creates: ["2 x execute/D4"],
      needed: [],
      placed: ["j 2/3 (2 pending)"],
      reasons: ["cluster: 2 of 2 nodes used, 1 more needed, 0 left (execute/D4, execute/D8)"],
    });
  });
});
