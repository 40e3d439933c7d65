import { describe, expect, test } from "vitest";
import { AT_ONCE, oneArray } from "./clusters.ts";
import { dynamic, from, namesReady, push, settledStage, shown } from "./dynamic-stage.ts";

describe("what cannot be", () => {
  test("two sets that define one name differently are both accepted; the first one's counts, and the plan names both for the other", async () => {
    const stage = await settledStage();
    await push(stage, from("day", [dynamic("lab", 2, { Configuration: { shift: "day" } })]));
    await stage.pass(130);
    await push(stage, from("night", [dynamic("lab", 1, { Configuration: { shift: "night" } })]));
    await stage.pass(130);
    const disputed =
      'dynamic node array "lab" is defined differently by the request sets day, night: it belongs to day, which defined it first, until that set lapses or leaves it out';
    expect(await shown(stage, "lab")).toMatchObject({
      exists: true,
      nodes: 2,
      askedBy: ["day"],
      problem: undefined,
    });
    const { plan } = await stage.state("demo");
    expect(plan?.unmet.map(({ id, reasons }) => ({ id, reasons }))).toEqual([
      { id: "nodearray:lab", reasons: [disputed] },
    ]);
    await push(stage, from("night", [dynamic("lab", 3, { Configuration: { shift: "day" } })]));
    await stage.pass(130);
    expect(await shown(stage, "lab")).toMatchObject({
      nodes: 3,
      target: { nodes: 3 },
      askedBy: ["day", "night"],
      problem: undefined,
    });
  });

  test("an array that extends an unknown one is unmet and shown, with the nearest name", async () => {
    const stage = await settledStage();
    await push(stage, from("standard", [dynamic("lab", 2, { Extends: "exceute" })]));
    await stage.pass(130);
    const problem =
      'dynamic node array "lab" extends "exceute", which the cluster does not have (nearest: execute; known: execute)';
    expect(await shown(stage, "lab")).toMatchObject({ exists: false, problem });
    expect((await stage.state("demo")).plan?.unmet).toEqual([{ id: "nodearray:lab", reasons: [problem] }]);
    expect(stage.eventsOf("node-created")).toEqual([]);
  });

  test("in an array with one placement group, nodes of other attributes are refused before CycleCloud leaves them in Acquiring for ever", async () => {
    const simulator = oneArray("demo", { placementGroupId: "only" }, { timings: AT_ONCE });
    const stage = await settledStage({ simulator });
    await push(
      stage,
      from("standard", [
        { Name: "execute", TargetCount: 1 },
        dynamic("lab", 1, { Configuration: { shift: "day" } }),
      ]),
    );
    await stage.pass(130);
    expect(await namesReady(stage)).toEqual(["execute-1"]);
    expect(stage.eventsOf("node-created")).toHaveLength(1);
    expect((await stage.state("demo")).plan?.unmet).toEqual([
      {
        id: "nodearray:lab",
        reasons: [
          "lab/Standard_F4s_v2/only: the nodes in its placement group only have other attributes, and those of one scale set must be the same",
        ],
      },
    ]);
  });
});

test("new attributes of an array with one placement group wait until its nodes are gone; the same ones do not", async () => {
  const simulator = oneArray("demo", { placementGroupId: "only" }, { timings: AT_ONCE });
  const stage = await settledStage({ simulator });
  const target = (TargetCount: number, version: number) =>
    from("standard", [{ Name: "execute", TargetCount, Configuration: { version } }]);
  await push(stage, target(1, 1));
  await stage.pass(130);
  await push(stage, target(2, 1));
  await stage.pass(130);
  expect(await namesReady(stage)).toEqual(["execute-1", "execute-2"]);
  await push(stage, target(3, 2));
  await stage.pass(130);
  expect(stage.eventsOf("node-created")).toHaveLength(2);
  expect((await stage.state("demo")).plan?.unmet).toEqual([
    {
      id: "nodearray:execute",
      reasons: [
        "execute/Standard_F4s_v2/only: the nodes in its placement group only have other attributes, and those of one scale set must be the same",
      ],
    },
  ]);
});
