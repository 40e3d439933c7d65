import fc from "fast-check";
import { expect, test } from "vitest";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { World } from "../../src/domain/world.ts";
import type { RankedDemand } from "../../src/domain/demand.ts";
import type { Reason } from "../../src/domain/reason.ts";
import { renderReason } from "../../src/domain/reason-text.ts";
import { instant } from "../../src/domain/units.ts";
import { PLAIN } from "./features.ts";
import { anyCase } from "./random-world.ts";
import { runsOf, TIMEOUT } from "./runs.ts";

const now = instant(1_763_636_400_000);
const policy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "existing-first",
  among: "priority",
} as const;
const runs = runsOf(20_251_122, { usual: 90 });

/** Buckets that a demand could have meant, by what it says of arrays and VM sizes alone. */
function meant({ buckets }: World, { demand }: RankedDemand): number {
  const chosen = (property: string): readonly unknown[] | undefined =>
    demand.kind === "job"
      ? demand.constraints.flatMap((one) =>
          one.kind === "property-choice" && one.property === property ? [one.choices] : [],
        )[0]
      : undefined;
  const arrays: readonly unknown[] | undefined = demand.kind === "job" ? chosen("nodearray") : [demand.array];
  const sizes: readonly unknown[] | undefined =
    demand.kind === "job" ? chosen("vm_size") : demand.machineTypes;
  return buckets.filter(
    ({ bucket }) => (arrays?.includes(bucket.array) ?? true) && (sizes?.includes(bucket.machineType) ?? true),
  ).length;
}

/** How many buckets a reason stands for. */
function counted(reason: Reason): number {
  if (reason.across !== undefined) return reason.across.sizes.reduce((sum, { count }) => sum + count, 0);
  return "bucket" in reason && reason.bucket !== undefined ? 1 : 0;
}

test(
  "what is not wholly placed has a reason for every bucket that it could have meant",
  () => {
    let judged = 0;
    fc.assert(
      fc.property(anyCase(PLAIN), ({ world, demands }) => {
        // Then that is the one reason for everything.
        if (world.closed !== undefined) return;
        for (const outcome of allocate(world, demands, policy, now).outcomes) {
          if (outcome.placed === outcome.asked) continue;
          const demand = demands.find(({ demand: one }) => one.id === outcome.id);
          if (demand === undefined) throw new Error(`nobody asked for ${outcome.id}`);
          // Nothing is made in place of a group that is waited for, wherever there is room.
          if (outcome.reasons.some(({ code }) => code === "group-filling")) continue;
          judged += 1;
          const total = outcome.reasons.reduce((sum, reason) => sum + counted(reason), 0);
          expect(total, outcome.reasons.map(renderReason).join("\n")).toBeGreaterThanOrEqual(
            meant(world, demand),
          );
        }
      }),
      runs,
    );
    expect(judged).toBeGreaterThan(150);
  },
  TIMEOUT,
);
