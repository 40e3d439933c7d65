import { expect, test } from "vitest";
import type { Push } from "../scenarios/messages-stage.ts";
import {
  playFrozenHost,
  playLateCreate,
  playLateQuestions,
  playLateStop,
  playPush,
} from "../scenarios/messages-stage.ts";
import { playOmissions } from "../scenarios/left-out.ts";
import { MUTANTS } from "../scenarios/mutants-messages.ts";
import { runTestInCopy } from "../support/product-copy.ts";

/** What waits where a host stands still for 60 to 600 s, and statuses that leave out nodes for hours (docs/protocol.md); a mutant for each rule. */

const PHASES = [0, 7, 19, 33, 48];
const LENGTHS = [60, 110, 140, 200, 250, 300, 400, 600];
const LONG_MS = 1_800_000;

/** Plays each length in each phase. Returns those that did not end as wanted. */
async function others<R>(
  play: (seconds: number, phase: number) => Promise<R>,
  wanted: R,
  lengths: readonly number[] = LENGTHS,
): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const seconds of lengths)
    for (const phase of PHASES) {
      const result = await play(seconds, phase);
      if (JSON.stringify(result) !== JSON.stringify(wanted)) found.push({ seconds, phase, result });
    }
  return found;
}

const twice = [
  [5, 20],
  [50, 20],
] as const;
const repeats = { nodes: 30, before: 20, waits: twice, after: [[40, 30]], revision: "last-change" } as const;

test.each<{ readonly name: string; readonly push: Partial<Push> }>([
  { name: "by PUT", push: {} },
  { name: "by queue", push: { byQueue: true } },
  { name: "a clock that is ten minutes behind", push: { clockSeconds: -600 } },
  { name: "two pure renewals", push: repeats },
])(
  "a message lay in front of the only host, $name: no node is stopped and made again",
  async ({ push }) => {
    const play = async (seconds: number, phase: number) => {
      const { stopped, madeAgain } = await playPush({ seconds, phase, ...push });
      return { stopped, madeAgain };
    };
    // Up to two minutes are no outage, so that the message counts at once.
    const outages = LENGTHS.filter((seconds) => seconds > 120);
    expect(await others(play, { stopped: 0, madeAgain: 0 }, outages)).toEqual([]);
  },
  LONG_MS,
);

test(
  "a host stands still between its look at the clock and the write, and one while nodes ask",
  async () => {
    expect(await others((seconds, phase) => playLateStop({ seconds, phase }), { open: 0 })).toEqual([]);
    expect(await others((seconds, phase) => playLateCreate({ seconds, phase }), 25)).toEqual([]);
    expect(await others((seconds, phase) => playFrozenHost({ seconds, phase }), { busy: 0 })).toEqual([]);
  },
  LONG_MS,
);

test(
  "questions wait in front of a host for 60 to 600 s: no node that has opened is stopped",
  async () => {
    for (const waiting of [[0], [1], [0, 1], [0, 1, 2]])
      for (const setForwardSeconds of [undefined, 0, -300]) {
        const known = setForwardSeconds === undefined ? {} : { setForwardSeconds };
        const play = async (seconds: number) =>
          (await playLateQuestions({ seconds, waiting, ...known })).open;
        expect(await others(play, 0)).toEqual([]);
      }
  },
  LONG_MS,
);

test(
  "each status leaves out 2 % of 400 nodes for two hours, with four seeds: none is made twice",
  async () => {
    for (const seed of [11, 12, 13, 14])
      expect(await playOmissions({ seed, nodes: 400, share: 0.02, hours: 2 })).toEqual({
        tooMany: 0,
        toldAndNotStopped: 0,
      });
  },
  LONG_MS,
);

test.each(MUTANTS)(
  "found out: $name",
  async ({ edits, file, test: proof }) => {
    const failed = await runTestInCopy(edits, file);
    expect(failed.filter((title) => title.includes(proof))).not.toEqual([]);
  },
  LONG_MS,
);
