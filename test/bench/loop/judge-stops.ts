import type { CycleCloudEvent } from "./simulator-process.ts";

/** A question of a node, "may I stop?". Times are simulated, in milliseconds since 1970. */
export interface Question {
  readonly nodeId: string;
  readonly askedAt: number;
  /** Undefined: no answer in time. */
  readonly answeredAt?: number;
  readonly status?: number;
  /** What the answer says of taking work again; a 409 always means that. */
  readonly undrain?: boolean;
}

/** One value of the demand, in nodes. The next one is sent when this one is acknowledged, or its sender has given it up. */
export interface Pushed {
  readonly count: number;
  readonly sentAt: number;
  /** Undefined: not yet, or never. It may be in force all the same: it lies in front of a host that stands still, and is taken later. */
  readonly acknowledgedAt?: number;
}

/** What came of a storm. Every figure but the first four ought to be 0. */
export interface StopsJudged {
  readonly questions: number;
  readonly answered200: number;
  readonly terminated: number;
  /** Terminated while a question was open that was not answered 200: the answer came from a host that died, or was given up. */
  readonly terminatedWithout200AtThatMoment: number;
  /** Answered 200, and CycleCloud never got the request. */
  readonly answered200AndNotStopped: number;
  /** Terminated, and none of the node's questions was ever answered 200 although it went on asking. */
  readonly terminatedAndNeverTold: number;
  /** Terminated after the answer "stay" or "take work again" to the node's last question. */
  readonly terminatedAfterStay: number;
  /** Terminated although it never asked. */
  readonly terminatedUnasked: number;
  /** Stops that left fewer nodes than any demand that may have been in force since the node's question began. */
  readonly stopsBelowDemand: number;
  /** Nodes created beyond the highest demand of the last three minutes, and of the time for which CycleCloud may have held a request. */
  readonly mostBeyondDemand: number;
  /** The least that a stop left above what may have been in force at that moment; undefined: there was no stop. */
  readonly leastMargin: number | undefined;
  readonly lowestReady: number | undefined;
}

/** A create that was decided on may arrive so much later (docs/protocol.md, Creates). */
const CREATES_MAY_LAG_MS = 180_000;

/**
 * Judges by what CycleCloud was asked for. `events` are all events, `from`: when the storm began, `heldMs`: how long CycleCloud may have held
 * a request.
 */
export function judgeStops(
  events: readonly CycleCloudEvent[],
  questions: readonly Question[],
  pushes: readonly Pushed[],
  from: number,
  heldMs = 0,
): StopsJudged {
  const byNode = Map.groupBy(questions, ({ nodeId }) => nodeId);
  const alive = new Set<string>();
  const ready = new Set<string>();
  const terminated = new Map<string, number>();
  let [stopsBelowDemand, mostBeyondDemand] = [0, 0];
  let [leastMargin, lowestReady]: (number | undefined)[] = [undefined, undefined];
  for (const event of events) {
    if (event.kind === "node-created") {
      alive.add(event.nodeId);
      const most = highestDemand(pushes, event.at - CREATES_MAY_LAG_MS - heldMs, event.at);
      mostBeyondDemand = Math.max(mostBeyondDemand, alive.size - most);
    } else if (event.kind === "node-ready") {
      ready.add(event.nodeId);
    } else if (event.kind === "node-gone" || event.kind === "terminate-accepted") {
      const wasAlive = alive.delete(event.nodeId);
      ready.delete(event.nodeId);
      if (event.kind === "node-gone" || !wasAlive) continue;
      terminated.set(event.nodeId, event.at);
      const since = beganAsking(byNode.get(event.nodeId) ?? [], event.at);
      if (alive.size < lowestDemand(pushes, since, event.at)) stopsBelowDemand += 1;
      leastMargin = least(leastMargin, alive.size - lowestDemand(pushes, event.at, event.at));
      if (event.at >= from) lowestReady = least(lowestReady, ready.size);
    }
  }
  return {
    questions: questions.length,
    answered200: countNodes(byNode, (of) => of.some(isYes)),
    terminated: terminated.size,
    answered200AndNotStopped: countNodes(byNode, (of, id) => of.some(isYes) && !terminated.has(id)),
    ...judgeAnswers(byNode, terminated),
    stopsBelowDemand,
    mostBeyondDemand,
    leastMargin,
    lowestReady,
  };
}

function judgeAnswers(
  byNode: ReadonlyMap<string, readonly Question[]>,
  terminated: ReadonlyMap<string, number>,
) {
  const stops = [...terminated].map(([nodeId, at]) => {
    const all = byNode.get(nodeId) ?? [];
    const before = all.filter(({ askedAt }) => askedAt <= at);
    return { at, before, last: before.at(-1), later: all.filter(({ askedAt }) => askedAt > at) };
  });
  return {
    terminatedWithout200AtThatMoment: stops.filter(({ last }) => last !== undefined && !isYes(last)).length,
    terminatedAndNeverTold: stops.filter(
      ({ before, later }) => later.length > 0 && ![...before, ...later].some(isYes),
    ).length,
    terminatedAfterStay: stops.filter(({ last }) => last !== undefined && isStay(last)).length,
    terminatedUnasked: stops.filter(({ last }) => last === undefined).length,
  };
}

const isYes = ({ status }: Question): boolean => status === 200;
const isStay = ({ status, undrain }: Question): boolean =>
  status === 409 || (status !== 200 && undrain === true);

/** When the node's first question began that no "stay" ended before the stop at `at`. */
function beganAsking(questions: readonly Question[], at: number): number {
  const before = questions.filter(({ askedAt }) => askedAt <= at);
  const lastStay = before.findLastIndex(
    (question) => isStay(question) && question.answeredAt !== undefined && question.answeredAt <= at,
  );
  return before[lastStay + 1]?.askedAt ?? at;
}

/** The least that the demand may have been at some moment of a time. */
function lowestDemand(pushes: readonly Pushed[], from: number, to: number): number {
  return Math.min(...possible(pushes, from, to), Infinity);
}

function highestDemand(pushes: readonly Pushed[], from: number, to: number): number {
  return Math.max(...possible(pushes, from, to), 0);
}

/**
 * Each value that may have been in force in the time: from its sending, whether it was acknowledged or not, to the first acknowledgement of a
 * later one. After that its revision is too old to be taken.
 */
function possible(pushes: readonly Pushed[], from: number, to: number): readonly number[] {
  let endsAt = Infinity;
  const found: number[] = [];
  for (const { count, sentAt, acknowledgedAt = Infinity } of pushes.toReversed()) {
    if (sentAt <= to && endsAt >= from) found.push(count);
    endsAt = Math.min(endsAt, acknowledgedAt);
  }
  return found;
}

const least = (a: number | undefined, b: number): number => (a === undefined ? b : Math.min(a, b));

function countNodes(
  byNode: ReadonlyMap<string, readonly Question[]>,
  holds: (questions: readonly Question[], nodeId: string) => boolean,
): number {
  return [...byNode].filter(([nodeId, questions]) => holds(questions, nodeId)).length;
}
