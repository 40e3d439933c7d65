import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { systemClock } from "../../src/adapters/system/clock.ts";
import { tableDocuments } from "../../src/adapters/tables/documents.ts";
import { openTable } from "../../src/adapters/tables/open-table.ts";
import { tableRecordStore } from "../../src/adapters/tables/record-store.ts";
import { documentDigest } from "../../src/domain/config-version.ts";
import { clusterName } from "../../src/domain/ids.ts";
import type { Mode } from "../../src/domain/mode.ts";
import type { LocalSystem } from "../../src/local/system.ts";
import { startSystem } from "../../src/local/system.ts";
import { AT_ONCE, oneArray, target } from "../scenarios/clusters.ts";
import { put, until } from "../scenarios/real.ts";

/** A configuration counts from its answer (docs/protocol.md, Configuration): host processes, HTTP and the storage emulator. */

const CLUSTER = clusterName("demo");
const HOSTS = 3;
/** One each real second, and two more at the end. */
const CHANGES = 50;
/** Of the app's clock. In real time there are 13 observations a minute, and few of them meet a change that matters. */
const SPEED = 3;
/** Real, like all times here. */
const PLANNED_WITHIN_MS = 10_000;
/** A plan that a change begins ends after the next change. */
const STATUS_MS = 1200;

const written = z.object({
  underWay: z.array(z.object({ effect: z.string(), nodes: z.number() })),
});

/** The time in which `observe` was in force: from its answer until `act` was sent. Positions are in the simulator's log. */
interface Observed {
  readonly from: number;
  /** How many nodes each create has that the answer names. */
  readonly named: readonly number[];
  /** The requests in the record, read after the answer, and the position at which they had been read. */
  readonly read: { readonly at: number; readonly ids: ReadonlySet<string> };
  readonly to: number;
}

/** Sends a change to one host after the other, by PUT twice and by PATCH twice. The others hold copies of what was before. */
async function change(system: LocalSystem, mode: Mode, turn: number): Promise<readonly number[]> {
  const isPut = turn % 4 < 2;
  // A document of its own each time: a plan under an earlier one is not under this one. To observe, nothing else changes.
  const idleTimeout = 300 + (mode === "act" ? turn : turn - 1);
  const response = await fetch(`${hostOf(system, turn)}/api/clusters/${CLUSTER}/config`, {
    method: isPut ? "PUT" : "PATCH",
    headers: { "x-functions-key": system.keys.host },
    body: JSON.stringify(isPut ? { mode, idleTimeout } : { set: { mode, idleTimeout } }),
  });
  const body: unknown = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(200);
  const { underWay } = written.parse(body);
  return underWay.flatMap(({ effect, nodes }) => (effect === "create" ? [nodes] : []));
}

const hostOf = ({ hosts, url }: LocalSystem, turn: number): string => hosts[turn % HOSTS]?.url ?? url;

/** Sends demand to the host after that. */
const pushTo = (system: LocalSystem, turn: number): Promise<void> =>
  put(system, target("demo", turn + 2), hostOf(system, turn + 1));

/** The cluster's record and document as they lie in storage. */
function storageOf({ connectionString }: LocalSystem) {
  const table = openTable({ kind: "connection-string", connectionString });
  const store = tableRecordStore(table, systemClock());
  const documents = tableDocuments(table);
  const record = async () => (await store.load(CLUSTER))?.record;
  return {
    record,
    /** Whether the last plan knows all demand, and was made under the stored configuration. */
    isPlanned: async (): Promise<boolean> => {
      const [last, document] = await Promise.all([record(), documents.read(CLUSTER)]);
      return (
        last !== undefined &&
        last.observedGeneration === last.generation &&
        last.plannedUnder === documentDigest(document?.text)
      );
    },
  };
}

type Log = LocalSystem["simulator"]["log"];

const createsIn = (log: Log, from: number, to?: number) =>
  log.slice(from, to).flatMap((event) => (event.kind === "create-accepted" ? [event] : []));

/** Creates that were accepted while `observe` was in force and had not been committed before: the answer and the record do not have them. */
function lateCreates(log: Log, { from, named, read, to }: Observed) {
  const left = [...named];
  const unnamed = createsIn(log, from, to).filter(({ asked }) => {
    const index = left.indexOf(asked);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
  const unknown = createsIn(log, read.at, to).filter(({ requestId = "" }) => !read.ids.has(requestId));
  return [...unnamed, ...unknown];
}

test("three hosts, observe and act in turn each second over HTTP while demand rises: no create that was not committed before is sent after observe was answered, and 10 s after the last change the cluster is planned", async () => {
  const system = await startSystem({
    simulator: oneArray("demo", {}, { timings: AT_ONCE }),
    speed: SPEED,
    hosts: HOSTS,
    statusDelayMs: STATUS_MS,
    onHostLine: () => undefined,
  });
  try {
    const { simulator } = system;
    const storage = storageOf(system);
    const observed: Observed[] = [];
    const took = { observe: 0, act: 0 };
    const makeChange = async (mode: Mode, turn: number) => {
      const began = Date.now();
      const named = await change(system, mode, turn);
      took[mode] = Math.max(took[mode], Date.now() - began);
      return named;
    };
    await put(system, target("demo", 1));
    await until("the first node is there", () => createsIn(simulator.log, 0).length > 0);

    const began = Date.now();
    for (let turn = 0; turn < CHANGES; turn += 2) {
      const named = await makeChange("observe", turn);
      const from = simulator.log.length;
      const ids = new Set((await storage.record())?.intents.map(({ id }): string => id));
      const read = { at: simulator.log.length, ids };
      await pushTo(system, turn);
      await pause(Math.max(0, began + (turn + 1) * 1000 - Date.now()));
      observed.push({ from, named, read, to: simulator.log.length });
      await makeChange("act", turn + 1);
      await pushTo(system, turn + 1);
      await pause(Math.max(0, began + (turn + 2) * 1000 - Date.now()));
    }
    await makeChange("observe", CHANGES);
    await makeChange("act", CHANGES + 1);
    const last = Date.now();
    await until("the cluster is planned", storage.isPlanned);
    const planned = Date.now() - last;
    await until("all nodes are asked for", () => added(simulator.log) === CHANGES + 1);

    const inObserve = observed.flatMap(({ from, to }) => createsIn(simulator.log, from, to));
    process.stdout.write(
      `${CHANGES} changes in ${last - began} ms: ${createsIn(simulator.log, 0).length} creates, ${inObserve.length} of them accepted while observe was in force; observe was answered within ${took.observe} ms, act within ${took.act} ms; planned ${planned} ms after the last change\n`,
    );
    expect(observed.flatMap((one) => lateCreates(simulator.log, one))).toEqual([]);
    expect(planned).toBeLessThan(PLANNED_WITHIN_MS);
  } finally {
    await system.close();
  }
});

const added = (log: Log): number => createsIn(log, 0).reduce((sum, create) => sum + create.added, 0);
