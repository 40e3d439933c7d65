import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { Allocation, AllocationPolicy } from "../../src/domain/allocation.ts";
import { without } from "../property/features.ts";
import type { Case } from "../property/random-world.ts";
import { anyCase } from "../property/random-world.ts";
import { NOW } from "../property/small-shapes.ts";

/**
 * Digests of the plans of 200 random clusters. They stay the same unless a change of plans is intended. The test prints the numbers of the
 * clusters whose plans differ. `PLAN=17` prints the demand and the plan of one cluster, for comparison with an older commit. `PLAN=write`
 * writes the digests again after an intended change.
 */
const FILE = new URL("plans.json", import.meta.url);
const SEED = 17;
const CASES = 200;
const asked = process.env["PLAN"];

const common = { groupPrefix: "pg", groupFillSeconds: 600 };
const POLICIES: readonly AllocationPolicy[] = [
  { ...common, preference: "existing-first", among: "priority" },
  { ...common, preference: "existing-first", among: "cheapest" },
  { ...common, preference: "bucket-order", among: "priority" },
];

const cases = fc.sample(anyCase(without("names")), { seed: SEED, numRuns: CASES });

test("200 random clusters are planned as before", async () => {
  const digests = cases.map((one, at) => digestOf(textOf(plan(one, at))));
  if (asked === "write") await writeFile(FILE, `${JSON.stringify(digests, undefined, 1)}\n`);
  else if (asked !== undefined) show(Number(asked));
  const known = z.array(z.string()).parse(JSON.parse(await readFile(FILE, "utf8")));
  const different = known.flatMap((digest, at) => (digest === digests[at] ? [] : [at]));
  expect(different, "clusters that are planned differently; PLAN=<number> shows one").toEqual([]);
  expect(digests).toHaveLength(CASES);
});

function plan({ world, demands }: Case, at: number): Allocation {
  const policy = POLICIES[at % POLICIES.length];
  if (policy === undefined) throw new RangeError(`no policy for ${at}`);
  return allocate(world, demands, policy, NOW);
}

function textOf({ creates, starts, outcomes, groups, placedBy, orders, needed, loads }: Allocation): string {
  return JSON.stringify(
    { creates, starts, outcomes, groups, settledBy: placedBy, orders, needed, loads },
    (_, value: unknown) => (value instanceof Map || value instanceof Set ? [...value] : value),
    1,
  );
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

function show(at: number): void {
  const one = cases[at];
  if (one === undefined) throw new RangeError(`expected a number below ${CASES}, found ${asked}`);
  process.stdout.write(`${JSON.stringify(one.demands, undefined, 1)}\n${textOf(plan(one, at))}\n`);
}
