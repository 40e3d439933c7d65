import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { CutOffOptions } from "../bench/loop/cut-off.ts";
import { runCutOff } from "../bench/loop/cut-off.ts";
import type { FreezesOptions, FreezesResult, Moment } from "../bench/loop/freezes.ts";
import { runFreezes, runHeldCalls } from "../bench/loop/freezes.ts";
import type { Edit } from "../support/mutate.ts";
import { inCopy, PRODUCT } from "../support/product-copy.ts";

/**
 * CycleCloud and hosts stand still (SIGSTOP), in real processes and real time (docs/protocol.md, Standstills): the form of
 * standstill.deep.ts that no virtual clock has. Most of it waits, so all of it runs side by side.
 */

const checkout = fileURLToPath(new URL("../..", import.meta.url));

const RIGHT = {
  stoppedOpen: 0,
  stoppedBusy: 0,
  openedAfterStop: 0,
  mostBeyondDemand: 0,
  answered200AndNotStopped: 0,
  terminatedUnasked: 0,
  stopsBelowDemand: 0,
};

/** The product with one rule left out, a standstill that shows it, and what goes wrong then. */
interface Mutant {
  readonly name: string;
  readonly edit: Edit;
  readonly options: Omit<FreezesOptions, "checkout">;
  readonly shows: readonly (keyof FreezesResult)[];
}

const PROVES: Edit = {
  in: "isEarly",
  from: "return provesFrom !== undefined && began < provesFrom;",
  to: "return provesFrom !== undefined && began < 0;",
};
/** A stop is called lost after 110 s, a create unknown after 210 s at the latest. */
const LONG = { what: "cyclecloud", seconds: 270, lateSeconds: 20 } as const;

const MUTANTS: readonly Mutant[] = [
  {
    name: "a stop is called lost while CycleCloud stands still",
    edit: PROVES,
    options: { ...LONG, seed: 11, moments: ["terminate"] },
    shows: ["stoppedOpen", "stoppedBusy", "openedAfterStop"],
  },
  {
    name: "a create is called unknown while CycleCloud stands still",
    edit: PROVES,
    options: { ...LONG, seed: 12, moments: ["create"] },
    shows: ["mostBeyondDemand"],
  },
  {
    name: "a question that waited for minutes begins a stop",
    edit: {
      in: "isHeldUp",
      from: "if (behindMs === undefined) return false;",
      to: "if (behindMs === undefined || behindMs > 0) return false;",
    },
    options: { what: "host", seed: 13, seconds: 300, moments: ["question", "question"] },
    shows: ["stoppedOpen", "stoppedBusy"],
  },
];

const THREE: readonly Moment[] = ["terminate", "create", "commit"];
const FIVE: readonly Moment[] = [...THREE, "terminate", "create"];

describe.concurrent("jobs come and go on nodes that ask: no open node is stopped, none is made twice, all converges", () => {
  test.each<Omit<FreezesOptions, "checkout"> & { readonly name: string }>([
    { name: "CycleCloud, 5 x 140 s", what: "cyclecloud", seed: 1, seconds: 140, moments: FIVE },
    {
      name: "CycleCloud, 5 x 140 s, 12 s late",
      what: "cyclecloud",
      seed: 2,
      seconds: 140,
      moments: FIVE,
      lateSeconds: 12,
    },
    { name: "CycleCloud, 3 x 300 s", what: "cyclecloud", seed: 3, seconds: 300, moments: THREE },
    {
      name: "CycleCloud, 2 x 300 s, 12 s late",
      what: "cyclecloud",
      seed: 4,
      seconds: 300,
      moments: ["create", "terminate"],
      lateSeconds: 12,
    },
    { name: "a host, 5 x 140 s", what: "host", seed: 5, seconds: 140, moments: FIVE },
    {
      name: "a host, 5 x 140 s more",
      what: "host",
      seed: 6,
      seconds: 140,
      moments: ["commit", "terminate", "commit", "create", "commit"],
    },
    { name: "a host, 3 x 300 s", what: "host", seed: 7, seconds: 300, moments: THREE },
    { name: "a host, 2 x 300 s more", what: "host", seed: 8, seconds: 300, moments: ["commit", "terminate"] },
    {
      name: "a host with questions, 3 x 300 s",
      what: "host",
      seed: 9,
      seconds: 300,
      moments: ["question", "question", "question"],
    },
  ])("stands still: $name", async ({ name, ...options }) => {
    const { story, ...result } = await runFreezes({ checkout, ...options });
    process.stdout.write(`stands still: ${name}: ${JSON.stringify(result)}\n`);
    expect(result.stopped).toBeGreaterThan(0);
    expect(result, story).toMatchObject(RIGHT);
  });

  test("single creates and terminates are held for up to the limit of a call", async () => {
    const { story, ...result } = await runHeldCalls({ checkout, seed: 10, seconds: 900 });
    process.stdout.write(`single calls are held: ${JSON.stringify(result)}\n`);
    expect(result.held).toBeGreaterThan(10);
    expect(result, story).toMatchObject(RIGHT);
  });

  test.each<Omit<CutOffOptions, "checkout" | "seconds"> & { readonly name: string }>([
    { name: "cut off, idle nodes", how: "cut off", seed: 21, hasNewDemand: false },
    { name: "cut off, new demand", how: "cut off", seed: 22, hasNewDemand: true },
    { name: "old password, idle nodes", how: "old password", seed: 23, hasNewDemand: false },
    { name: "old password, new demand", how: "old password", seed: 24, hasNewDemand: true },
  ])("one of two hosts, for ten minutes: $name", async ({ name, ...options }) => {
    const { story, ...result } = await runCutOff({ checkout, seconds: 600, ...options });
    process.stdout.write(`one of two hosts: ${name}: ${JSON.stringify(result)}\n`);
    expect(result, story).toMatchObject(RIGHT);
    expect(result.longestGapMs, story).toBeLessThanOrEqual(120_000);
    if (!options.hasNewDemand) return expect(result.idleGoneMs, story).toBeDefined();
    expect(result.demandToCreateMs?.p50, story).toBeLessThan(3000);
    expect(result.demandToCreateMs?.max, story).toBeLessThan(40_000);
  });

  test.each(MUTANTS)("found out: $name", async ({ name, edit, options, shows }) => {
    const result = await inCopy([edit], PRODUCT, (checkout) => runFreezes({ checkout, ...options }));
    process.stdout.write(`found out: ${name}: ${JSON.stringify({ ...result, story: undefined })}\n`);
    expect(
      shows.some((figure) => Number(result[figure]) > 0),
      result.story,
    ).toBe(true);
  });
});
