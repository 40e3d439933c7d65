import type { ArrayName, ClusterName } from "../../domain/ids.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { Site } from "../ports/site.ts";
import { PortError } from "../ports/port-error.ts";
import type { App } from "../process/app.ts";
import type { StopCall } from "../../decide/autostop/stop-verdict.ts";
import { answerAll, logFailure } from "./grant-stops.ts";
import type { Waiting, StopWork } from "./grant-stops.ts";
import { askAgain, LATE } from "./stop-answer.ts";
import type { StopAnswer } from "./stop-answer.ts";
import { createArrayReader } from "./stop-arrays.ts";

export type { StopCall } from "../../decide/autostop/stop-verdict.ts";

/**
 * Answers callbacks. Those that wait for the same cluster are judged together and share their loads and saves. Later ones wait neither for
 * the stops of earlier ones to be sent nor for an observation.
 */
export interface StopDesk {
  /** Answers within 15 s of the call's arrival. Throws PortError if the record can be neither read nor saved. */
  ask(site: Site, call: StopCall): Promise<StopAnswer>;
  /**
   * The array of a stop URL. `verify` tries it on the node arrays of the last observation. Undefined if it matches none of them. "unknown":
   * there was no observation yet. Arrays read in the last 5 s are not read again, and simultaneous callers share the load, so wrong tokens
   * cost no storage. Within 15 s of `arrivedAt`; "late": storage has not answered by then.
   */
  arrayOf(
    site: Site,
    arrivedAt: Instant,
    verify: (arrays: readonly ArrayName[]) => ArrayName | undefined,
  ): Promise<{ readonly array: ArrayName } | "unknown" | "late" | undefined>;
  /**
   * Counts a call whose token is not valid. `cluster`: absent if the app has none of that name. The log has the number, at most once a minute
   * for a cluster: a line for each call would be a way to fill the log.
   */
  noteRefused(cluster?: ClusterName): void;
  /** Resolves once the stops and observations that answers have begun so far have ended. */
  ended(): Promise<void>;
}

/** Questions that wait in this process. */
interface Desk extends StopWork {
  readonly waiting: Map<ClusterName, Waiting[]>;
  /** Clusters whose questions are being answered. */
  readonly serving: Set<ClusterName>;
}

/** Maximum time from a question to its answer, whatever is still in progress. The node gives up after 20 s. */
const ANSWER_SECONDS: Seconds = 15;

/** Creates the desk of this process. */
export function createStopDesk(app: App): StopDesk {
  const desk: Desk = {
    app,
    waiting: new Map(),
    serving: new Set(),
    observedAt: new Map(),
    underWay: new Set(),
  };
  const { waiting, serving } = desk;
  const arraysOf = createArrayReader(app);
  return {
    async ended() {
      while (desk.underWay.size > 0) await Promise.all(desk.underWay);
    },
    async arrayOf({ cluster }, arrivedAt, verify) {
      const arrays = await inTime<readonly ArrayName[] | "late" | undefined>(
        app,
        arrivedAt,
        arraysOf(cluster),
        "late",
      );
      if (arrays === undefined) return "unknown";
      if (arrays === "late") return arrays;
      const array = verify(arrays);
      return array === undefined ? undefined : { array };
    },
    noteRefused: countRefused(app),
    ask(site, call) {
      const answer = Promise.withResolvers<StopAnswer>();
      const others = waiting.get(site.cluster);
      if (others === undefined) waiting.set(site.cluster, [{ call, answer }]);
      else others.push({ call, answer });
      if (!serving.has(site.cluster)) {
        serving.add(site.cluster);
        void serveAll(desk, site);
      }
      return inTime(app, call.arrivedAt, answer.promise, LATE);
    },
  };
}

/** The shortest time between two lines about refused tokens of a cluster. */
const REFUSED_EACH_SECONDS: Seconds = 60;

function countRefused({ ports: { clock, log } }: App): StopDesk["noteRefused"] {
  // Only names of the app's own clusters, and the absent one.
  const counts = new Map<ClusterName | undefined, { readonly loggedAt: Instant; readonly number: number }>();
  return (cluster) => {
    const now = clock.now();
    const { loggedAt, number: before } = counts.get(cluster) ?? { loggedAt: undefined, number: 0 };
    const number = before + 1;
    const isDue = loggedAt === undefined || now >= plusSeconds(loggedAt, REFUSED_EACH_SECONDS);
    if (isDue) log("tokens-refused", { ...(cluster === undefined ? {} : { cluster }), number });
    counts.set(cluster, isDue ? { loggedAt: now, number: 0 } : { loggedAt, number });
  };
}

/** The result of the work, or `late` if it takes longer than an answer may take. */
async function inTime<T>(app: App, arrivedAt: Instant, work: Promise<T>, late: T): Promise<T> {
  const { clock } = app.ports;
  const ended = new AbortController();
  const left = Math.max(0, plusSeconds(arrivedAt, ANSWER_SECONDS) - clock.now());
  try {
    return await Promise.race([work, clock.sleep(left, ended.signal).then(() => late)]);
  } finally {
    ended.abort("over");
  }
}

async function serveAll(desk: Desk, site: Site): Promise<void> {
  // Callers in one turn of the event loop are judged together.
  await Promise.resolve();
  for (let batch = take(desk, site.cluster); batch.length > 0; batch = take(desk, site.cluster)) {
    try {
      await answerAll(desk, site, batch);
    } catch (error) {
      if (!(error instanceof PortError)) logFailure(desk.app, site, "autostop-failed", error);
      for (const { answer } of batch)
        if (error instanceof PortError) answer.reject(error);
        else answer.resolve(askAgain("the demand could not be weighed; ask again"));
    }
  }
  // In the same turn of the event loop as the last check of `waiting`: the next caller starts a new round.
  desk.serving.delete(site.cluster);
}

function take({ waiting }: Desk, cluster: ClusterName): readonly Waiting[] {
  const batch = waiting.get(cluster) ?? [];
  waiting.delete(cluster);
  return batch;
}
