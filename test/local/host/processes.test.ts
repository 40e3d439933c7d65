import { QueueServiceClient } from "@azure/storage-queue";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { spawnAzurite } from "../../support/spawn-azurite.ts";
import { spawnChild } from "../../../src/local/host/child-process.ts";
import { spawnHost, type HostProcess } from "../../../src/local/host/spawn-host.ts";
import { paced, PATIENCE_MS } from "../../support/patience.ts";
import { hostJson, quietSettings } from "../../support/toy-app/start.ts";

const toyApp = (file: string) => fileURLToPath(new URL(`../../support/toy-app/${file}`, import.meta.url));
const keys = { master: "master-key", host: "host-key" };
const origin = Date.now();
/** The timer's lease is a minute of the app's clock. */
const speed = paced(60);
const patiently = { interval: 50 };
/** For what is hidden for ten minutes of the app's clock, ten real seconds or more. */
const hidden = { interval: 50, timeout: PATIENCE_MS + 600_000 / speed };

let azurite: Awaited<ReturnType<typeof spawnAzurite>>;
beforeAll(async () => {
  azurite = await spawnAzurite();
});
afterAll(() => azurite.close());

/** A host process of the toy app; `ticks` gets its name whenever its timer runs there. */
function start(instanceId: string, ticks: string[]): Promise<HostProcess> {
  return spawnHost(
    {
      app: toyApp("main.ts"),
      hostJson: hostJson(),
      settings: { ...quietSettings, "AzureWebJobs.tick.Disabled": "false" },
      origin,
      speed,
      keys,
      instanceId,
      connectionString: azurite.connectionString,
    },
    (line) => {
      if (line.includes("tick ticked")) ticks.push(instanceId);
    },
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("several host processes share one Azurite: each answers HTTP, and one runs the timer; when it crashes, another takes over the timer and its message, and all stop when asked", async () => {
  const queue = QueueServiceClient.fromConnectionString(azurite.connectionString).getQueueClient("orders");
  await queue.create();
  const ticks: string[] = [];
  const first = await start("first", ticks);
  await expect.poll(() => ticks.length, patiently).toBeGreaterThan(0);
  await queue.sendMessage('{"hangUntil":2}');
  await expect.poll(async () => (await queue.peekMessages()).peekedMessageItems.length, patiently).toBe(0);
  const second = await start("second", ticks);

  const pids = await Promise.all(
    [first, second].map(async ({ url }) => (await fetch(`${url}/api/pid`)).text()),
  );
  expect(pids).toEqual([String(first.pid), String(second.pid)]);
  expect(first.keys).toEqual(keys);
  expect(first.functions).toContainEqual({ name: "tick", trigger: "timerTrigger" });
  expect(first.functions).toContainEqual({ name: "orders", trigger: "queueTrigger" });
  expect(first.functions).toContainEqual({ name: "echo", trigger: "httpTrigger" });

  expect(new Set(ticks)).toEqual(new Set(["first"]));
  expect((await queue.getProperties()).approximateMessagesCount).toBe(1); // the first renews it
  expect(await first.kill()).toBe("SIGKILL");
  await expect.poll(() => ticks.at(-1), patiently).toBe("second");
  await expect.poll(async () => (await queue.getProperties()).approximateMessagesCount, hidden).toBe(0);
  process.kill(second.pid, "SIGTERM");
  expect(await second.exited).toBe(0);
  expect([first.pid, second.pid].map(isAlive)).toEqual([false, false]);
});

test("a host that cannot start says why", async () => {
  const host = spawnHost(
    {
      app: toyApp("main.ts"),
      hostJson: hostJson({ batchSize: 33 }),
      settings: quietSettings,
      origin,
      speed,
      connectionString: azurite.connectionString,
    },
    () => undefined,
  );
  await expect(host).rejects.toThrow("batchSize");
});

test("children stop when their parent is killed", async () => {
  const parent = await spawnChild({
    script: toyApp("parent.ts"),
    args: [],
    readyLine: z.object({ pids: z.array(z.number()) }),
  });
  expect(parent.ready.pids.map(isAlive)).toEqual([true, true]);
  await parent.kill();
  await expect.poll(() => parent.ready.pids.map(isAlive), patiently).toEqual([false, false]);
});
