import { describe, expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";

const DAY = 86_400;
const BOTH = ["Standard_F4s_v2", "Standard_D4s_v5"];

/** Nodes created so far, by machine type. */
function createdByType(stage: Stage): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { machineType } of stage.eventsOf("node-created")) {
    counts[machineType] = (counts[machineType] ?? 0) + 1;
  }
  return counts;
}

describe("nodes that never boot", () => {
  test("are stopped after the boot timeout and replaced in the other bucket", async () => {
    const simulator = oneArray("demo", { machineTypes: BOTH }, { neverBootShare: 1 });
    const stage = new Stage({ simulator });
    await stage.during(stage.push(target("demo", 10, { expirationInterval: DAY })));
    await stage.pass(3590);
    expect(stage.eventsOf("terminate-accepted")).toEqual([]);
    expect(createdByType(stage)).toEqual({ Standard_F4s_v2: 10 });
    await stage.pass(130);
    expect(stage.eventsOf("terminate-accepted")).toHaveLength(10);
    expect(createdByType(stage)).toEqual({ Standard_F4s_v2: 10, Standard_D4s_v5: 10 });
  });

  test("are replaced in their own bucket after its rest, where there is no other", async () => {
    const stage = new Stage({ simulator: oneArray("demo", {}, { neverBootShare: 1 }) });
    await stage.during(stage.push(target("demo", 10, { expirationInterval: DAY })));
    // The tick at 0 s sees them first, so their boot timeout ends at 3,600 s.
    await stage.pass(3610);
    expect(stage.eventsOf("terminate-accepted")).toHaveLength(10);
    expect(stage.eventsOf("node-created")).toHaveLength(10);
    const { plan, backoffs } = await stage.state("demo");
    expect(plan?.unmetCount).toBe(1);
    expect(backoffs.map(({ bucket, cause }) => ({ bucket, cause }))).toEqual([
      { bucket: "execute/Standard_F4s_v2", cause: "boot-failed" },
    ]);
    await stage.pass(60);
    expect(stage.eventsOf("node-created")).toHaveLength(20);
  });
});

test("nodes whose software installation fails are stopped at once and replaced in the other bucket", async () => {
  const stage = new Stage({
    simulator: oneArray("demo", { machineTypes: BOTH }, { bootFailureShare: 1 }),
  });
  await stage.during(stage.push(target("demo", 10, { expirationInterval: DAY })));
  // Demand is pushed again, which ends the rest of a new record. During the rest, a node that was only seen as Failed may have been Ready
  // before.
  await stage.pass(20);
  await stage.during(stage.push(target("demo", 10, { expirationInterval: DAY })));
  await stage.pass(41);
  expect(stage.eventsOf("node-failed")).toHaveLength(10);
  expect(stage.eventsOf("terminate-accepted")).toHaveLength(10);
  await stage.pass(20);
  expect(createdByType(stage)).toEqual({ Standard_F4s_v2: 10, Standard_D4s_v5: 10 });
});

test("Azure has only 3 of 10 nodes of the first machine type: the other 7 come from the next, within 15 s", async () => {
  const stage = new Stage({
    simulator: oneArray("demo", { machineTypes: BOTH, capacity: { Standard_F4s_v2: 3 } }),
  });
  await stage.during(stage.push(target("demo", 10, { expirationInterval: DAY })));
  await stage.pass(15);
  expect(createdByType(stage)).toEqual({ Standard_F4s_v2: 3, Standard_D4s_v5: 7 });
  await stage.pass(3600);
  expect(createdByType(stage)).toEqual({ Standard_F4s_v2: 3, Standard_D4s_v5: 7 });
  expect(stage.readyNodes).toHaveLength(10);
});

describe("a create that CycleCloud refuses as invalid (409)", () => {
  const refusal = { status: 409, body: { Code: 409, Message: "Nodearray is locked" } };
  const creates = (stage: Stage) =>
    stage.sent.filter(({ method, path }) => method === "POST" && path.endsWith("/nodes/create"));

  test("is not sent twice within its backoff of 60 s, 120 s, 240 s", async () => {
    const stage = new Stage({ simulator: oneArray("demo") });
    stage.simulator.faults.failNext({ method: "POST", pathIncludes: "/nodes/create" }, 1000, refusal);
    await stage.during(stage.push(target("demo", 10, { expirationInterval: DAY })));
    await stage.pass(30);
    expect(creates(stage)).toHaveLength(1);
    const { backoffs, plan } = await stage.state("demo");
    expect(backoffs.map(({ cause, message }) => ({ cause, message }))).toEqual([
      { cause: "refused", message: "Nodearray is locked" },
    ]);
    expect(plan?.unmetCount).toBe(1);
    await stage.pass(1200);
    const gaps = creates(stage)
      .map(({ at }) => at / 1000)
      .map((at, index, all) => at - (all[index - 1] ?? at))
      .slice(1);
    expect(gaps.length).toBeGreaterThanOrEqual(3);
    const [first = 0, second = 0, third = 0] = gaps;
    expect(first).toBeGreaterThanOrEqual(60);
    expect(second).toBeGreaterThanOrEqual(120);
    expect(third).toBeGreaterThanOrEqual(240);
    expect(stage.eventsOf("node-created")).toEqual([]);
  });

  test("goes to the next machine type meanwhile", async () => {
    const stage = new Stage({ simulator: oneArray("demo", { machineTypes: BOTH }) });
    stage.simulator.faults.failNext({ method: "POST", pathIncludes: "/nodes/create" }, 1, refusal);
    await stage.during(stage.push(target("demo", 10, { expirationInterval: DAY })));
    await stage.pass(60);
    expect(createdByType(stage)).toEqual({ Standard_D4s_v5: 10 });
  });

  test("but was a repeat of one that took effect: nothing is created twice", async () => {
    const stage = new Stage({ simulator: oneArray("demo") });
    stage.simulator.faults.failNext({ method: "POST", pathIncludes: "/nodes/create" }, 1, {
      ...refusal,
      afterEffect: true,
    });
    await stage.during(stage.push(target("demo", 10, { expirationInterval: DAY })));
    await stage.pass(3600);
    expect(stage.eventsOf("node-created")).toHaveLength(10);
    expect(creates(stage)).toHaveLength(1);
    expect(stage.readyNodes).toHaveLength(10);
  });
});
