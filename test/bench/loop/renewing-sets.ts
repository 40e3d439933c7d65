import type { SetContent } from "./doors.ts";
import { sendSet } from "./doors.ts";
import type { Parts } from "./parts.ts";

/** Sets that are each sent once in an interval, at a moment of it that is drawn for each. */
export interface RenewingSets {
  readonly count: number;
  readonly intervalSeconds: number;
  /** `round`: how often the set was sent before. */
  content(index: number, round: number, now: number): SetContent;
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

const STEP_MS = 20;
const NAME = /^job-(\d+)$/;

/** Sends the sets, through the queue and for as long as it is not stopped, and follows each message until a host logs it as durable. */
export function renew(parts: Parts, sets: RenewingSets, uniform: () => number) {
  const intervalMs = sets.intervalSeconds * 1000;
  const due = Array.from({ length: sets.count }, () => Date.now() + uniform() * intervalMs);
  const rounds = due.map(() => 0);
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
      due[index] = moment + intervalMs;
      const round = rounds[index] ?? 0;
      rounds[index] = round + 1;
      pending[index]?.push(now);
      sent += 1;
      waiting += 1;
      sendSet(parts, `job-${index}`, sets.content(index, round, now)).catch(() => {
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
