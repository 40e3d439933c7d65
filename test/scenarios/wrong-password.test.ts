import { expect, test } from "vitest";
import type { Simulator } from "../../src/simulator/engine.ts";
import { oneArray, target } from "./clusters.ts";
import { HostsStage } from "./hosts-stage.ts";
import { Stage } from "./stage.ts";
import { ORIGIN } from "./stage-options.ts";

const CREDENTIALS = { username: "autoscaler", password: "secret" };

/** When CycleCloud refused the credentials, in seconds since the beginning. */
function refusals(simulator: Simulator): readonly number[] {
  return simulator.log.flatMap((event) =>
    event.kind === "request-refused" && event.status === 401 ? [(event.at - ORIGIN) / 1000] : [],
  );
}

test("a wrong password, two hosts: one call fails, then none is sent for 5 minutes, then one tries", async () => {
  const stage = new HostsStage({ simulator: oneArray("demo") });
  stage.simulator.requireCredentials(CREDENTIALS);
  // The timer and demand go on asking, on both hosts.
  let count = 0;
  stage.every(7, () => {
    count += 1;
    stage.push(target("demo", count), stage.hosts[count % 2]);
  });
  await stage.pass(299);
  const [first = 0, ...more] = refusals(stage.simulator);
  expect(more).toEqual([]);
  await stage.pass(300);
  const [, second = 0, ...others] = refusals(stage.simulator);
  expect(others).toEqual([]);
  expect(second - first).toBeGreaterThanOrEqual(300);
  expect(second - first).toBeLessThanOrEqual(300 + 7);
  expect(count).toBeGreaterThan(80);
});

test("six clusters share one account whose password is wrong: one call fails, and the account is not locked", async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const clusters = names.flatMap((name) => oneArray(name).clusters);
  const stage = new Stage({ simulator: { ...oneArray("a"), clusters } });
  stage.simulator.requireCredentials(CREDENTIALS);
  await stage.pass(299);
  expect(refusals(stage.simulator)).toHaveLength(1);
  await stage.pass(120);
  expect(refusals(stage.simulator)).toHaveLength(2);
  stage.simulator.requireCredentials(undefined);
  await stage.pass(400);
  for (const name of names) expect((await stage.state(name)).health.ok).toBe(true);
});
