import { describe, expect, test, vi } from "vitest";
import { handleSnapshot } from "../../functions/snapshot.ts";
import { putRequestSet } from "../../functions/request-sets.ts";
import { describeCluster } from "../../src/app/describe/describe-cluster.ts";
import type { Ports, Site } from "../../src/app/ports/ports.ts";
import type { MemoryComposition } from "../../src/compose.ts";
import { clusterName, setName } from "../../src/domain/ids.ts";
import type { MemoryDoor } from "../support/memory-door.ts";
import { anotherProcess, openMemoryDoor } from "../support/memory-door.ts";
import { PATIENCE_MS } from "../support/patience.ts";

/* Memory is a budget (docs/protocol.md, Memory, and A process that dies of a record). */

const MIB = 1024 * 1024;
const DEMO = clusterName("demo");
/** Of this heap 2.4 MiB are for large messages. */
const HEAP = 8 * MIB;

/** Each job takes 98 bytes of JSON. 800 make a large message, and 20,000 one that takes 8.7 MiB to read. */
const asking = (requestSet: string, count: number): string =>
  JSON.stringify({
    version: 1,
    cluster: "demo",
    requestSet,
    jobs: Array.from({ length: count }, (_, index) => ({
      name: `${index}`.padStart(62, "j"),
      constraints: { ncpus: 1 },
    })),
  });

function put({ composed }: MemoryDoor, set: string, count: number) {
  const site = composed.app.ports.sites.get(DEMO);
  if (site === undefined) throw new Error("the cluster is demo");
  const body = Buffer.from(asking(set, count));
  const arrayBuffer = () => Promise.resolve(new Uint8Array(body).buffer);
  return putRequestSet(composed, site, setName(set), { arrayBuffer });
}

const stored = async ({ app }: MemoryComposition) =>
  [...((await app.ports.store.load(DEMO))?.record.sets.keys() ?? [])].toSorted();

describe("a message", () => {
  test("that takes more memory to read than this instance has for it is refused, by queue and by HTTP", async () => {
    const door = openMemoryDoor(undefined, { heap: HEAP });
    const problem = {
      path: "",
      found: "a message that takes 8.7 MiB of memory to read",
      expected:
        "at most 2.4 MiB on instances of this size: send it as several request sets, or set instanceMemoryMB higher",
    };
    await door.deliver(asking("heavy", 20_000));
    expect(await door.rejected()).toMatchObject([{ problems: [problem] }]);
    const { status, body } = await put(door, "heavy", 20_000);
    expect(status).toBe(413);
    expect(body).toEqual(expect.stringContaining(JSON.stringify(problem)));
    expect(await stored(door.composed)).toEqual([]);
  });

  test("that is large waits while others are read, and then goes back or is answered 503; a small one is taken", async () => {
    const door = openMemoryDoor(undefined, { heap: HEAP });
    const { lanes, ports } = door.composed.app;
    const leave = await lanes.reading.enter("large", lanes.budget.large, ports.clock);
    await expect(door.deliver(asking("large", 800))).rejects.toThrow("other messages are being read");
    expect(await put(door, "large", 800)).toMatchObject({ status: 503, headers: { "retry-after": "10" } });
    await door.deliver(asking("small", 1));
    expect(await put(door, "small-2", 1)).toMatchObject({ status: 202 });
    expect(await stored(door.composed)).toEqual(["small", "small-2"]);
    leave?.();
    await door.deliver(asking("large", 800));
    expect(await stored(door.composed)).toEqual(["large", "small", "small-2"]);
  });

  test("leaves the gate, whatever becomes of it", async () => {
    const door = openMemoryDoor(undefined, { heap: HEAP });
    const long = " ".repeat(100_000);
    for (let times = 0; times < 8; times += 1) {
      await door.deliver(`${long}{"version":1,"cluster":"demo","requestSet":"unknown","jobs":7}`);
      await put(door, "taken", 800);
    }
    const { lanes, ports } = door.composed.app;
    expect(await lanes.reading.enter("large", lanes.budget.large, ports.clock, 1)).toBeDefined();
  });
});

/** While it is told to, CycleCloud lets a process wait for its status for ever: to the others it looks dead. */
class Deadly {
  isDeadly = false;

  readonly around = (ports: Ports): Ports => {
    const sites = [...ports.sites].map(([name, site]): [typeof name, Site] => {
      const { cyclecloud } = site;
      const status: typeof cyclecloud.status = (cluster, now) =>
        this.isDeadly ? new Promise(() => undefined) : cyclecloud.status(cluster, now);
      return [name, { ...site, cyclecloud: { ...cyclecloud, status } }];
    });
    return { ...ports, sites: new Map(sites) };
  };
}

/** A new process begins an observation and dies. */
async function die(door: MemoryDoor): Promise<void> {
  const process = anotherProcess(door.composed);
  const begun = async () => {
    const record = (await process.app.ports.store.load(DEMO))?.record;
    return record?.planning?.some((one) => one.process === process.app.lanes.process) === true;
  };
  void handleSnapshot(process);
  await vi.waitUntil(begun, { timeout: PATIENCE_MS, interval: 1 });
  door.clock.advance(180);
}

const leftOutIn = (cluster: Awaited<ReturnType<typeof describeCluster>>) =>
  cluster.demand.filter(({ leftOut }) => leftOut !== undefined).map(({ requestSet }) => requestSet);

test("when two processes died over a plan, the next one leaves out what came last and says so; ten minutes later it plans all", async () => {
  const cyclecloud = new Deadly();
  const door = openMemoryDoor(cyclecloud.around);
  const lasting = (set: string) => ({
    version: 1,
    cluster: "demo",
    requestSet: set,
    expirationInterval: 86_400,
    jobs: [{ name: set, constraints: { ncpus: 1 } }],
  });
  await door.deliver(lasting("honest"));
  door.clock.advance(60);
  await door.deliver(lasting("deadly"));
  // A renewal is no new content.
  door.clock.advance(60);
  await door.deliver(lasting("honest"));

  cyclecloud.isDeadly = true;
  await die(door);
  await die(door);
  cyclecloud.isDeadly = false;
  const next = anotherProcess(door.composed);
  await handleSnapshot(next);
  const left = await describeCluster(next.app, DEMO);
  expect(leftOutIn(left)).toEqual(["deadly"]);
  expect(left.demandCounts).toEqual({ live: 2, empty: 0, lapsed: 0 });
  expect(left.plan).toMatchObject({ demands: 1 });
  expect(left.health.warnings).toMatchObject([
    expect.stringMatching(
      /^the app ended 2 times while it planned this cluster, .*: the request set whose content came last is left out until 2026-01-01T00:/,
    ),
  ]);
  expect(left.troubles).toContainEqual({
    kind: "left-out",
    count: 1,
    text: "request set deadly: left out of this plan; the app ended again and again while it planned this cluster, and what this set asks for came last: 1 job (0.1 MiB of memory). Every ten minutes a plan tries with all request sets. Send fewer jobs of different kinds, or set instanceMemoryMB higher. No nodes are created for it, and no node is stopped for want of demand meanwhile",
  });

  door.clock.advance(600);
  await handleSnapshot(next);
  const whole = await describeCluster(next.app, DEMO);
  expect(leftOutIn(whole)).toEqual([]);
  expect(whole.plan).toMatchObject({ demands: 2 });
  expect(whole.health.warnings).toEqual([]);
});
