import * as fc from "fast-check";
import { play } from "./play.ts";
import type { OpenStore } from "./rig.ts";
import type { Played } from "./score.ts";
import type { Sequence, Step } from "./steps.ts";
import { sequences } from "./steps.ts";

/** The sequence of a seed: the same seed and length always give the same. Each third one names nodes. */
export function sequenceOf(seed: number, steps: number): Sequence {
  const [sequence] = fc.sample(sequences(steps, seed % 3 === 1), { seed, numRuns: 1 });
  if (sequence === undefined) throw new Error(`no sequence was drawn from seed ${seed}`);
  return sequence;
}

/** What became of several sequences. */
export interface PlayedSeeds {
  readonly differences: readonly string[];
  readonly compared: number;
  /** Of the compared plans, those that create nodes by name. */
  readonly named: number;
  readonly answers: number;
  readonly stops: number;
}

/** Plays the sequences of the seeds 1 to `count`, each on a store of its own. */
export async function playSeeds(
  count: number,
  steps: number,
  openNext: () => Promise<OpenStore>,
): Promise<PlayedSeeds> {
  const all: Played[] = [];
  for (let seed = 1; seed <= count; seed += 1)
    all.push(await play(sequenceOf(seed, steps), await openNext()));
  const sum = (amount: (one: Played) => number): number => all.reduce((total, one) => total + amount(one), 0);
  return {
    differences: all.flatMap(({ differences }) => differences),
    compared: sum(({ compared }) => compared),
    named: sum(({ namesMade }) => namesMade),
    answers: sum(({ answers }) => answers),
    stops: sum(({ stops }) => stops),
  };
}

/** A sequence in which app and model differ, shrunk to the steps that show it. */
export interface Shrunk {
  readonly sequence: Sequence;
  readonly difference: string;
}

/** Maximum number of sequences that are tried to shrink one: some seconds in memory. */
const MOST_TRIES = 400;

/**
 * Shrinks a sequence in which app and model differ. Leaves out steps while the rest still differs: halves first, then fewer and fewer, then
 * entries of messages. The difference may change on the way.
 */
export async function shrink(failing: Sequence, difference: string, openStore: OpenStore): Promise<Shrunk> {
  let best: Shrunk = { sequence: failing, difference };
  let tries = 0;
  const accept = async (steps: readonly Step[]): Promise<boolean> => {
    if (tries >= MOST_TRIES) return false;
    tries += 1;
    const sequence = { ...best.sequence, steps };
    const [found] = (await play(sequence, openStore)).differences;
    if (found !== undefined) best = { sequence, difference: found };
    return found !== undefined;
  };
  for (
    let size = Math.ceil(failing.steps.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < best.sequence.steps.length;) {
      const { steps } = best.sequence;
      const isDropped = await accept([...steps.slice(0, from), ...steps.slice(from + size)]);
      if (!isDropped) from += size;
    }
  }
  for (let index = 0; index < best.sequence.steps.length; index += 1) {
    for (let entry = 0; ;) {
      const { steps } = best.sequence;
      const step = steps[index];
      if (step?.kind !== "push" || entry >= step.entries.length) break;
      const fewer = { ...step, entries: step.entries.filter((_, position) => position !== entry) };
      if (!(await accept(steps.with(index, fewer)))) entry += 1;
    }
  }
  return best;
}
