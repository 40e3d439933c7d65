import type { CycleCloudEvent } from "./simulator-process.ts";

/** From `at` on (simulated milliseconds since 1970) no more than `nodes` were ever wanted. */
export interface Wanted {
  readonly at: number;
  readonly nodes: number;
}

/** What came of a storm in which demand only rises. */
export interface CreatesJudged {
  /** Requests that CycleCloud accepted. */
  readonly creates: number;
  /** Of these, requests whose id had been accepted before. */
  readonly requestIdsAgain: number;
  /** At the end. */
  readonly wanted: number;
  readonly created: number;
  readonly terminated: number;
  /** The most nodes at any moment beyond what had been asked for by then. */
  readonly mostBeyondDemand: number;
  /** When the last node was created that was still wanted; undefined: too few were created. */
  readonly completeAt: number | undefined;
}

/** Judges by what CycleCloud was asked for. `wanted` is in order of time and rises. */
export function judgeCreates(events: readonly CycleCloudEvent[], wanted: readonly Wanted[]): CreatesJudged {
  const ids = new Set<string>();
  const alive = new Set<string>();
  let [creates, requestIdsAgain, created, terminated, mostBeyondDemand] = [0, 0, 0, 0, 0];
  let completeAt: number | undefined;
  const last = wanted.at(-1)?.nodes ?? 0;
  for (const event of events) {
    if (event.kind === "create-accepted") {
      creates += 1;
      if (event.requestId !== undefined && ids.has(event.requestId)) requestIdsAgain += 1;
      if (event.requestId !== undefined) ids.add(event.requestId);
    } else if (event.kind === "node-created") {
      created += 1;
      alive.add(event.nodeId);
      const now = wanted.findLast(({ at }) => at <= event.at)?.nodes ?? 0;
      mostBeyondDemand = Math.max(mostBeyondDemand, alive.size - now);
      if (alive.size === last) completeAt = event.at;
    } else if (event.kind === "terminate-accepted") {
      terminated += 1;
      alive.delete(event.nodeId);
    } else if (event.kind === "node-gone") {
      alive.delete(event.nodeId);
    }
  }
  return {
    creates,
    requestIdsAgain,
    wanted: last,
    created,
    terminated,
    mostBeyondDemand,
    completeAt,
  };
}
