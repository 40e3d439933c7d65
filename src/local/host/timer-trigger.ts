import type { TableClient } from "@azure/data-tables";
import { z } from "zod";
import { resolveSettings } from "./app-settings.ts";
import type { RegisteredFunction } from "./core.ts";
import { invokeFunction, type Outcome } from "./invocation.ts";
import { acquireLease, type Lease } from "./lease.ts";
import { parseSchedule, type Schedule } from "./ncrontab.ts";
import { triggerOf, type Runtime } from "./runtime.ts";
import { statusOf } from "./storage.ts";

/** Timer triggers. Only one instance at a time runs a timer, and its runs never overlap (platform.md section 3, "Timer semantics"). */

/** Duration of the lease that only one instance holds, and pause before another instance tries to take it, both in simulated time. */
const timerLeaseMs = 60_000;

type TimerOptions = {
  readonly schedule: Schedule;
  readonly runOnStartup: boolean;
  readonly useMonitor: boolean;
};

const timerTrigger = z.object({
  schedule: z.string(),
  runOnStartup: z.boolean().default(false),
  useMonitor: z.boolean().default(true),
});

/** Resolves a timer function's binding. Throws if its schedule is invalid. */
export function readTimer({ metadata }: RegisteredFunction, settings: Runtime["settings"]): TimerOptions {
  const { schedule, ...rest } = timerTrigger.parse(triggerOf(metadata).binding);
  return { ...rest, schedule: parseSchedule(resolveSettings(schedule, settings)) };
}

/** Runs a timer function whenever it is due and this host holds the timer's lease, until the host stops. Never throws. */
export async function runTimerTrigger(
  runtime: Runtime,
  registered: RegisteredFunction,
  table: TableClient,
): Promise<void> {
  const { name } = registered.metadata;
  const { stopping, clock, instanceId: owner } = runtime;
  const timer = readTimer(registered, runtime.settings);
  const warn = (message: string) =>
    runtime.log({ level: "warning", category: "host", message, functionName: name });
  while (!stopping.aborted) {
    let lease: Lease | undefined;
    try {
      lease = await acquireLease({ table, name, owner, clock, durationMs: timerLeaseMs });
      if (lease === undefined) await clock.sleep(timerLeaseMs, stopping);
      else await followSchedule(runtime, registered, table, timer, AbortSignal.any([stopping, lease.lost]));
      if (lease?.lost.aborted === true) warn(`timer ${name}: another instance took over`);
    } catch (error) {
      warn(`timer ${name}: ${String(error)}`);
      await clock.sleep(timerLeaseMs, stopping);
    } finally {
      await lease?.release();
    }
  }
}

/** Runs the timer until `end` aborts. Waits for a run that is in progress. */
async function followSchedule(
  runtime: Runtime,
  registered: RegisteredFunction,
  table: TableClient,
  { schedule, runOnStartup, useMonitor }: TimerOptions,
  end: AbortSignal,
): Promise<void> {
  const { clock } = runtime;
  const { name } = registered.metadata;
  const remembers = useMonitor && !isSubMinute(schedule, clock.now());
  const stored = remembers ? await readStatus(table, name) : undefined;
  const start = startSchedule(schedule, stored, clock.now());
  let { status } = start;
  let kind: "regular" | "past-due" | "startup" = start.isPastDue
    ? "past-due"
    : runOnStartup
      ? "startup"
      : "regular";
  if (remembers) await writeStatus(table, name, status);
  for (;;) {
    if (kind === "regular") await clock.sleep(status.next - clock.now(), end);
    if (end.aborted) return;
    const invokedAt = clock.now();
    const isPastDue = kind === "past-due";
    await invokeTimer(runtime, registered, { isPastDue, status: remembers ? status : undefined });
    status = finishRun(schedule, status, invokedAt, kind);
    kind = "regular";
    if (remembers) await writeStatus(table, name, status);
  }
}

/** Runs a timer function once. `status` is its schedule status. Undefined for a timer that stores none. */
export function invokeTimer(
  runtime: Runtime,
  registered: RegisteredFunction,
  { isPastDue, status }: { readonly isPastDue: boolean; readonly status: ScheduleStatus | undefined },
): Promise<Outcome> {
  const info = {
    Schedule: { AdjustForDST: true },
    ScheduleStatus:
      status === undefined
        ? null
        : {
            Last: isoOrNever(status.last),
            Next: isoOrNever(status.next),
            LastUpdated: isoOrNever(status.lastUpdated),
          },
    IsPastDue: isPastDue,
  };
  return invokeFunction(runtime, registered, { json: JSON.stringify(info) });
}

/** The first moment of .NET means "never". */
const isoOrNever = (at: number | undefined) =>
  at === undefined ? "0001-01-01T00:00:00+00:00" : new Date(at).toISOString();

// The state of a timer that is stored between starts, and its effect at a start (platform.md section 3, "Timer semantics").

/** Times in simulated milliseconds. `last` is undefined before the first run and after a change of the schedule. */
export type ScheduleStatus = {
  readonly last: number | undefined;
  readonly next: number;
  readonly lastUpdated: number;
};

type Start = { readonly status: ScheduleStatus; readonly isPastDue: boolean };

/** The state of a timer that starts at `now` with the stored state. If occurrences were missed, there is one late run for all of them. */
export function startSchedule(schedule: Schedule, stored: ScheduleStatus | undefined, now: number): Start {
  const newStatus = (next: number) => ({ last: undefined, next, lastUpdated: now });
  if (stored === undefined) return { status: newStatus(schedule.next(now)), isPastDue: false };
  const expected = schedule.next(stored.last ?? stored.lastUpdated);
  if (expected === stored.next) return { status: stored, isPastDue: now > stored.next };
  // The schedule was changed since the last run, so nothing was missed.
  return { status: newStatus(now > expected ? schedule.next(now) : expected), isPastDue: false };
}

/**
 * The state after a run that began at `invokedAt`. The next occurrence is the first after that time, so another run follows at once if this
 * one took too long. After a regular run that began early it is the first after the run's own occurrence, which would otherwise run twice.
 */
export function finishRun(
  schedule: Schedule,
  before: ScheduleStatus,
  invokedAt: number,
  kind: "regular" | "past-due" | "startup",
): ScheduleStatus {
  const at = kind === "regular" ? Math.max(invokedAt, before.next) : invokedAt;
  return { last: at, next: schedule.next(at), lastUpdated: at };
}

/** Whether a schedule occurs more than once a minute. Such a timer stores nothing and gets no schedule status. */
export function isSubMinute(schedule: Schedule, now: number): boolean {
  const first = schedule.next(now);
  return schedule.next(first) - first < 60_000;
}

const partitionKey = "timer";

/** The stored state. Undefined if there is none. */
export async function readStatus(table: TableClient, name: string): Promise<ScheduleStatus | undefined> {
  try {
    const row = await table.getEntity<{ last?: string; next: string; lastUpdated: string }>(
      partitionKey,
      name,
    );
    return {
      last: row.last === undefined ? undefined : Date.parse(row.last),
      next: Date.parse(row.next),
      lastUpdated: Date.parse(row.lastUpdated),
    };
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

export async function writeStatus(table: TableClient, name: string, status: ScheduleStatus): Promise<void> {
  const text = (at: number) => new Date(at).toISOString();
  await table.upsertEntity(
    {
      partitionKey,
      rowKey: name,
      next: text(status.next),
      lastUpdated: text(status.lastUpdated),
      ...(status.last === undefined ? {} : { last: text(status.last) }),
    },
    "Replace",
  );
}
