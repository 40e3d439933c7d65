import fc from "fast-check";
import { expect, test } from "vitest";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { Allocation } from "../../src/domain/allocation.ts";
import type { World } from "../../src/domain/world.ts";
import { canonicalText } from "../../src/domain/digest.ts";
import type { RankedDemand } from "../../src/domain/demand.ts";
import { instant } from "../../src/domain/units.ts";
import { PLAIN } from "./features.ts";
import { judgeRemedies, policyOf, raised } from "./followed-remedy.ts";
import { anyCase } from "./random-world.ts";
import { IS_DEEP, runsOf, TIMEOUT } from "./runs.ts";
import { scarceWorlds } from "./scarce-world.ts";
import { buildSmall } from "./small-world.ts";

/** What is said to place all of a demand does: the limits raised by exactly that, and the allocator asked again. */

const now = instant(1_763_636_400_000);
const policy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "existing-first",
  among: "priority",
} as const;
const runs = runsOf(20_251_121);

const isWhole = (answer: Allocation, at: number): boolean => {
  const outcome = answer.outcomes[at];
  return outcome !== undefined && outcome.placed === outcome.asked;
};

function outcomeAt(world: World, demands: readonly RankedDemand[], at: number) {
  const answer = allocate(world, demands, policy, now);
  return { answer, outcome: answer.outcomes[at] };
}

/** Each demand of the drawn ones alone in its world. */
const anyLonely = anyCase(PLAIN).chain(({ world, demands }) =>
  fc.record({ world: fc.constant(world), demand: fc.constantFrom(...demands) }),
);

test(
  "a demand that is alone gets all it asks for with exactly that raise",
  () => {
    let judged = 0;
    fc.assert(
      fc.property(anyLonely, ({ world, demand }) => {
        const { outcome } = outcomeAt(world, [demand], 0);
        if (outcome?.binding?.kind !== "raise") return;
        judged += 1;
        expect(isWhole(allocate(raised(world, outcome.binding.raises), [demand], policy, now), 0)).toBe(true);
      }),
      { ...runs, numRuns: runs.numRuns * 4 },
    );
    expect(judged).toBeGreaterThan(15);
  },
  TIMEOUT,
);

test(
  "no limit of it could be raised by one less",
  () => {
    let judged = 0;
    fc.assert(
      fc.property(anyLonely, ({ world, demand }) => {
        const { outcome } = outcomeAt(world, [demand], 0);
        if (outcome?.binding?.kind !== "raise") return;
        const { raises } = outcome.binding;
        for (const [at, one] of raises.entries()) {
          judged += 1;
          const less = raises.with(at, { ...one, more: one.more - 1 });
          expect(isWhole(allocate(raised(world, less), [demand], policy, now), 0)).toBe(false);
        }
      }),
      { ...runs, numRuns: runs.numRuns * 4 },
    );
    expect(judged).toBeGreaterThan(15);
  },
  TIMEOUT,
);

/** Bound tasks take their hosts before anybody's turn: they would be "ahead", whatever their rank. */
function unbound({ set, demand }: RankedDemand): RankedDemand {
  return { set, demand: demand.kind === "job" ? { ...demand, placed: [] } : demand };
}

/** The result of these demands without any others, as text. */
function share(world: World, demands: readonly RankedDemand[]): string {
  const { creates, needed, loads, outcomes } = allocate(world, demands, policy, now);
  return canonicalText([
    creates,
    [...needed],
    loads,
    outcomes.map(({ placed, pending }) => [placed, pending]),
  ]);
}

test(
  "among others, too, as long as those of higher rank stay where they are",
  () => {
    let judged = 0;
    fc.assert(
      fc.property(anyCase(PLAIN), ({ world, demands: drawn }) => {
        const demands = drawn.map(unbound);
        const first = allocate(world, demands, policy, now);
        // The demands were packed again, so that others of lower rank may come first.
        if (first.placedBy !== "rank") return;
        const at = first.outcomes.findIndex(({ placed, asked }) => placed < asked);
        const outcome = first.outcomes[at];
        if (outcome?.binding?.kind !== "raise") return;
        const second = allocate(raised(world, outcome.binding.raises), demands, policy, now);
        const ahead = new Set(first.outcomes.slice(0, at).map(({ set, id }) => `${set}/${id}`));
        const earlier = demands.filter(({ set, demand }) => ahead.has(`${set}/${demand.id}`));
        if (share(world, earlier) !== share(raised(world, outcome.binding.raises), earlier)) return;
        judged += 1;
        expect(isWhole(second, at)).toBe(true);
      }),
      { ...runs, numRuns: runs.numRuns * 4 },
    );
    expect(judged).toBeGreaterThan(15);
  },
  TIMEOUT,
);

/** The same in each run. */
const SCARCE = scarceWorlds(20_261_129, IS_DEEP ? 2000 : 100).map(buildSmall);

const WAYS = [
  policyOf("priority", "existing-first"),
  policyOf("cheapest", "existing-first"),
  policyOf("priority", "bucket-order"),
];

test.each(WAYS)(
  "$preference, $among: all unmet jobs of small worlds: who does what a remedy says gets all of the job, less of nothing before it, and by no less",
  (terms) => {
    const judged = { true: 0, atMost: 0, noRaise: 0, untold: 0, faults: [] };
    // In `npm test` each world is judged in one of the ways.
    const every = IS_DEEP ? 1 : WAYS.length;
    SCARCE.forEach((one, at) => {
      if (at % every === WAYS.indexOf(terms) % every) judgeRemedies(judged, one, terms, at);
    });
    const share = judged.atMost / (judged.true + judged.atMost);
    process.stdout.write(
      `${terms.preference}, ${terms.among}: of ${judged.true + judged.atMost} remedies ${(100 * share).toFixed(1)} % say "at most"\n`,
    );
    expect(judged.faults).toEqual([]);
    expect(judged.untold).toBe(0);
    expect(share).toBeLessThan(0.1);
    expect(judged.true).toBeGreaterThan((2 * SCARCE.length) / every);
  },
  TIMEOUT,
);
