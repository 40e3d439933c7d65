import type { RejectedMessage } from "./ports.ts";
import { PortError } from "./ports.ts";
import type { Instant } from "../domain/units.ts";
import { secondsBetween } from "../domain/units.ts";
import type { App } from "./app.ts";

/** How much lies in a queue. */
export interface Waiting {
  /** About how many messages. */
  readonly count: number;
  /** Of the oldest one; absent: there is none, or it is being handled. */
  readonly oldestAgeSeconds?: number;
}

export interface PutAsideQueues {
  /** `demand-poison`: what the host gave up on, until the timer deals with it. */
  readonly poison: Waiting;
  /** `demand-rejected`: what could not be taken in. */
  readonly rejected: Waiting;
  /** The oldest of those. */
  readonly oldestRejected: readonly RejectedMessage[];
}

/** The timer empties `demand-poison` each minute: what lies there for so long is not being dealt with. */
const POISON_STUCK_SECONDS = 300;

/** What waits in the two queues beside `demand`, with its age. Throws PortError. */
export async function describeQueues({ ports: { clock, queue } }: App): Promise<PutAsideQueues> {
  const [poison, { count, oldest }] = await Promise.all([queue.poison(), queue.rejected()]);
  const now = clock.now();
  const rejectedAt = oldest[0]?.rejectedAt;
  return {
    poison: { count: poison.count, ...ageOf(poison.oldestAt, now) },
    rejected: { count, ...ageOf(rejectedAt, now) },
    oldestRejected: oldest,
  };
}

/** The same, with no messages named and whatever storage does: undefined where it says nothing. */
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

function ageOf(at: Instant | undefined, now: Instant): Pick<Waiting, "oldestAgeSeconds"> {
  return at === undefined ? {} : { oldestAgeSeconds: Math.max(0, Math.round(secondsBetween(at, now))) };
}
