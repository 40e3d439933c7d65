import type { RejectedMessage } from "../ports/demand-queue.ts";
import { PortError } from "../ports/port-error.ts";
import type { WaitingMessagesShown, RejectedMessageShown } from "../../wire/api/health-answers.ts";
import type { Bytes, Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween, isoTime } from "../../domain/units.ts";
import type { App } from "../process/lanes.ts";
import type { Problem, RejectedJob, SetDemand } from "../../domain/demand.ts";
import { moreRejected } from "../../domain/more-rejected.ts";
import { showText } from "../../domain/shown.ts";
import type { RequestSetShown } from "../../wire/api/cluster-demand.ts";
import type { ProblemShown, RejectedJobShown } from "../../wire/api/parts.ts";
import { firstBytes } from "./pages.ts";

interface PutAsideQueues {
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

/** Limits of what is shown about one job or message. */
const MOST_PROBLEM_BYTES: Bytes = 4000;

/** The first problems, and one more with the number of the others. */
export function firstProblems(problems: readonly Problem[]): readonly ProblemShown[] {
  const first = firstBytes(problems, MOST_PROBLEM_BYTES).map(problemShown);
  const left = problems.length - first.length;
  if (left === 0) return first;
  const rest = { path: "", found: `${left} more problems`, expected: "an input without problems" };
  return [...first, problemShown(rest)];
}

/** Characters of a part that is longer as it is shown: a code is up to eight characters for one. */
const MOST_SHOWN = 250;

function shown(text: string): string {
  const whole = showText(text);
  return whole.length > Math.max(MOST_SHOWN, text.length) ? `${whole.slice(0, MOST_SHOWN)}…` : whole;
}

/** A problem of an input, as a member of an answer. It is a text for people, which quotes the input. */
export function problemShown({ path, found, expected, didYouMean }: Problem): ProblemShown {
  return {
    path: shown(path),
    found: shown(found),
    expected: shown(expected),
    didYouMean: didYouMean === undefined ? undefined : shown(didYouMean),
  };
}

/** A message that was put aside, as a member of an answer. */
export function rejectedMessageShown(message: RejectedMessage): RejectedMessageShown {
  const { messageId, rejectedAt, cluster, set, problems, text } = message;
  return {
    messageId,
    rejectedAt: isoTime(rejectedAt),
    cluster,
    set,
    problems: problems.map(problemShown),
    text,
  };
}

/** A job that could not be read, with all its problems, as a member of an answer. */
export function rejectedJobShown({ name, problems }: RejectedJob): RejectedJobShown {
  return { name, problems: problems.map(problemShown) };
}

/** The jobs of a set that could not be read, as members of an answer: up to a number of bytes, with the number of the others. */
export function rejectedShown(
  demand: SetDemand | undefined,
  most: number,
): Pick<RequestSetShown, "rejectedJobs" | "moreRejectedJobs"> {
  const all = demand?.rejectedJobs ?? [];
  const short = all.map(({ name, problems }) => ({ name, problems: firstProblems(problems) }));
  const rejectedJobs = firstBytes(short, most);
  const { moreRejectedJobs = 0 } = moreRejected(demand);
  const more = moreRejectedJobs + all.length - rejectedJobs.length;
  return { rejectedJobs, moreRejectedJobs: more === 0 ? undefined : more };
}
