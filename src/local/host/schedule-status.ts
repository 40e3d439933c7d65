/** The state of a timer that is stored between starts, and its effect at a start (platform.md section 3, "Timer semantics"). */
import type { TableClient } from "@azure/data-tables";
import type { Schedule } from "./ncrontab.ts";
import { statusOf } from "./storage-error.ts";

/** Times in simulated milliseconds. `last` is undefined before the first run and after a change of the schedule. */
export type ScheduleStatus = {
  readonly last: number | undefined;
  readonly next: number;
  readonly lastUpdated: number;
};

export type Start = { readonly status: ScheduleStatus; readonly isPastDue: boolean };

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
