import type { TableClient } from "@azure/data-tables";
import { z } from "zod";
import type { RegisteredFunction } from "./core.ts";
import { invokeFunction, type Outcome } from "./invocation.ts";
import { acquireLease, type Lease } from "./lease.ts";
import { triggerOf, type Runtime } from "./runtime.ts";
import { statusOf } from "./storage.ts";

/** Timer triggers. Only one instance at a time runs a timer, and its runs never overlap (platform.md section 3, "Timer semantics"). */

/** Duration of the lease that only one instance holds, and pause before another instance tries to take it, both in simulated time. */
const timerLeaseMs = 60_000;

/** The only schedule of the app, and the only one that is served here: each full minute. */
const timerTrigger = z.object({ schedule: z.literal("0 * * * * *") });
const minuteMs = 60_000;
const fullMinuteAfter = (time: number): number => (Math.floor(time / minuteMs) + 1) * minuteMs;

/** Throws if a timer function has a schedule that is not served. */
export function checkTimer({ metadata }: RegisteredFunction): void {
  timerTrigger.parse(triggerOf(metadata).binding);
}

/** Runs a timer function whenever it is due and this host holds the timer's lease, until the host stops. Never throws. */
export async function runTimerTrigger(
  runtime: Runtime,
  registered: RegisteredFunction,
  table: TableClient,
): Promise<void> {
  const { name } = registered.metadata;
  const { stopping, clock, instanceId: owner } = runtime;
  const warn = (message: string) =>
    runtime.log({ level: "warning", category: "host", message, functionName: name });
  while (!stopping.aborted) {
    let lease: Lease | undefined;
    try {
      lease = await acquireLease({ table, name, owner, clock, durationMs: timerLeaseMs });
      if (lease === undefined) await clock.sleep(timerLeaseMs, stopping);
      else await runEachMinute(runtime, registered, table, AbortSignal.any([stopping, lease.lost]));
      if (lease?.lost.aborted === true) warn(`timer ${name}: another instance took over`);
    } catch (error) {
      warn(`timer ${name}: ${String(error)}`);
      await clock.sleep(timerLeaseMs, stopping);
    } finally {
      await lease?.release();
    }
  }
}

/**
 * Runs the timer until `end` aborts, and waits for a run that is in progress. A moment that was missed, as no host ran or a run took too
 * long, is made up for at once; several are one.
 */
async function runEachMinute(
  runtime: Runtime,
  registered: RegisteredFunction,
  table: TableClient,
  end: AbortSignal,
): Promise<void> {
  const { clock } = runtime;
  const { name } = registered.metadata;
  let next = (await readNext(table, name)) ?? fullMinuteAfter(clock.now());
  for (;;) {
    await writeNext(table, name, next);
    // A wait of Node may end a millisecond early, which is many of a fast clock.
    while (clock.now() < next && !end.aborted) await clock.sleep(next - clock.now(), end);
    if (end.aborted) return;
    const began = clock.now();
    await invokeTimer(runtime, registered);
    next = fullMinuteAfter(began);
  }
}

/** Runs a timer function once. It is not told about its schedule, which the app does not read. */
export function invokeTimer(runtime: Runtime, registered: RegisteredFunction): Promise<Outcome> {
  return invokeFunction(runtime, registered, { json: "{}" });
}

const partitionKey = "timer";

/** When the timer is due. Undefined if it has never run. */
async function readNext(table: TableClient, name: string): Promise<number | undefined> {
  try {
    return Date.parse((await table.getEntity<{ next: string }>(partitionKey, name)).next);
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

async function writeNext(table: TableClient, name: string, next: number): Promise<void> {
  await table.upsertEntity({ partitionKey, rowKey: name, next: new Date(next).toISOString() }, "Replace");
}
