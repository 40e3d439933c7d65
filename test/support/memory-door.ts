import "../scenarios/install-core.ts";
import { handleDemand } from "../../functions/demand.ts";
import { handleSnapshot } from "../../functions/snapshot.ts";
import type { ProcessFacts } from "../../src/app/process/lanes.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import type { Clock, Ports } from "../../src/app/ports/ports.ts";
import type { RejectedMessage } from "../../src/app/ports/demand-queue.ts";
import { createRecorder } from "../../src/app/demand/record-demand.ts";
import type { MemoryComposition } from "../../src/compose.ts";
import { composeInMemory } from "../../src/compose.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { instant } from "../../src/domain/units.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { oneArray } from "../scenarios/clusters.ts";

/** The queue function and the timer of one process, with store and queues in memory, before a simulated CycleCloud. */
export interface MemoryDoor {
  readonly composed: MemoryComposition;
  readonly clock: DoorClock;
  readonly events: readonly { readonly event: string; readonly [field: string]: unknown }[];
  /** Delivers a message once, as the host does. */
  readonly deliver: (message: unknown) => Promise<void>;
  readonly tick: () => Promise<void>;
  readonly rejected: () => Promise<readonly RejectedMessage[]>;
}

/** A clock that each sleep moves at once. A sleep of more than 10 s never ends, so that no deadline is reached by itself. */
export class DoorClock implements Clock {
  #now: number;

  constructor(origin: number) {
    this.#now = origin;
  }

  now = () => instant(this.#now);

  sleep = (milliseconds: number): Promise<void> => {
    if (milliseconds > LONGEST_SLEEP_MS) return new Promise(() => undefined);
    this.#now += Math.max(0, milliseconds);
    return Promise.resolve();
  };

  advance(seconds: number): void {
    this.#now += seconds * 1000;
  }
}

const LONGEST_SLEEP_MS = 10_000;
const ORIGIN = Date.UTC(2026, 0, 1);

/** The same store and queues, at the door of another process. */
export function anotherProcess(composed: MemoryComposition): MemoryComposition {
  const app = { ports: composed.app.ports, lanes: createLanes() };
  return { ...composed, app, recorder: createRecorder(app) };
}

/** Opens the functions of the cluster "demo". `faults` wraps the ports. */
export function openMemoryDoor(
  faults: (ports: Ports) => Ports = (ports) => ports,
  process: ProcessFacts = {},
): MemoryDoor {
  const clock = new DoorClock(ORIGIN);
  const simulator = new Simulator(oneArray("demo"), clock);
  const events: { readonly event: string; readonly [field: string]: unknown }[] = [];
  const inMemory = composeInMemory({
    cluster: "demo",
    clock,
    transport: { send: async (request) => simulator.request(request) },
    publicUrl: "http://autoscaler.invalid",
    autostopKeys: { current: "v", byId: new Map([["v", "tests need no secret"]]) },
    policy: DEFAULT_POLICY,
    log: (event, fields) => events.push({ event, ...fields }),
  });
  const app = { ports: faults(inMemory.app.ports), lanes: createLanes(process) };
  const composed = { ...inMemory, app, recorder: createRecorder(app) };
  let messages = 0;
  return {
    composed,
    clock,
    events,
    deliver(message) {
      const id = `message-${(messages += 1)}`;
      const triggerMetadata = { id, insertionTime: new Date(clock.now()) };
      return handleDemand(composed, message, { invocationId: id, triggerMetadata });
    },
    tick: () => handleSnapshot(composed),
    rejected: async () => (await app.ports.queue.rejected()).oldest,
  };
}
