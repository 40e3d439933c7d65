import { setTimeout as pause } from "node:timers/promises";
import { openRandomStream } from "../../../src/local/workload/random.ts";
import { countBodyRows, countLeft, plantGarbage } from "./body-rows.ts";
import { clusterOf } from "./clusters.ts";
import { sendSet, stateOf, until } from "./doors.ts";
import type { Figures } from "./figures.ts";
import { watchMinutes } from "./minutes.ts";
import type { Parts } from "./parts.ts";
import { startParts } from "./parts.ts";
import { renew } from "./renewing-sets.ts";

export interface RenewalOptions {
  readonly checkout: string;
  readonly sets: number;
  readonly nodes: number;
  readonly minutes: number;
  /** Each set is sent once in this time. */
  readonly intervalSeconds: number;
  /** Each set asks for another job each time, instead of the same. */
  readonly changing: boolean;
  readonly seed: number;
}

const EXPIRATION_SECONDS = 300;
const DAY_SECONDS = 86_400;
const FILL_SECONDS = 900;
/** A changing set has one job of one core. Nodes have this many cores, so that the jobs never need more nodes than there are. */
const CORES = 16;
const GARBAGE_ROWS = 300;
const REST_MS = 5000;

/**
 * Sets are renewed through the queue in each interval, with all their nodes running: what a message waits, what the state page takes, how often
 * it is planned, and what storage, the host's processor and its memory have to bear. One host, speed 1.
 */
export async function measureRenewals(options: RenewalOptions): Promise<Figures> {
  const { nodes, sets, changing } = options;
  const random = openRandomStream(options.seed);
  const parts = await startParts({
    checkout: options.checkout,
    simulator: clusterOf(nodes + 1000, CORES),
    speed: 1,
    hosts: 1,
    proxies: true,
  });
  try {
    const floor = () =>
      sendSet(parts, "floor", {
        revision: Date.now(),
        expirationInterval: DAY_SECONDS,
        nodearrays: [{ Name: "execute", TargetCount: nodes }],
      });
    // Jobs that change leave their nodes for a moment; a target keeps them.
    if (changing) await floor();
    const begun = Date.now();
    const content = changing ? changingJob : () => wholeNodes(nodes / sets);
    const { intervalSeconds } = options;
    const renewing = renew(
      parts,
      { count: sets, intervalSeconds, content: withTimes(content) },
      random.uniform,
    );
    try {
      await until("all nodes are seen Ready", () => isFilled(parts, nodes), FILL_SECONDS, 1000);
      // Each set has been sent once, and what that moved has come to rest.
      await pause(Math.max(0, begun + intervalSeconds * 1000 + REST_MS - Date.now()));
      const filledSeconds = (Date.now() - begun) / 1000;
      await pause(untilWindowOf(options.minutes));
      const planted = await plantGarbage(parts, GARBAGE_ROWS);
      const before = await countBodyRows(parts);
      renewing.forget();
      const measured = await watchMinutes(parts, renewing.traffic, options.minutes, random.uniform);
      const after = await countBodyRows(parts);
      const left = await countLeft(parts, planted);
      return {
        "seconds until all was running": filledSeconds,
        ...measured,
        "body rows at the beginning": before.rows - planted.length,
        "body rows at the end": after.rows - left,
        "of which nothing names": after.unnamed - left,
        [`left of ${GARBAGE_ROWS} rows of two hours ago`]: left,
      };
    } finally {
      renewing.stop();
    }
  } finally {
    await parts.close();
  }
}

/** The app begins to collect garbage at each full tenth minute. */
const COLLECTIONS_MS = 600_000;
/** So long before the end it must begin, to be seen. */
const COLLECTION_TAKES_MS = 60_000;

/** How long to wait so that garbage is collected while it is measured; 0 for what is too short for that. */
function untilWindowOf(minutes: number): number {
  const latest = minutes * 60_000 - COLLECTION_TAKES_MS;
  const next = COLLECTIONS_MS - (Date.now() % COLLECTIONS_MS);
  return latest <= 0 ? 0 : Math.max(0, next - latest);
}

type Content = (index: number, round: number) => readonly object[];

const withTimes = (jobs: Content) => (index: number, round: number, now: number) => ({
  revision: now,
  expirationInterval: EXPIRATION_SECONDS,
  jobs: jobs(index, round),
});

/** The same each time: a mere renewal. */
const wholeNodes = (count: number): readonly object[] => [
  { name: "job", constraints: [{ ncpus: CORES }], iterations: Math.max(1, Math.round(count)) },
];

const changingJob: Content = (index, round) => [
  { name: `job-${index}-${round}`, constraints: [{ ncpus: 1 }], iterations: 1 },
];

async function isFilled(parts: Parts, nodes: number): Promise<boolean> {
  const ready = parts.simulator.events.filter(({ kind }) => kind === "node-ready").length;
  if (ready < nodes) return false;
  const state = await stateOf(parts, parts.hosts[0]?.url ?? "");
  return (state?.nodes.byPhase["ready"] ?? 0) >= nodes;
}
