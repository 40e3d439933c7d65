import { describe, expect, test } from "vitest";
import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import type { VirtualClock } from "../../src/local/play/virtual-clock.ts";
import { oneArray, target } from "./clusters.ts";
import { demo, started } from "./deallocated-stage.ts";
import type { Send, StageOptions } from "./stage-options.ts";
import { ORIGIN } from "./stage-options.ts";
import { Stage } from "./stage.ts";

const DAY = 86_400;
/** Nodes of the simulator are Ready 60 s after their creation. */
const BOOT_SECONDS = 60;

type Concerns = (request: TransportRequest) => boolean;

const CALLS: Readonly<Record<string, Concerns>> = {
  "every call": () => true,
  status: ({ path }) => path.endsWith("/status"),
  "nodes?request_id=": ({ path, query }) => path.endsWith("/nodes") && query["request_id"] !== undefined,
  operations: ({ path }) => path.startsWith("/operations"),
  create: ({ path }) => path.endsWith("/create"),
};

/** Half of the time passes before the request arrives, half of it before the answer does. */
function slow(concerns: Concerns, seconds: number): NonNullable<StageOptions["between"]> {
  return (send: Send, clock: VirtualClock) => async (request) => {
    if (!concerns(request)) return send(request);
    await clock.sleep(seconds * 500);
    const answer = await send(request);
    await clock.sleep(seconds * 500);
    return answer;
  };
}

/** CycleCloud gives all these requests this answer, which has no effect. */
function failing(concerns: Concerns, answer: Answer): NonNullable<StageOptions["between"]> {
  return (send: Send) => async (request) => (concerns(request) ? answer : send(request));
}

/** Demand is 5 nodes at 10 s, 12 at 300 s and 20 at 2,025 s. Returns when the cluster had as many Ready nodes, in seconds after each push. */
async function reach(between: NonNullable<StageOptions["between"]>) {
  const stage = new Stage({ simulator: oneArray("demo"), between });
  const reached: number[] = [];
  const pushes = [
    { at: 10, count: 5 },
    { at: 300, count: 12 },
    { at: 2025, count: 20 },
  ];
  for (const [index, { at, count }] of pushes.entries()) {
    await stage.pass(at - (stage.clock.now() - ORIGIN) / 1000);
    stage.send(target("demo", count, { expirationInterval: DAY }));
    await stage.pass((pushes[index + 1]?.at ?? 3600) - at);
    const last = stage.eventsOf("node-ready")[count - 1];
    reached.push(last === undefined ? Number.POSITIVE_INFINITY : (last.at - ORIGIN) / 1000 - at);
  }
  const looks = stage.eventsOf("status-read").length;
  return { stage, reached, created: stage.eventsOf("node-created").length, looks };
}

describe.each([0.1, 2, 5.5, 7, 20, 40])("CycleCloud takes %d s for ever", (seconds) => {
  test.each(Object.entries(CALLS))(
    "for %s: demand is reached in boot time + 60 s + 6 calls",
    async (_, concerns) => {
      const { reached, created, looks } = await reach(slow(concerns, seconds));
      expect(Math.max(...reached)).toBeLessThanOrEqual(BOOT_SECONDS + 60 + 6 * seconds);
      expect(created).toBe(20);
      // One per minute, and some for demand.
      expect(looks).toBeLessThanOrEqual(66);
    },
  );
});

test("health says how long a call takes, and history keeps it; then it is quick again", async () => {
  let seconds = 22;
  const stage = new Stage({
    simulator: oneArray("demo"),
    between: (send, clock) => (request) => slow(() => true, seconds)(send, clock)(request),
  });
  stage.send(target("demo", 2, { expirationInterval: DAY }));
  await stage.pass(130);
  const { health } = await stage.state("demo");
  expect(health.ok).toBe(true);
  expect(health.notes).toContain("CycleCloud takes 22 s per call");
  expect((await stage.history("demo")).at(0)).toMatchObject({ callSeconds: { status: 22 } });
  seconds = 0;
  await stage.pass(600);
  expect((await stage.state("demo")).health.notes).toEqual([]);
  expect((await stage.history("demo")).at(0)).not.toHaveProperty("callSeconds");
});

describe.each([
  ["429", { status: 429, headers: { "retry-after": "3" }, body: undefined }],
  ["500", { status: 500, headers: {}, body: "Internal Server Error" }],
  ["403", { status: 403, headers: {}, body: "Forbidden" }],
  ["a login page", { status: 200, headers: { "content-type": "text/html" }, body: "<html>login</html>" }],
] as const)("an endpoint that answers %s for ever", (_, answer) => {
  test("operations: demand is reached as always", async () => {
    const { reached, created } = await reach(failing(CALLS["operations"] ?? (() => false), answer));
    expect(Math.max(...reached)).toBeLessThanOrEqual(BOOT_SECONDS + 60);
    expect(created).toBe(20);
  });

  test("nodes?request_id=: later demand is reached as always, and health names it", async () => {
    const between = failing(CALLS["nodes?request_id="] ?? (() => false), answer);
    const { reached, created, stage } = await reach(between);
    expect(Math.max(...reached)).toBeLessThanOrEqual(BOOT_SECONDS + 60);
    expect(created).toBe(20);
    stage.send(target("demo", 21, { expirationInterval: DAY }));
    await stage.pass(61);
    const { notes } = (await stage.state("demo")).health;
    expect(notes).toEqual([
      expect.stringMatching(
        /^CycleCloud's nodes\?request_id= has failed since 2026-01-01T00:01:00.000Z: GET /,
      ),
    ]);
  });
});

/** A CycleCloud whose status does not show what a node was created with: no stop URL shows that it is ours. */
const withoutConfiguration =
  (send: Send): Send =>
  async (request) => {
    const answer = await send(request);
    if (CALLS["status"]?.(request) !== true) return answer;
    const body: unknown = JSON.parse(
      JSON.stringify(answer.body, (key, value) => (key === "Configuration" ? {} : value)),
    );
    return { ...answer, body };
  };

test("nodes?request_id= fails for five minutes, then it tells whose the nodes are: switched off, they are started for their demand", async () => {
  let isBroken = true;
  const answer = { status: 500, headers: {}, body: "Internal Server Error" };
  const isLost: Concerns = (request) => isBroken && CALLS["nodes?request_id="]?.(request) === true;
  const between: StageOptions["between"] = (send, clock) =>
    withoutConfiguration(failing(isLost, answer)(send, clock));
  const stage = new Stage({ simulator: demo(), between });
  stage.send(target("demo", 2, { expirationInterval: DAY }));
  await stage.pass(300);
  isBroken = false;
  await stage.pass(120);
  const ids = stage.eventsOf("node-ready").map(({ nodeId }) => nodeId);
  const path = "/clusters/demo/nodes/shutdown";
  stage.simulator.request({ method: "POST", query: {}, path, body: { ids } });
  await stage.pass(600);
  expect(started(stage).toSorted()).toEqual(ids.toSorted());
  expect(stage.eventsOf("node-created")).toHaveLength(2);
});
