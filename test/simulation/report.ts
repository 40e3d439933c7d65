import type { Verdict } from "./judge.ts";
import type { Outcome } from "./simulate.ts";
import { simulate } from "./simulate.ts";
import type { Weather } from "./weather.ts";

/** The numbers of a verdict that must be 0. */
export const VIOLATIONS = [
  "overshoot",
  "stoppedNeeded",
  "shortAfterResync",
  "limitsExceeded",
  "looksTooSoon",
  "revisionsLost",
  "looksTooMany",
  "statusCallsTooMany",
  "oldIntents",
  "waited",
  "late",
  "wrongYes",
  "wrongUndrain",
  "stoppedOpen",
  "neverGranted",
] as const satisfies readonly (keyof Verdict)[];

/** What a run did that it must not, in words; empty: nothing. */
export function faultsOf({ seed, verdict, defects }: Outcome): readonly string[] {
  const counted = VIOLATIONS.flatMap((kind) =>
    verdict[kind] === 0 ? [] : [`seed ${seed}: ${kind} ${verdict[kind]}`],
  );
  return [...counted, ...defects.map((defect) => `seed ${seed}: ${defect}`)];
}

/** Lines of a trace that are shown before each violation. */
const LINES_BEFORE = 60;

/** Plays a seed once more and tells what led to each violation. The whole trace: SIM_SEED=<seed> with the test of this folder. */
export async function tellStory(seed: number, weather: Partial<Weather> = {}): Promise<string> {
  const lines: string[] = [];
  await simulate(seed, { weather, write: (line) => lines.push(line) });
  const shown = new Set([0]);
  lines.forEach((line, index) => {
    if (!line.includes("VIOLATION") && !line.includes("DEFECT")) return;
    for (let at = Math.max(0, index - LINES_BEFORE); at <= index; at += 1) shown.add(at);
  });
  return [...shown].map((index) => lines[index]).join("\n");
}

/** Plays seeds in turn; stops at the first that goes wrong and prints its story. */
export async function playSeeds(
  first: number,
  count: number,
  weather: Partial<Weather> = {},
): Promise<{ faults: readonly string[]; did: Did }> {
  const did: Did = {
    crashes: 0,
    nodesCreated: 0,
    nodesStarted: 0,
    readyNodesStopped: 0,
    simulatedSeconds: 0,
  };
  for (let seed = first; seed < first + count; seed += 1) {
    const outcome = await simulate(seed, { weather });
    did.crashes += outcome.crashes;
    did.nodesStarted += outcome.verdict.nodesStarted;
    did.nodesCreated += outcome.verdict.nodesCreated;
    did.readyNodesStopped += outcome.verdict.readyNodesStopped;
    did.simulatedSeconds += outcome.simulatedSeconds;
    const faults = faultsOf(outcome);
    if (faults.length === 0) continue;
    process.stdout.write(`${await tellStory(seed, weather)}\n`);
    return { faults, did };
  }
  return { faults: [], did };
}

/** How much happened in the runs, so that runs in which nothing happens are noticed. */
export interface Did {
  crashes: number;
  nodesCreated: number;
  nodesStarted: number;
  readyNodesStopped: number;
  simulatedSeconds: number;
}
