import { describe, expect, test } from "vitest";
import { target } from "./clusters.ts";
import {
  DAY,
  created,
  demo,
  ready,
  stageWithDeallocated,
  started,
  starts,
  why,
} from "./deallocated-stage.ts";

const BOTH = ["Standard_F4s_v2", "Standard_D4s_v5"];

describe("a node that does not start", () => {
  test("refused: another node of its bucket serves in its place", async () => {
    const [stage, ids] = await stageWithDeallocated(2, { simulator: demo({}, BOTH) });
    const [good = "", broken = ""] = ids;
    stage.simulator.faults.refuseStart(broken, "The disk is gone");
    await stage.during(stage.push(target("demo", 2, { expirationInterval: DAY })));
    await stage.pass(20);
    expect(started(stage)).toEqual([good]);
    expect(created(stage, 2)).toEqual(["Standard_F4s_v2"]);
    const { backoffs, troubles } = await stage.state("demo");
    expect(backoffs).toEqual([]);
    expect(troubles).toMatchObject([
      { kind: "start-refused", text: "execute-2 did not start: The disk is gone" },
    ]);
    expect(await why(stage, broken)).toMatch(
      /^deallocated since .*: not started again before .*, because The disk is gone; it is terminated at .*$/,
    );
    await stage.pass(3600);
    expect(starts(stage)).toHaveLength(1);
    expect(await ready(stage)).toBe(2);
  });

  test("refused for all of three: three new nodes, and they are left alone for 15 minutes", async () => {
    const [stage, broken] = await stageWithDeallocated(3, { simulator: demo() });
    for (const id of broken) stage.simulator.faults.refuseStart(id, "The disk is gone");
    await stage.during(stage.push(target("demo", 3, { expirationInterval: DAY })));
    await stage.pass(20);
    expect(created(stage, 3)).toHaveLength(3);
    await stage.pass(600);
    expect(starts(stage)).toHaveLength(1);
    expect(await ready(stage)).toBe(3);
  });

  test("accepted, and still Deallocated after the grace: created elsewhere, in words", async () => {
    const [stage, [node = ""]] = await stageWithDeallocated(1, { simulator: demo({}, BOTH) });
    stage.simulator.faults.freezeLag();
    await stage.during(stage.push(target("demo", 1, { expirationInterval: DAY })));
    await stage.pass(890);
    expect(created(stage, 1)).toEqual([]);
    expect(await why(stage, node)).toBe("deallocated, and asked to start for standard/nodearray:execute");
    // The tick at 900 s, whose pause lasts 60 s.
    await stage.pass(40);
    expect(created(stage, 1)).toEqual(["Standard_D4s_v5"]);
    const { backoffs } = await stage.state("demo");
    expect(backoffs.map(({ bucket, cause }) => [bucket, cause])).toEqual([
      ["execute/Standard_F4s_v2", "boot-failed"],
    ]);
    expect(backoffs[0]?.message).toMatch(
      /^execute-1 was still Deallocated 9\d\d s after CycleCloud accepted its start$/,
    );
    expect(starts(stage)).toHaveLength(1);
  });

  test("accepted, and it never gets its VM: stopped at the boot timeout, counted from the start", async () => {
    const [stage, [node = ""]] = await stageWithDeallocated(1, { simulator: demo({}, BOTH) });
    stage.simulator.faults.setCapacity("execute", "Standard_F4s_v2", 0);
    await stage.during(stage.push(target("demo", 1, { expirationInterval: DAY })));
    await stage.pass(3590);
    expect(stage.eventsOf("terminate-accepted")).toEqual([]);
    await stage.pass(130);
    expect(stage.eventsOf("terminate-accepted").map(({ nodeId }) => nodeId)).toEqual([node]);
    expect(created(stage, 1)).toEqual(["Standard_D4s_v5"]);
  });

  test("its quota was given away meanwhile: refused in CycleCloud's words", async () => {
    const [stage] = await stageWithDeallocated(1, {
      simulator: demo({
        quirks: { deallocatedHoldsQuota: false },
        quotas: { family: { standardFSv2Family: 4 }, usedByOthers: {} },
      }),
    });
    stage.simulator.request({
      method: "POST",
      path: "/clusters/demo/nodes/create",
      query: {},
      body: { sets: [{ nodearray: "execute", count: 1, nodeAttributes: { KeepAlive: true } }] },
    });
    await stage.pass(120);
    await stage.during(stage.push(target("demo", 2, { expirationInterval: DAY })));
    await stage.pass(20);
    const { plan, troubles } = await stage.state("demo");
    expect(troubles).toMatchObject([
      { text: "execute-1 did not start: the quota of family standardFSv2Family was reached" },
    ]);
    expect(plan?.unmetCount).toBe(1);
  });
});

test("a quota full of deallocated nodes does not keep them from being started", async () => {
  const [stage] = await stageWithDeallocated(2, {
    simulator: demo({ quotas: { family: { standardFSv2Family: 8 } } }),
  });
  await stage.during(stage.push(target("demo", 2, { expirationInterval: DAY })));
  await stage.pass(300);
  expect(await ready(stage)).toBe(2);
});

test("CycleCloud's 409 without a word of the id: nothing came of it after a minute, so the bucket rests", async () => {
  const [stage] = await stageWithDeallocated(1, { simulator: demo({}, BOTH) });
  stage.simulator.faults.failNext({ method: "POST", pathIncludes: "/nodes/start" }, 1000, {
    status: 409,
    body: { Message: "locked" },
  });
  await stage.during(stage.push(target("demo", 1, { expirationInterval: DAY })));
  await stage.pass(50);
  expect(created(stage, 1)).toEqual([]);
  await stage.pass(200);
  expect(created(stage, 1)).toEqual(["Standard_D4s_v5"]);
  expect(starts(stage)).toHaveLength(1);
});
