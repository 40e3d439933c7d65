import { setTimeout as pause } from "node:timers/promises";
import { openRandomStream } from "../../../src/local/workload/random.ts";
import { clusterOf } from "./clusters.ts";
import { putSet, sendSet, until } from "./doors.ts";
import type { Figures } from "./figures.ts";
import type { Parts } from "./parts.ts";
import { startParts } from "./parts.ts";
import { startReaders } from "./readers.ts";
import { spreadOf } from "./spread.ts";

export interface MainPathOptions {
  readonly checkout: string;
  /** Of each way in. */
  readonly tries: number;
  /** The least time between two tries; up to 3 s more are drawn. */
  readonly gapSeconds: number;
  readonly seed: number;
  /** People who look at the page meanwhile. */
  readonly readers: number;
}

/** How long a try took, in real milliseconds from its beginning; undefined: did not come within {@link PATIENCE_MS}. */
interface Try {
  readonly durableMs: number | undefined;
  readonly createdMs: number | undefined;
}

const SET = "main-path";
const PATIENCE_MS = 60_000;
const MOST_JITTER_MS = 3000;
/** Tries that are not counted: code is compiled, connections are made. */
const WARM_UPS = 2;
const DAY_SECONDS = 86_400;

/**
 * One new node at a time is asked for in an idle system, by PUT and through the queue in turn: how long until the demand is durable, and
 * until CycleCloud has the create request (the simulator's own time).
 */
export async function measureMainPath(options: MainPathOptions): Promise<Figures> {
  const simulator = clusterOf(10_000, 4);
  const parts = await startParts({
    checkout: options.checkout,
    simulator,
    speed: 1,
    hosts: 1,
    proxies: false,
  });
  try {
    await warmUp(parts);
    const endReaders = startReaders(parts, options.readers);
    const random = openRandomStream(options.seed);
    const puts: Try[] = [];
    const queued: Try[] = [];
    let target = 1;
    for (let done = -WARM_UPS; done < options.tries; done += 1) {
      for (const [way, tries] of [
        [tryPut, puts],
        [tryQueue, queued],
      ] as const) {
        await pause(options.gapSeconds * 1000 + random.uniform() * MOST_JITTER_MS);
        target += 1;
        const one = await way(parts, target);
        if (done >= 0) tries.push(one);
      }
    }
    const reads = endReaders();
    return {
      ...(options.readers === 0
        ? {}
        : {
            "reads answered": reads.answered,
            "reads unchanged": reads.unchanged,
            "reads failed": reads.failed,
          }),
      "PUT: answered 202": spreadOf(present(puts.map(({ durableMs }) => durableMs))),
      "PUT: create received": spreadOf(present(puts.map(({ createdMs }) => createdMs))),
      "PUT: no create": count(puts, ({ createdMs }) => createdMs === undefined),
      "queue: sent to durable": spreadOf(present(queued.map(({ durableMs }) => durableMs))),
      "queue: durable to create": spreadOf(present(queued.map(fromDurable))),
      "queue: sent to create": spreadOf(present(queued.map(({ createdMs }) => createdMs))),
      "queue: no create": count(queued, ({ createdMs }) => createdMs === undefined),
    };
  } finally {
    await parts.close();
  }
}

/** A new record may rest, or wait for a tick, before its first create. */
async function warmUp(parts: Parts): Promise<void> {
  await putSet(parts, urlOf(parts), SET, content(1));
  await until("the first node is created", () => creates(parts) > 0, 120, 20);
}

async function tryPut(parts: Parts, target: number): Promise<Try> {
  const before = creates(parts);
  const begun = Date.now();
  const { status } = await putSet(parts, urlOf(parts), SET, content(target));
  const durableMs = status === 202 ? Date.now() - begun : undefined;
  return { durableMs, createdMs: await createdAfter(parts, before, begun) };
}

async function tryQueue(parts: Parts, target: number): Promise<Try> {
  const before = creates(parts);
  const heard = parts.lines.length;
  const begun = Date.now();
  await sendSet(parts, SET, content(target));
  const createdMs = await createdAfter(parts, before, begun);
  // The host logs a message as soon as its demand is durable; a pipe brings the line here.
  await pause(100);
  const durable = parts.lines
    .slice(heard)
    .find(({ event, set, outcome }) => event === "demand" && set === SET && outcome === "accepted");
  return { durableMs: durable === undefined ? undefined : durable.heardAt - begun, createdMs };
}

/** The simulator's clock is the real one at speed 1. */
async function createdAfter(parts: Parts, before: number, begun: number): Promise<number | undefined> {
  const end = Date.now() + PATIENCE_MS;
  while (creates(parts) === before && Date.now() < end) await pause(2);
  const event = parts.simulator.events.filter(({ kind }) => kind === "create-accepted")[before];
  return event === undefined ? undefined : event.at - begun;
}

const content = (count: number) => ({
  revision: Date.now(),
  expirationInterval: DAY_SECONDS,
  nodearrays: [{ Name: "execute", TargetCount: count }],
});

const urlOf = (parts: Parts): string => parts.hosts[0]?.url ?? "";

const creates = ({ simulator }: Parts): number =>
  simulator.events.filter(({ kind }) => kind === "create-accepted").length;

function fromDurable({ durableMs, createdMs }: Try): number | undefined {
  if (durableMs === undefined || createdMs === undefined) return undefined;
  return Math.max(0, createdMs - durableMs);
}

const present = (values: readonly (number | undefined)[]): readonly number[] =>
  values.filter((value) => value !== undefined);

const count = <T>(values: readonly T[], holds: (value: T) => boolean): number => values.filter(holds).length;
