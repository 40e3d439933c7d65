import type { Edit } from "../support/mutate.ts";
import { runInCopy } from "../support/product-copy.ts";
import type { CutOff } from "./cut-off-stage.ts";
import { playDemand, playIdle, playLeft } from "./cut-off-stage.ts";

/** One scene of hosts that are cut off. */
export interface Play extends CutOff {
  readonly scene: "put" | "queue" | "idle" | "left";
}

/** What must not be exceeded, with one of two hosts cut off, in seconds. `calls`: of that host in ten minutes. `kept`: idle nodes that were not stopped. */
export const BOUNDS = { wait: 40, gap: 120, calls: 12, kept: 0, recovered: 150 } as const;

/** The product with one rule of docs/protocol.md (Instances that are cut off) left out, and what shows it. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly shows: keyof typeof BOUNDS;
  readonly plays: readonly Play[];
}

/** Of this rule little shows in scenes: quick observations make up for it soon. The test of the rule finds it. */
export const TESTED: { readonly name: string; readonly edits: readonly Edit[]; readonly test: string } = {
  name: "a failed status raises the measured time although a later one was answered",
  edits: [{ in: "failsAlone", from: "lastGoodLookAt > beganAt(call);", to: "false;" }],
  test: "test/decide/pace/calls.test.ts",
};

const SEEDS = [1, 2, 3, 4, 5, 6];
const plays = (scene: Play["scene"], how: CutOff["how"]): readonly Play[] =>
  SEEDS.map((seed) => ({ scene, how, seed }));

/** The numbers of {@link BOUNDS} in one scene. */
export async function playWorst({ scene, ...how }: Play): Promise<Readonly<Record<string, number>>> {
  if (scene === "left") return { recovered: await playLeft(how) };
  if (scene === "idle") {
    const { stopped, gap } = await playIdle(how);
    return { kept: 6 - stopped, gap };
  }
  const { waits, gap, calls } = await playDemand(how, { by: scene });
  return { wait: waits.at(-1) ?? 0, gap, calls };
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: "an instance observes again at once although another has observed since",
    edits: [
      {
        in: "leavesObservation",
        from: "return isTried || isCutOff(",
        to: "return isTried || !isCutOff.name && isCutOff(",
      },
    ],
    shows: "calls",
    plays: plays("put", "hangs"),
  },
  {
    name: "an instance does not leave the next observation to another one first",
    edits: [{ in: "leavesObservation", from: "return isTried || isCutOff(", to: "return isCutOff(" }],
    shows: "wait",
    plays: plays("queue", "hangs"),
  },
  {
    name: "a due tick is not left to the others",
    edits: [
      {
        in: "leave",
        from: "return isTickOverdue(record, now) ? undefined",
        to: "return now > 0 ? undefined",
      },
    ],
    shows: "calls",
    plays: plays("put", "hangs"),
  },
  {
    name: "a tick that is left counts as made",
    edits: [
      {
        in: "leaveTick",
        from: "return comesSoon ? record : withWake(record, ticker,",
        to: "return beginTick(record, ticker, comesSoon ? now :",
      },
    ],
    shows: "gap",
    plays: plays("idle", "hangs"),
  },
  {
    name: "a tick is left for ever",
    edits: [{ in: "isTickOverdue", from: ">= LEFT_SECONDS;", to: ">= 1e6 * LEFT_SECONDS;" }],
    shows: "recovered",
    plays: plays("left", "refused"),
  },
  {
    name: "what comes back is not handed on again",
    edits: [
      {
        in: "wait",
        from: "(ours || !isWakePending(record, now, until));",
        to: "!isWakePending(record, now, until);",
      },
    ],
    shows: "wait",
    plays: plays("queue", "hangs"),
  },
  {
    name: "a follow-up that is handed on counts as demand",
    edits: [
      {
        in: "wait",
        from: 'isFollowUpDue(record, now) ? "follow-up" : "demand"',
        to: 'isFollowUpDue(record, now) ? "demand" : "demand"',
      },
    ],
    shows: "gap",
    plays: plays("idle", "hangs"),
  },
  {
    name: "an observation that hangs is not handed on",
    edits: [{ in: "handOnLate", from: "if (!ended.aborted) await askOther(run, at);", to: "" }],
    shows: "wait",
    plays: plays("queue", "hangs"),
  },
  {
    name: "an observation that failed is not handed on",
    edits: [{ in: "observeOrHandOn", from: "await askOther(run, begun.at);", to: "return observed;" }],
    shows: "gap",
    plays: plays("idle", "refused"),
  },
  {
    name: "an instance marks nodes whose stop it cannot send",
    edits: [
      {
        in: "markStops",
        from: "isUnsendable(app, site, record, now) ?",
        to: "isUnsendable(app, site, record, now) && now < 0 ?",
      },
    ],
    shows: "kept",
    plays: plays("idle", "hangs"),
  },
  {
    name: "a refused password stops all",
    edits: [
      {
        in: "credentialName",
        from: "if (password === undefined) return name;",
        to: "if (password !== name) return name;",
      },
    ],
    shows: "wait",
    plays: plays("put", "old password"),
  },
];

/** Plays the scenes of a mutant in a copy of the product. Returns the worst of its number. */
export async function playMutant({ edits, shows, plays: given }: Mutant): Promise<number> {
  const args = [shows, String(BOUNDS[shows]), JSON.stringify(given)];
  const { stdout } = await runInCopy(
    edits,
    ["scenarios", "simulation", "support"],
    "test/scenarios/run-cut-off.ts",
    args,
  );
  return Number(stdout);
}
