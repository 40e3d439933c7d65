import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startAzurite } from "../../src/local/azurite.ts";
import { runHostJob } from "../../src/local/host-job.ts";
import { freePort } from "../../src/local/ports.ts";
import type { Running } from "../support/run-main.ts";
import { startHostAlone } from "../support/run-main.ts";

/** `npm run host`: the function app alone, against a storage emulator that runs elsewhere. */
const patiently = { interval: 100 };
const ACCOUNT =
  "AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

function emulatorAt(queue: number, table: number): string {
  const at = (port: number) => `http://127.0.0.1:${port}/devstoreaccount1`;
  return `DefaultEndpointsProtocol=http;${ACCOUNT};QueueEndpoint=${at(queue)};TableEndpoint=${at(table)};`;
}

/** A settings file whose CycleCloud does not answer. */
function settingsFor(storage: string, values: object = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "host-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "local.settings.json");
  const cluster = { name: "prod", url: "http://127.0.0.1:2", username: "a", passwordSetting: "CC_PASSWORD" };
  const all = {
    AzureWebJobsStorage: storage,
    AUTOSCALER_CLUSTERS: JSON.stringify([cluster]),
    CC_PASSWORD: "secret",
    ...values,
  };
  writeFileSync(path, JSON.stringify({ IsEncrypted: false, Values: all }));
  return path;
}

function start(...args: readonly string[]): Running {
  const run = startHostAlone(args);
  onTestFinished(() => {
    if (run.anyLeft()) run.signal("SIGKILL");
  });
  return run;
}

test("it waits for its storage, takes demand once that is there, and starts again when it is killed", async () => {
  const [app, queue, table] = [await freePort(), await freePort(), await freePort()];
  const settings = settingsFor(emulatorAt(queue, table));
  const run = start("--settings", settings, "--port", String(app), "--key", "mine");
  await expect
    .poll(() => run.said(), patiently)
    .toMatch(/could not be started \(create queue demand: .*ECONNREFUSED.*\); the next try is in 1 s/);

  const azurite = await startAzurite({ ports: { queue, table } });
  onTestFinished(() => azurite.close());
  await expect.poll(() => run.said(), patiently).toMatch(/the function app runs \(process \d+\)/);
  const set = `http://127.0.0.1:${app}/api/clusters/prod/request-sets/mine`;
  const headers = { "x-functions-key": "mine" };
  const body = '{"version":1,"nodearrays":[{"Name":"execute","TargetCount":1}],"expirationInterval":3600}';
  expect((await fetch(set, { method: "PUT", headers, body })).status).toBe(202);

  process.kill(Number(/runs \(process (\d+)\)/.exec(run.said())?.[1]), "SIGKILL");
  await expect.poll(() => run.said(), patiently).toMatch(/has ended \(SIGKILL\)/);
  await expect.poll(() => run.said(), patiently).toMatch(/runs again \(process \d+, started again 1 time\)/);
  expect((await fetch(set, { headers })).status).toBe(200);

  run.signal("SIGINT");
  const { code, stdout } = await run.ended;
  expect({ code, last: stdout.trimEnd().split("\n").at(-1) }).toEqual({
    code: 0,
    last: "stopped; nothing is left running",
  });
});

test.each([
  {
    name: "no settings",
    args: () => [],
    problem: "--settings: found nothing, expected the path of a local.settings.json",
  },
  {
    name: "the storage account of a deployed app",
    args: () => ["--settings", settingsFor(`DefaultEndpointsProtocol=https;${ACCOUNT}`)],
    problem:
      "Values.AzureWebJobsStorage: found a storage account, expected UseDevelopmentStorage=true or the connection string of a storage emulator: two apps must not share an account",
  },
  {
    name: "a port that is none",
    args: () => ["--settings", "x.json", "--port", "0"],
    problem: '--port: found "0", expected a whole number from 1 to 65535',
  },
])("$name: 2", async ({ args, problem }) => {
  const complaints: string[] = [];
  const output = { say: () => undefined, complain: (line: string) => complaints.push(line) };
  expect(await runHostJob(args(), output)).toBe(2);
  expect(complaints.join("\n")).toContain(problem);
});
