import type { StopCall } from "../../decide/autostop/stop-survey.ts";
import type { ArrayName, ClusterName } from "../../domain/ids.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import type { Site } from "../ports/ports.ts";
import { PortError } from "../ports/port-error.ts";
import type { App } from "../process/lanes.ts";
import { answerAll, logFailure, askAgain, LATE } from "./grant-stops.ts";
import type { Waiting, StopWork, StopAnswer } from "./grant-stops.ts";
import { loadWhole } from "../record/load-record.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

export type { StopCall } from "../../decide/autostop/stop-survey.ts";

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
    if (isDue) log("tokens-refused", { ...withoutAbsent({ cluster }), number });
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

/**
 * A stop URL is made for an array that an observation has shown, and its node takes longer than this to call. Older arrays are read again.
 */
const ARRAYS_AGE_SECONDS: Seconds = 5;

/** Reads the arrays of a cluster. Arrays read a moment ago are reused, and simultaneous callers share the load. */
function createArrayReader(app: App): (cluster: ClusterName) => Promise<readonly ArrayName[] | undefined> {
  const { clock } = app.ports;
  const loading = new Map<ClusterName, Promise<readonly ArrayName[] | undefined>>();
  const read = new Map<ClusterName, { readonly arrays: readonly ArrayName[]; readonly at: Instant }>();
  const load = async (cluster: ClusterName): Promise<readonly ArrayName[] | undefined> => {
    try {
      const arrays = await loadArrays(app, cluster);
      if (arrays !== undefined) read.set(cluster, { arrays, at: clock.now() });
      return arrays;
    } finally {
      loading.delete(cluster);
    }
  };
  return (cluster) => {
    const last = read.get(cluster);
    const age = last === undefined ? undefined : secondsBetween(last.at, clock.now());
    if (last !== undefined && age !== undefined && age >= 0 && age < ARRAYS_AGE_SECONDS)
      return Promise.resolve(last.arrays);
    const shared = loading.get(cluster) ?? load(cluster);
    loading.set(cluster, shared);
    return shared;
  };
}

async function loadArrays(app: App, cluster: ClusterName): Promise<readonly ArrayName[] | undefined> {
  const { bodies } = await loadWhole(app, cluster);
  if (bodies.seen === undefined) return undefined;
  const arrays = new Set(bodies.seen.arrays.map(({ name }) => name));
  // The status lists every array, unless it is incomplete: the token of a known node is valid anyway.
  for (const { array, goneAt } of bodies.ledger.values()) if (goneAt === undefined) arrays.add(array);
  return [...arrays];
}
