import type { HostPool } from "./host-pool.ts";
import type { RunningJobs } from "./running-jobs.ts";
import type { SchedulerOptions } from "./scheduler-events.ts";
import type { Waiting, WaitingQueue } from "./waiting-queue.ts";
import { expectedRunMs } from "./workload-job.ts";

const DEFAULT_PATIENCE_MS = 30 * 60_000;
const DEFAULT_DEPTH = 500;

/** EASY backfilling: which jobs may start before the head of the queue, which has no room yet. */
export class Backfill {
  readonly #options: Pick<SchedulerOptions, "maxSlots" | "patienceMs" | "backfillDepth">;
  #head: { readonly sequence: number; readonly since: number } | undefined;

  constructor(options: Pick<SchedulerOptions, "maxSlots" | "patienceMs" | "backfillDepth">) {
    this.#options = options;
  }

  /** The jobs behind `head` that may start now. The caller starts each one before it takes the next. */
  *choose(
    head: Waiting,
    {
      pool,
      queue,
      running,
    }: {
      readonly pool: Pick<HostPool, "freeSlots" | "openSlots">;
      readonly queue: WaitingQueue;
      readonly running: RunningJobs;
    },
    now: number,
  ): Generator<Waiting> {
    const { maxSlots, backfillDepth = DEFAULT_DEPTH } = this.#options;
    const isPatient = this.#isPatient(head, now);
    if (pool.freeSlots === 0) return;
    const reservation = reserveForHead({
      now,
      wanted: head.job.processors,
      freeSlots: pool.freeSlots,
      comingSlots: isPatient ? Math.max(0, maxSlots - pool.openSlots) : 0,
      running: running.byExpectedEnd(),
    });
    if (reservation.kind === "out-of-reach") return;
    let spare = reservation.spareSlots;
    let considered = 0;
    for (const waiting of queue) {
      if (waiting === head) continue;
      if (pool.freeSlots === 0 || considered === backfillDepth) return;
      considered += 1;
      const { processors } = waiting.job;
      if (processors > pool.freeSlots) continue;
      const endsInTime = now + expectedRunMs(waiting.job) <= reservation.shadowAt;
      if (!endsInTime && processors > spare) continue;
      if (!endsInTime) spare -= processors;
      yield waiting;
    }
  }

  /** When the head of the queue stops counting on nodes that do not exist yet. Infinity if it has, or if there is no head. */
  patientUntil(now: number): number {
    if (this.#head === undefined) return Infinity;
    const until = this.#head.since + (this.#options.patienceMs ?? DEFAULT_PATIENCE_MS);
    return until > now ? until : Infinity;
  }

  /** Whether this job has been the head for so short a time that it still counts on nodes that do not exist yet. */
  #isPatient({ sequence }: Waiting, now: number): boolean {
    if (this.#head?.sequence !== sequence) this.#head = { sequence, since: now };
    return now - this.#head.since < (this.#options.patienceMs ?? DEFAULT_PATIENCE_MS);
  }
}

/**
 * The reservation of EASY backfilling (D. Lifka, "The ANL/IBM SP scheduling system", 1995): the latest start of the job at the head of the
 * queue if the running jobs end as expected, and the number of slots that it leaves free then.
 */
type HeadReservation =
  | {
      readonly kind: "reserved";
      /** Jobs that end by then do not delay the head. */
      readonly shadowAt: number;
      /** Slots that the head leaves free at that time. */
      readonly spareSlots: number;
    }
  /** All existing slots together are too few. */
  | { readonly kind: "out-of-reach" };

/**
 * Reserves `wanted` slots. `comingSlots` are slots of hosts that do not exist yet; they count as available at once, because the autoscaler
 * already creates them. `running` is in the order of expected ends. A job that runs longer than expected counts as ending now.
 */
export function reserveForHead(input: {
  readonly now: number;
  readonly wanted: number;
  readonly freeSlots: number;
  readonly comingSlots: number;
  readonly running: Iterable<{ readonly expectedEnd: number; readonly openSlots: number }>;
}): HeadReservation {
  let slots = input.freeSlots + input.comingSlots;
  if (slots >= input.wanted)
    return { kind: "reserved", shadowAt: input.now, spareSlots: slots - input.wanted };
  for (const run of input.running) {
    slots += run.openSlots;
    if (slots >= input.wanted)
      return {
        kind: "reserved",
        shadowAt: Math.max(input.now, run.expectedEnd),
        spareSlots: slots - input.wanted,
      };
  }
  return { kind: "out-of-reach" };
}
