import { describe, expect, test } from "vitest";
import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { oneArray } from "./clusters.ts";
import { Stage } from "./stage.ts";

const CREATE = "/clusters/demo/nodes/create";
const DAY = 86_400;
const NAMES = ["a", "b", "c", "d"];

function arrays(): SimulatorOptions {
  const [cluster] = oneArray("demo").clusters;
  const [array] = cluster?.arrays ?? [];
  if (cluster === undefined || array === undefined) throw new Error("one cluster with one array");
  return {
    ...oneArray("demo"),
    clusters: [{ ...cluster, arrays: NAMES.map((name) => ({ ...array, name })) }],
  };
}

/** The arrays that a create asks for. */
function arraysIn({ body }: Pick<TransportRequest, "body">): readonly string[] {
  const sets: unknown = body instanceof Object ? Reflect.get(body, "sets") : undefined;
  return Array.isArray(sets) ? sets.map((set) => String(Reflect.get(Object(set), "nodearray"))) : [];
}

/** Every create that asks for nodes of "b" gets this answer and has no effect, until that moment. */
function refusing(answer: Answer, until = Number.POSITIVE_INFINITY): Stage {
  return new Stage({
    simulator: arrays(),
    between: (send, clock) => async (request) => {
      const isRefused = request.path === CREATE && arraysIn(request).includes("b");
      return isRefused && clock.now() < until ? answer : send(request);
    },
  });
}

const push = (stage: Stage, count: number): void =>
  stage.send({
    version: 1,
    cluster: "demo",
    expirationInterval: DAY,
    nodearrays: NAMES.map((Name) => ({ Name, TargetCount: count })),
  });

/** The creates that reached CycleCloud. */
const requests = (stage: Stage) =>
  stage.sent.filter(({ path }) => path === CREATE).map((sent) => arraysIn(sent).join(""));
const createdIn = (stage: Stage) =>
  stage
    .eventsOf("node-created")
    .map(({ array }) => array)
    .toSorted()
    .join("");

describe("one set of a create provokes an error", () => {
  test.each([
    { name: "400", answer: { status: 400, headers: {}, body: "no" }, seconds: 60 },
    { name: "409", answer: { status: 409, headers: {}, body: "no" }, seconds: 60 },
    { name: "500 for ever", answer: { status: 500, headers: {}, body: undefined }, seconds: 360 },
  ])("$name: the others have their nodes within $seconds s", async ({ answer, seconds }) => {
    const stage = refusing(answer);
    await stage.pass(10);
    push(stage, 1);
    await stage.pass(seconds);
    expect(createdIn(stage)).toBe("acd");
    await stage.pass(600);
    expect(createdIn(stage)).toBe("acd");
    expect((await stage.state("demo")).alone).toEqual([{ bucket: "b/Standard_F4s_v2" }]);
    // Later demand of the accepted arrays goes together again, and "b" does not delay it.
    push(stage, 2);
    await stage.pass(30);
    expect(createdIn(stage)).toBe("aaccdd");
    expect(requests(stage)).toContain("acd");
  });
});

test("a set that was refused goes alone until it is accepted, and with the others from then on", async () => {
  const stage = refusing({ status: 400, headers: {}, body: "no" }, Date.UTC(2026, 0, 1) + 100_000);
  await stage.pass(10);
  push(stage, 1);
  await stage.pass(300);
  expect(createdIn(stage)).toBe("abcd");
  push(stage, 2);
  await stage.pass(30);
  expect(createdIn(stage)).toBe("aabbccdd");
  expect(requests(stage)).toEqual(["a", "c", "d", "b", "abcd"]);
});

describe("sets that go alone, and creates that take 25 s", () => {
  /** The first request is refused, so each set is sent alone. */
  const slow = (policy: Partial<Policy> = {}): Stage => {
    let isFirst = true;
    return new Stage({
      simulator: arrays(),
      policy,
      between: (send, clock) => async (request) => {
        if (request.path !== CREATE) return send(request);
        if (isFirst) {
          isFirst = false;
          return { status: 400, headers: {}, body: "no" };
        }
        await clock.sleep(12_500);
        const answer = await send(request);
        await clock.sleep(12_500);
        return answer;
      },
    });
  };

  test("a plan sends two within its 30 s; the others are asked for again at once, and none is made twice", async () => {
    const stage = slow();
    await stage.pass(10);
    push(stage, 1);
    await stage.pass(45);
    expect(createdIn(stage)).toBe("ab");
    await stage.pass(75);
    expect(createdIn(stage)).toBe("abcd");
    await stage.pass(600);
    expect(createdIn(stage)).toBe("abcd");
  });

  test("parallelCreates: all are sent at once", async () => {
    const stage = slow({ parallelCreates: 4 });
    await stage.pass(10);
    push(stage, 1);
    await stage.pass(30);
    expect(createdIn(stage)).toBe("abcd");
  });
});
