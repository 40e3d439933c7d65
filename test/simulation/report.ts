import type { Verdict } from "./verdict.ts";
import type { Outcome, SimulateOptions } from "./simulate.ts";
import { simulate } from "./simulate.ts";

/** The kind and weather that are played, beside the seed. */
export type Played = Pick<SimulateOptions, "kind" | "weather">;

/** The numbers of a verdict that must be 0. */
export const VIOLATIONS = [
  "overshoot",
  "stoppedNeeded",
  "shortAfterResync",
  "limitsExceeded",
  "looksTooSoon",
  "revisionsLost",
  "statusCallsTooMany",
  "oldIntents",
  "waited",
  "late",
  "wrongYes",
  "wrongUndrain",
  "endedBooting",
  "wrongSend",
  "stoppedOpen",
  "unbraked",
  "neverGranted",
  "besideStopped",
  "keptTooLong",
  "endedInVain",
  "leftBehind",
] as const satisfies readonly (keyof Verdict)[];

/** The violations and defects of a run, in words. Empty if there are none. */
export function faultsOf({ seed, kind, verdict, defects }: Outcome): readonly string[] {
  const which = `seed ${kind === undefined ? "" : `${kind}:`}${seed}`;
  const counted = VIOLATIONS.flatMap((name) =>
    verdict[name] === 0 ? [] : [`${which}: ${name} ${verdict[name]}`],
  );
  return [...counted, ...defects.map((defect) => `${which}: ${defect}`)];
}

/** Lines of the trace that are shown before each violation. */
const LINES_BEFORE = 60;

/**
 * Plays a seed once more and returns the lines of the trace that lead to each violation. For the whole trace: SEED=<seed> with the test of
 * this folder.
 */
export async function tellStory(seed: number, played: Played = {}): Promise<string> {
  const lines: string[] = [];
  await simulate(seed, { ...played, write: (line) => lines.push(line) });
  const shown = new Set([0]);
  lines.forEach((line, index) => {
    if (!line.includes("VIOLATION") && !line.includes("DEFECT")) return;
    for (let at = Math.max(0, index - LINES_BEFORE); at <= index; at += 1) shown.add(at);
  });
  return [...shown].map((index) => lines[index]).join("\n");
}

/** Plays seeds one after the other. Stops at the first run with a fault and prints its story. */
export async function playSeeds(
  first: number,
  count: number,
  played: Played = {},
): Promise<{ faults: readonly string[]; did: Did }> {
  const did = nothingDone();
  for (let seed = first; seed < first + count; seed += 1) {
    const faults = await playSeed(seed, played, did);
    if (faults.length > 0) return { faults, did };
  }
  return { faults: [], did };
}

/** What is counted over several runs, so that a test notices runs in which nothing happens. */
const COUNTED = [
  "nodesCreated",
  "nodesStarted",
  "readyNodesStopped",
  "keptEnded",
  "endedForQuota",
  "unreachedStopped",
  "unheardStopped",
  "heldTooLong",
  "standstills",
  "freezes",
  "queued",
  "cutOff",
  "refused",
] as const satisfies readonly (keyof Verdict)[];

/** What happened in the runs. */
export type Did = Record<(typeof COUNTED)[number] | "runs" | "crashes" | "simulatedSeconds", number>;

/** Plays one seed, adds its counts to `did`, and prints its story if it has a fault. */
export async function playSeed(seed: number, played: Played, did: Did): Promise<readonly string[]> {
  const outcome = await simulate(seed, played);
  did.runs += 1;
  did.crashes += outcome.crashes;
  did.simulatedSeconds += outcome.simulatedSeconds;
  for (const name of COUNTED) did[name] += outcome.verdict[name];
  const faults = faultsOf(outcome);
  if (faults.length > 0) process.stdout.write(`${await tellStory(seed, played)}\n`);
  return faults;
}

export function nothingDone(): Did {
  return {
    runs: 0,
    crashes: 0,
    simulatedSeconds: 0,
    nodesCreated: 0,
    nodesStarted: 0,
    readyNodesStopped: 0,
    keptEnded: 0,
    endedForQuota: 0,
    unreachedStopped: 0,
    unheardStopped: 0,
    heldTooLong: 0,
    standstills: 0,
    freezes: 0,
    queued: 0,
    cutOff: 0,
    refused: 0,
  };
}
