/** The stored state of a timer between starts, and its effect at a start (platform.md section 3, "Timer semantics"). */
import type { TableClient } from "@azure/data-tables";
import type { Schedule } from "./ncrontab.ts";
import { statusOf } from "./storage-error.ts";

/** Simulated milliseconds. `last` is `undefined` before the first run and after the schedule was changed. */
export type ScheduleStatus = {
  readonly last: number | undefined;
  readonly next: number;
  readonly lastUpdated: number;
};

export type Start = { readonly status: ScheduleStatus; readonly isPastDue: boolean };

/** The state of a timer that starts at `now`, having remembered `stored`: one late run if an occurrence was missed, however many were. */
export function startSchedule(schedule: Schedule, stored: ScheduleStatus | undefined, now: number): Start {
  const afresh = (next: number) => ({ last: undefined, next, lastUpdated: now });
  if (stored === undefined) return { status: afresh(schedule.next(now)), isPastDue: false };
  const expected = schedule.next(stored.last ?? stored.lastUpdated);
  if (expected === stored.next) return { status: stored, isPastDue: now > stored.next };
  // The schedule is not the one of the last run: nothing was missed.
  return { status: afresh(now > expected ? schedule.next(now) : expected), isPastDue: false };
}

/**
 * The state after a run that began at `invokedAt`. The next occurrence is counted from there, so that a run that took too long is followed
 * at once by one more. A regular run that began early is counted from its occurrence, or it would be due twice.
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

/** Whether a schedule fires more than once a minute. Such a timer stores nothing and gets no schedule status. */
export function isSubMinute(schedule: Schedule, now: number): boolean {
  const first = schedule.next(now);
  return schedule.next(first) - first < 60_000;
}

const partitionKey = "timer";

/** The stored state; `undefined` if there is none. */
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
