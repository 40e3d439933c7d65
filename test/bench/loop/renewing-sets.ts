import type { SetContent } from "./doors.ts";
import { sendSet } from "./doors.ts";
import type { Parts } from "./parts.ts";

/** Sets that are each sent once a minute, at a moment of the minute that is drawn for each. */
export interface RenewingSets {
  readonly count: number;
  content(index: number, minute: number, now: number): SetContent;
}

/** What became of the messages. Times are real milliseconds. */
export interface Traffic {
  readonly sent: number;
  /** Sent, not durable yet. */
  readonly waiting: number;
  /** From "sent" to "durable", of each message since the last `forget`. */
  readonly waits: readonly number[];
  readonly failures: number;
}

const MINUTE_MS = 60_000;
const STEP_MS = 20;
const NAME = /^job-(\d+)$/;

/** Sends the sets, through the queue and for as long as it is not stopped, and follows each message until a host logs it as durable. */
export function renew(parts: Parts, sets: RenewingSets, uniform: () => number) {
  const due = Array.from({ length: sets.count }, () => Date.now() + uniform() * MINUTE_MS);
  const minutes = due.map(() => 0);
  /** Moments of messages that are not durable yet, by set. */
  const pending = due.map((): number[] => []);
  let sent = 0;
  let waiting = 0;
  let failures = 0;
  let waits: number[] = [];

  parts.onLine(({ event, set, outcome, heardAt }) => {
    const index = Number(NAME.exec(set ?? "")?.[1] ?? Number.NaN);
    if (event !== "demand" || Number.isNaN(index) || outcome === undefined) return;
    const sentAt = pending[index]?.shift();
    if (sentAt === undefined) return;
    waiting -= 1;
    waits.push(heardAt - sentAt);
  });

  const sendDue = () => {
    const now = Date.now();
    due.forEach((moment, index) => {
      if (moment > now) return;
      due[index] = moment + MINUTE_MS;
      const minute = minutes[index] ?? 0;
      minutes[index] = minute + 1;
      pending[index]?.push(now);
      sent += 1;
      waiting += 1;
      sendSet(parts, `job-${index}`, sets.content(index, minute, now)).catch(() => {
        pending[index]?.pop();
        waiting -= 1;
        failures += 1;
      });
    });
  };
  const timer = setInterval(sendDue, STEP_MS);
  return {
    traffic: (): Traffic => ({ sent, waiting, waits, failures }),
    /** From here on it is measured. */
    forget() {
      waits = [];
      sent = 0;
      failures = 0;
    },
    stop: () => clearInterval(timer),
  };
}
