import type { RejectedMessage } from "../ports/demand-queue.ts";
import { PortError } from "../ports/port-error.ts";
import type { WaitingMessagesShown } from "../../wire/api/health-answers.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { App } from "../process/app.ts";

export interface PutAsideQueues {
  /** `demand-poison`: messages that the host gave up, until the timer handles them. */
  readonly poison: WaitingMessagesShown;
  /** `demand-rejected`: messages that could not be accepted. */
  readonly rejected: WaitingMessagesShown;
  /** The oldest of these. */
  readonly oldestRejected: readonly RejectedMessage[];
}

/** The timer empties `demand-poison` each minute. Messages older than this are not being handled. */
const POISON_STUCK_SECONDS: Seconds = 300;

/** The contents of the two queues beside `demand`, with their age. Throws PortError of the queue. */
export async function describeQueues({ ports: { clock, queue } }: App): Promise<PutAsideQueues> {
  const [poison, { count, oldest }] = await Promise.all([queue.poison(), queue.rejected()]);
  const now = clock.now();
  const rejectedAt = oldest[0]?.rejectedAt;
  return {
    poison: { count: poison.count, oldestAgeSeconds: ageOf(poison.oldestAt, now) },
    rejected: { count, oldestAgeSeconds: ageOf(rejectedAt, now) },
    oldestRejected: oldest,
  };
}

/** The same without naming messages. Never throws because of storage: undefined if it does not answer. */
export async function countQueues(
  app: App,
): Promise<(Pick<PutAsideQueues, "poison" | "rejected"> & { readonly isStuck: boolean }) | undefined> {
  try {
    const { poison, rejected } = await describeQueues(app);
    return { poison, rejected, isStuck: (poison.oldestAgeSeconds ?? 0) >= POISON_STUCK_SECONDS };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return undefined;
  }
}

function ageOf(at: Instant | undefined, now: Instant): Seconds | undefined {
  return at === undefined ? undefined : Math.max(0, Math.round(secondsBetween(at, now)));
}
