import { Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { handleSnapshot } from "../../functions/snapshot.ts";
import { compose, readConfig } from "../../src/compose.ts";
import { startAzurite } from "../../src/local/azurite.ts";
import { scaledClock } from "../../src/local/scaled-clock.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { serveSimulator } from "../../src/simulator/server.ts";
import { oneArray } from "../scenarios/clusters.ts";

/** What an idle cluster asks of storage, as the emulator's access log has it. `cost` multiplies such ticks by a month (docs/costs.md). */

const SPEED = 300;
const HALF_PAST = Date.UTC(2026, 10, 23, 0, 30, 30);
const QUARTER_MS = 900_000;

test("an idle tick asks storage for four operations; the look at each quarter of an hour asks for thirteen, or sixteen with housekeeping", async () => {
  const requests: string[] = [];
  const accessLog = new Writable({
    write(chunk, _encoding, done) {
      requests.push(describe(String(chunk)));
      done();
    },
  });
  const real = Date.now();
  const clock = scaledClock({ origin: (SPEED * real - HALF_PAST) / (SPEED - 1), speed: SPEED });
  const azurite = await startAzurite({}, accessLog);
  const credentials = { username: "autoscaler", password: "idle" };
  const server = await serveSimulator(new Simulator(oneArray("demo"), clock), { credentials });
  onTestFinished(async () => {
    await server.close();
    await azurite.close();
  });
  const site = { name: "demo", url: server.url, username: "autoscaler", passwordSetting: "PASSWORD" };
  const composed = compose(
    readConfig({
      AzureWebJobsStorage: azurite.connectionString,
      AUTOSCALER_CLUSTERS: JSON.stringify([site]),
      PASSWORD: "idle",
      AUTOSCALER_LOCAL_CLOCK: `${(SPEED * real - HALF_PAST) / (SPEED - 1)}@${SPEED}`,
    }),
    () => undefined,
  );
  const requestsOf = async (): Promise<readonly string[]> => {
    // The emulator writes its line after its answer.
    await pause(50);
    requests.length = 0;
    await handleSnapshot(composed);
    await pause(50);
    // On this clock a slow tick outlives what is known of the configuration, which is then read again.
    const isAgain = (one: string, index: number) =>
      one === "GET configuration" && requests.indexOf(one) < index;
    return requests.filter((one, index) => !isAgain(one, index)).toSorted();
  };

  // A new cluster is looked at each minute at first.
  for (let tick = 0; tick < 30 && (await requestsOf()).length > 4; tick += 1) await pause(100);
  expect(await requestsOf()).toEqual([
    "GET configuration",
    "GET demand-poison messages",
    "GET record",
    "PUT timer",
  ]);
  const quarter = Math.ceil((clock.now() + 20_000) / QUARTER_MS);
  await clock.sleep(quarter * QUARTER_MS - clock.now());
  // At full and half hours garbage and old history are looked for, too.
  const lists = quarter % 2 === 0 ? ["GET autoscaler()", "GET autoscaler()", "GET autoscaler()"] : [];
  expect(await requestsOf()).toEqual([
    ...lists,
    "GET configuration",
    "GET credentials",
    "GET demand-poison messages",
    "GET record",
    "GET record",
    "GET record",
    "POST demand messages",
    "PUT body",
    "PUT body",
    "PUT history",
    "PUT record",
    "PUT record",
    "PUT timer",
  ]);
});

/** Method, and which row or queue. */
function describe(line: string): string {
  const [, method = "", path = ""] = /"([A-Z]+) (\S+) HTTP/.exec(line) ?? [];
  const [, partition, row] = /PartitionKey='([^']*)',RowKey='([^']*)'/.exec(decodeURIComponent(path)) ?? [];
  if (row === undefined) return `${method} ${path.split("?")[0]?.split("/").slice(2, 4).join(" ") ?? ""}`;
  if (partition === "credentials") return `${method} credentials`;
  if (partition?.startsWith("history-") === true) return `${method} history`;
  return `${method} ${row.startsWith("b-") ? "body" : row}`;
}
