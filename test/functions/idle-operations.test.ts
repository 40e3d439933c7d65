import { Writable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { handleSnapshot } from "../../functions/snapshot.ts";
import { compose, readConfig } from "../../src/compose.ts";
import { startAzurite } from "../../src/local/azurite.ts";
import { scaledClock } from "../../src/local/scaled-clock.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { serveSimulator } from "../../src/simulator/server.ts";
import { oneArray } from "../scenarios/clusters.ts";

/** The requests of an idle cluster to storage, from the emulator's access log (docs/costs.md, How it was counted). */

const HALF_PAST = Date.UTC(2026, 10, 23, 0, 30, 30);
const MINUTE_MS = 60_000;
const QUARTER_MS = 900_000;

test("an idle tick asks storage for four operations; the look at each quarter of an hour asks for thirteen, or seventeen with housekeeping", async () => {
  const requests: string[] = [];
  const accessLog = new Writable({
    write(chunk, _encoding, done) {
      requests.push(describe(String(chunk)));
      done();
    },
  });
  // Only dates are set: timers go on.
  vi.useFakeTimers({ toFake: ["Date"], now: HALF_PAST });
  onTestFinished(() => void vi.useRealTimers());
  const clock = scaledClock({ origin: HALF_PAST, speed: 1 });
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
      AUTOSCALER_LOCAL_CLOCK: `${HALF_PAST}@1`,
    }),
    () => undefined,
  );
  /** The emulator logs a request after its answer. Once a marker's line is there, so are all earlier ones of the same service. */
  const drain = async (): Promise<readonly string[]> => {
    const isMarker = (request: string): boolean => request === "GET marker";
    const endpoints = [azurite.tableEndpoint, azurite.queueEndpoint];
    await Promise.all(endpoints.map((endpoint) => fetch(`${endpoint}/marker`)));
    await expect.poll(() => requests.filter(isMarker).length, { interval: 5 }).toBe(endpoints.length);
    return requests.splice(0).filter((request) => !isMarker(request));
  };
  const requestsOf = async (): Promise<readonly string[]> => {
    await drain();
    await handleSnapshot(composed);
    return (await drain()).toSorted();
  };

  // A new cluster is observed each minute at first.
  for (let minute = 0; minute < 20; minute += 1) {
    await handleSnapshot(composed);
    vi.setSystemTime(Date.now() + MINUTE_MS);
  }
  expect(await requestsOf()).toEqual([
    "GET configuration",
    "GET demand-poison messages",
    "GET record",
    "PUT timer",
  ]);
  vi.setSystemTime(HALF_PAST - 30_000 + 2 * QUARTER_MS);
  expect(await requestsOf()).toEqual([...HOUSEKEEPING, ...LOOK]);
  vi.setSystemTime(HALF_PAST - 30_000 + 3 * QUARTER_MS);
  expect(await requestsOf()).toEqual(LOOK);
});

/** Garbage and old history are deleted at full and half hours. */
const HOUSEKEEPING = Array.from({ length: 4 }, () => "GET autoscaler()");
const LOOK = [
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
];

/** The method of a request, and its row or queue. */
function describe(line: string): string {
  const [, method = "", path = ""] = /"([A-Z]+) (\S+) HTTP/.exec(line) ?? [];
  const [, partition, row] = /PartitionKey='([^']*)',RowKey='([^']*)'/.exec(decodeURIComponent(path)) ?? [];
  if (row === undefined) return `${method} ${path.split("?")[0]?.split("/").slice(2, 4).join(" ") ?? ""}`;
  if (partition === "credentials") return `${method} credentials`;
  if (partition?.startsWith("history-") === true) return `${method} history`;
  return `${method} ${row.startsWith("b-") ? "body" : row}`;
}
