import { tableRecordStore } from "../../src/adapters/tables/record-store.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import type { Clock, Site } from "../../src/app/ports/ports.ts";
import { createRecorder } from "../../src/app/demand/record-demand.ts";
import type { Composition } from "../../src/compose.ts";
import { composeInMemory } from "../../src/compose.ts";
import type { RequestSetUpdate } from "../../src/domain/demand.ts";
import { clusterName } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { instant } from "../../src/domain/units.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { readDemandMessage } from "../../src/wire/message/demand-message.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { oneArray } from "../scenarios/clusters.ts";
import type { MemoryTable } from "./memory-table.ts";
import { memoryTable } from "./memory-table.ts";
import type { App } from "../../src/app/process/lanes.ts";

export const DEMO = clusterName("demo");

/** The app of one process on a table in memory, before a simulated CycleCloud. */
export interface TableApp {
  readonly app: App;
  readonly site: Site;
  readonly composed: Composition;
  readonly simulator: Simulator;
  /** Records a message, as the queue function does. */
  readonly push: (message: Partial<DemandMessage>) => ReturnType<Composition["recorder"]["record"]>;
}

/** A clock that stands still except that each sleep moves it at once. */
export class SleepersClock {
  #now: number;

  constructor(origin: number) {
    this.#now = origin;
  }

  now = (): ReturnType<Clock["now"]> => instant(this.#now);

  sleep = async (milliseconds: number): Promise<void> => {
    this.#now += Math.max(0, milliseconds);
  };
}

export function appOnTable(
  clock: Clock,
  table: MemoryTable = memoryTable(clock),
  simulator: Simulator = new Simulator(oneArray("demo"), clock),
): TableApp {
  const inMemory = composeInMemory({
    cluster: "demo",
    clock,
    transport: { send: async (request) => simulator.request(request) },
    publicUrl: "http://autoscaler.invalid",
    autostopKeys: { current: "v", byId: new Map([["v", "tests need no secret"]]) },
    policy: DEFAULT_POLICY,
    log: () => undefined,
  });
  const app: App = {
    ports: { ...inMemory.app.ports, store: tableRecordStore(table, clock) },
    lanes: createLanes(),
  };
  const composed: Composition = { ...inMemory, app, recorder: createRecorder(app) };
  const site = app.ports.sites.get(DEMO);
  if (site === undefined) throw new Error("the composition has no cluster");
  return {
    app,
    site,
    composed,
    simulator,
    push: (message) => composed.recorder.record(readUpdate(message, clock)),
  };
}

function readUpdate(message: Partial<DemandMessage>, clock: Clock): RequestSetUpdate {
  const now = clock.now();
  const whole = { version: 1, cluster: "demo", ...message };
  const read = readDemandMessage(whole, {
    messageId: `message-${now}`,
    insertedAt: now,
    now,
    maxExpirationSeconds: 86_400,
  });
  if (read.kind !== "update") throw new Error(`the message was not read: ${JSON.stringify(read)}`);
  return read.update;
}
