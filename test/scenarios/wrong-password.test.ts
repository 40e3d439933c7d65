import { expect, test } from "vitest";
import type { LocalSystem } from "../../src/local/system.ts";
import { startSystem } from "../../src/local/system.ts";
import { oneArray, target } from "./clusters.ts";
import { put, stateOf, tick, until } from "./real.ts";
import { Stage } from "./stage.ts";

/** When CycleCloud refused the credentials, in simulated seconds. */
function refusals(simulator: LocalSystem["simulator"]): readonly number[] {
  return simulator.log.flatMap((event) =>
    event.kind === "request-refused" && event.status === 401 ? [event.at / 1000] : [],
  );
}

test(
  "a wrong password, two hosts: one call fails, then nobody calls for 5 minutes, then one tries",
  { timeout: 60_000 },
  async () => {
    const system = await startSystem({
      simulator: oneArray("demo"),
      speed: 60,
      hosts: 2,
      extraSettings: { CYCLECLOUD_PASSWORD: "mistyped" },
      onHostLine: () => undefined,
    });
    try {
      await until("the first call", () => refusals(system.simulator).length > 0);
      const [first = 0] = refusals(system.simulator);
      // The timer, demand and callers go on asking, on both hosts.
      const urls = system.hosts.map(({ url }) => url);
      for (let count = 1; system.clock.now() / 1000 < first + 270; count += 1) {
        await put(system, target("demo", count), urls[count % 2]);
        await Promise.all(urls.map((url) => tick(system, "demo", url)));
      }
      expect(refusals(system.simulator)).toEqual([first]);
      expect((await stateOf(system, "demo")).health.trouble?.kind).toBe("denied");

      await until("the second call", () => refusals(system.simulator).length > 1);
      await Promise.all(urls.map((url) => tick(system, "demo", url)));
      await Promise.all(urls.map((url) => tick(system, "demo", url)));
      const [, second = 0, ...more] = refusals(system.simulator);
      expect(more).toEqual([]);
      expect(second - first).toBeGreaterThanOrEqual(300);
      expect(second - first).toBeLessThanOrEqual(300 + 90);
    } finally {
      await system.close();
    }
  },
);

test("six clusters share one account whose password is wrong: one call fails, and the account is not locked", async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const clusters = names.flatMap((name) => oneArray(name).clusters);
  const stage = new Stage({ simulator: { ...oneArray("a"), clusters } });
  stage.simulator.requireCredentials({ username: "autoscaler", password: "secret" });
  await stage.pass(299);
  expect(refusals(stage.simulator)).toHaveLength(1);
  await stage.pass(120);
  expect(refusals(stage.simulator)).toHaveLength(2);
  stage.simulator.requireCredentials(undefined);
  await stage.pass(400);
  for (const name of names) expect((await stage.state(name)).health.ok).toBe(true);
});
