import { describe, expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import { renderRemedy } from "../../../src/domain/remedy.ts";
import { placementGroup } from "../../../src/domain/ids.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { job, node, now, policy } from "../../support/build-world.ts";
import type { Scenario } from "../search/scenario.ts";
import { check, hb, inAGroup, inMpi, mpi } from "../search/scenario.ts";

/** An array with autoscale.is_hpc: false in its Configuration. */
const notHpc = { notHpc: true } as const;
const NO_NEW_GROUP =
  "mpi/HB120: node array mpi makes no placement groups (Configuration.autoscale.is_hpc is false)";
const grouped = { constraints: [...inMpi.constraints, inAGroup] };

describe("an array that is not for HPC, in the default mode", () => {
  test.each<Scenario>([
    {
      name: "a job that asks for no group has its nodes there",
      world: mpi({ buckets: [hb(notHpc)] }),
      demands: [job("a", { ...inMpi, nodeCount: 3 })],
      creates: ["3 x mpi/HB120"],
      placed: ["a 3/3 (3 pending)"],
    },
    {
      name: "a colocated job is refused, with the reason",
      world: mpi({ buckets: [hb(notHpc)] }),
      demands: [job("a", { ...inMpi, colocated: true, iterations: 361 })],
      placed: ["a 0/361 (0 pending)"],
      reasons: [NO_NEW_GROUP],
    },
    {
      name: "so are slots, and node tasks, that ask for a group",
      world: mpi({ buckets: [hb(notHpc)] }),
      demands: [job("a", { ...grouped, iterations: 5 }), job("b", { ...grouped, nodeCount: 2 })],
      placed: ["a 0/5 (0 pending)", "b 0/2 (0 pending)"],
      reasons: [NO_NEW_GROUP, NO_NEW_GROUP],
    },
    {
      name: "a group that the configuration names is used",
      world: mpi({ buckets: [hb({ ...notHpc, configuredGroups: [placementGroup("mine")] })] }),
      demands: [job("a", { ...inMpi, colocated: true, iterations: 240 })],
      creates: ["2 x mpi/HB120/mine"],
      placed: ["a 240/240 (240 pending)"],
    },
    {
      name: "so is one that the status lists, and it may grow",
      world: mpi({
        buckets: [hb({ ...notHpc, groupSizes: new Map([[placementGroup("g7"), 1]]) })],
        nodes: [node({ id: "n1", at: "mpi/HB120/g7", cores: 120 })],
      }),
      demands: [job("a", { ...grouped, nodeCount: 2 })],
      creates: ["1 x mpi/HB120/g7"],
      needed: ["n1: standard/a"],
      placed: ["a 2/2 (1 pending)"],
    },
    {
      name: "one that the status lists without nodes",
      world: mpi({ buckets: [hb({ ...notHpc, groupSizes: new Map([[placementGroup("g7"), 0]]) })] }),
      demands: [job("a", { ...inMpi, colocated: true, iterations: 240 })],
      creates: ["2 x mpi/HB120/g7"],
      placed: ["a 240/240 (240 pending)"],
    },
    {
      name: "so is the array's own",
      world: mpi({ buckets: [hb({ ...notHpc, pinnedGroup: placementGroup("own") })] }),
      demands: [job("a", { ...inMpi, colocated: true, iterations: 240 })],
      creates: ["2 x mpi/HB120/own"],
      placed: ["a 240/240 (240 pending)"],
    },
  ])("$name", check);

  test.each([
    { name: "colocated", more: { ...inMpi, colocated: true, iterations: 361 } },
    { name: "slots in a group", more: { ...grouped, iterations: 5 } },
    { name: "node tasks in a group", more: { ...grouped, nodeCount: 2 } },
  ])("no raise of a limit is said to help: $name", ({ more }) => {
    const answer = allocate(mpi({ buckets: [hb(notHpc)] }), [job("a", more)], policy, now);
    const [outcome] = answer.outcomes;
    expect(outcome?.reasons.map(renderReason)).toEqual([NO_NEW_GROUP]);
    expect(outcome?.binding).toEqual({ kind: "no-raise", reason: outcome?.reasons[0] });
    expect(renderRemedy(outcome?.binding ?? { kind: "raise", raises: [] })).toContain("is_hpc is false");
  });
});
