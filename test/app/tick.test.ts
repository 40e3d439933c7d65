import { expect, test } from "vitest";
import type { Transport } from "../../src/adapters/cyclecloud/transport.ts";
import type { Log } from "../../src/app/ports/ports.ts";
import { tickAll } from "../../src/app/tick.ts";
import { composeInMemory } from "../../src/compose.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { drainMicrotasks, VirtualClock } from "../../src/local/play/virtual-clock.ts";

function compose(clock: VirtualClock, send: Transport["send"], log: Log = () => undefined) {
  return composeInMemory({
    cluster: "prod",
    clock,
    transport: { send },
    publicUrl: "http://autoscaler.invalid",
    autostopKeys: { current: "v", byId: new Map([["v", "no secret"]]) },
    policy: DEFAULT_POLICY,
    log,
  });
}

test("a tick that has ended leaves nobody asleep", async () => {
  const clock = new VirtualClock(0);
  const { app } = compose(clock, async () => ({ status: 503, headers: {}, body: "busy" }));
  expect(await tickAll(app)).toMatchObject([{ cluster: "prod", outcome: { kind: "troubled" } }]);
  expect(clock.nextWakeAt()).toBeUndefined();
});

test.each([
  { status: 503, trouble: "throttled" },
  { status: 401, trouble: "denied" },
])("the line of a tick says why it failed: $status", async ({ status, trouble }) => {
  const lines: unknown[] = [];
  const clock = new VirtualClock(0);
  const { app } = compose(
    clock,
    async () => ({ status, headers: {}, body: "no" }),
    (event, fields) => void (event === "tick" && lines.push(fields)),
  );
  await tickAll(app);
  expect(lines).toEqual([{ cluster: "prod", outcome: "troubled", trouble }]);
});

test("a tick whose CycleCloud never answers is left alone after 50 s", async () => {
  const clock = new VirtualClock(0);
  const { app } = compose(clock, () => new Promise(() => undefined));
  let reports: unknown;
  void tickAll(app).then((found) => (reports = found));
  for (const seconds of [10, 20, 30, 40, 49.9]) {
    clock.moveTo(seconds * 1000);
    await drainMicrotasks();
  }
  expect(reports).toBeUndefined();
  clock.moveTo(50_000);
  await drainMicrotasks();
  expect(reports).toMatchObject([{ cluster: "prod", outcome: { kind: "timed-out" } }]);
});
