import type { Edit } from "../support/mutate.ts";
import { runInCopy } from "../support/product-copy.ts";
import type { Standstill } from "./standstill-stage.ts";

/** The product with one rule of docs/protocol.md (Standstills) left out, and standstills that show it. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly shows: "open" | "twice" | "unseen" | "boot" | "told" | "needed";
  readonly standstills: readonly Standstill[];
}

const PHASES = [0, 12, 24, 36, 48];
const lasting = (seconds: number, more: Partial<Standstill> = {}): readonly Standstill[] =>
  PHASES.map((phase) => ({ seconds, phase, ...more }));

export const MUTANTS: readonly Mutant[] = [
  {
    name: "a stop is lost by an early observation",
    edits: [
      { in: "settleStopsByObservation", from: "snapshot.early !== true && snapshot.at", to: "snapshot.at" },
    ],
    shows: "open",
    standstills: lasting(140),
  },
  {
    name: "a create is unknown by an early question",
    edits: [
      {
        in: "isCertain",
        from: "if (isEarly(record, askedAt)) return false;",
        to: "if (isEarly(record, askedAt) && askedAt < 0) return false;",
      },
    ],
    shows: "twice",
    standstills: lasting(200),
  },
  {
    name: "the moment ends before the next call where limits are short",
    edits: [
      {
        in: "provesAfter",
        from: "Math.max(callLimitSeconds, BETWEEN_CALLS_SECONDS)",
        to: "Math.min(callLimitSeconds, BETWEEN_CALLS_SECONDS)",
      },
    ],
    shows: "open",
    standstills: lasting(100, { callLimitSeconds: 10, lateSeconds: 40 }),
  },
  {
    name: "a boot took too long by an early observation",
    edits: [
      {
        in: "isOfNoUse",
        from: "return early !== true && until !== undefined",
        to: "return (early !== true || now > 0) && until !== undefined",
      },
    ],
    shows: "boot",
    standstills: lasting(250),
  },
  {
    name: "an accepted stop had no effect in 120 s by an early observation",
    edits: [
      {
        in: "isStopFresh",
        from: "return early === true || secondsBetween(",
        to: "return (early === true && at < 0) || secondsBetween(",
      },
    ],
    shows: "told",
    standstills: lasting(200, { lateSeconds: 40 }),
  },
  {
    name: "an accepted stop had no effect by the clock, without an observation",
    edits: [
      {
        in: "standingOf",
        from: "isStopFresh(known, snapshot)) return",
        to: "isStopFresh(known, { ...snapshot, at: now })) return",
      },
    ],
    shows: "needed",
    standstills: lasting(140),
  },
  {
    name: "a change hangs alone if any later status was answered",
    edits: [
      {
        in: "hangsAlone",
        from: ">= began + 1000 * seconds && lastGoodLookAt <= call.at",
        to: ">= began && seconds > 0",
      },
    ],
    shows: "open",
    standstills: [7, 8, 9].map((phase) => ({
      seconds: 84,
      answersSeconds: 5,
      phase,
      lateSeconds: 40,
      demandSeconds: 114,
    })),
  },
  {
    name: "an observation after a gap proves as any other",
    edits: [{ in: "noteUnseen", from: "return isSeen ? record", to: "return isSeen || !isSeen ? record" }],
    shows: "unseen",
    standstills: lasting(230, { lateSeconds: 40 }),
  },
  {
    name: "a node opens 180 s after its question, whatever it is told",
    edits: [
      {
        in: "isOver",
        from: "held ? LONGEST_MS : OVER_MS",
        to: "OVER_MS",
      },
    ],
    shows: "open",
    standstills: lasting(300),
  },
  {
    name: "an answer does not say that a stop is under way",
    edits: [
      {
        in: "responseOf",
        from: "answer.underWay === true ? { stopUnderWay: true } : {}",
        to: "answer.underWay === true ? {} : {}",
      },
    ],
    shows: "open",
    standstills: lasting(300),
  },
];

/** Plays the standstills of a mutant in a copy of the product. Returns what went wrong. */
export async function playMutant({ edits, shows, standstills }: Mutant): Promise<number> {
  const folders = ["scenarios", "simulation", "support"];
  const args = [shows, JSON.stringify(standstills)];
  const { stdout } = await runInCopy(edits, folders, "test/scenarios/run-standstill.ts", args);
  return Number(stdout);
}
