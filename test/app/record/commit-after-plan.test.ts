import { expect, test } from "vitest";
import { commitAfterPlan } from "../../../src/app/record/commit.ts";
import { composeInMemory } from "../../../src/compose.ts";
import { letPlanFirst } from "../../../src/decide/pace/observation-times.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { drainMicrotasks, VirtualClock } from "../../../src/local/play/virtual-clock.ts";
import { NOW, PROD } from "../../support/build-node.ts";
import { EMPTY_RECORD } from "../../support/build-record.ts";

/** A mark that is to be committed while a plan goes first; `pass` moves the clock. */
async function beginMark() {
  const clock = new VirtualClock(NOW);
  const { app } = composeInMemory({
    cluster: PROD,
    clock,
    transport: { send: () => Promise.reject(new Error("nothing is sent")) },
    publicUrl: "http://autoscaler.invalid",
    autostopKeys: { current: "v", byId: new Map([["v", "no secret"]]) },
    policy: DEFAULT_POLICY,
    log: () => undefined,
  });
  await app.ports.store.save(letPlanFirst(EMPTY_RECORD, clock.now()), { ledger: new Map() }, undefined);
  let markedAt: number | undefined;
  const marked = commitAfterPlan(app, PROD, ({ record }) => {
    markedAt = (clock.now() - NOW) / 1000;
    return { save: { record: { ...record, plan: record.plan + 1 }, changes: {} }, result: "marked" };
  });
  return {
    app,
    marked,
    markedAt: () => markedAt,
    pass: async (seconds: number): Promise<void> => {
      for (let quarters = 0; quarters < 4 * seconds; quarters += 1) {
        await drainMicrotasks();
        clock.moveTo(clock.now() + 250);
      }
      await drainMicrotasks();
    },
  };
}

test("a mark waits until the plan has been saved", async () => {
  const { app, marked, markedAt, pass } = await beginMark();
  await pass(2);
  expect(markedAt()).toBeUndefined();
  const stored = await app.ports.store.load(PROD);
  await app.ports.store.save(EMPTY_RECORD, {}, stored);
  await pass(0.5);
  expect(await marked).toMatchObject({ kind: "committed", result: "marked" });
  expect(markedAt()).toBeLessThanOrEqual(2.5);
});

test("a plan that does not come keeps it waiting for 5 s", async () => {
  const { marked, markedAt, pass } = await beginMark();
  await pass(6);
  expect(await marked).toMatchObject({ kind: "committed", result: "marked" });
  expect(markedAt()).toBe(5);
});
