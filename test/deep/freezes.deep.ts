import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { FreezesOptions, Moment } from "../bench/loop/freezes.ts";
import { runFreezes, runHeldCalls } from "../bench/loop/freezes.ts";
import type { Edit } from "../support/product-copy.ts";
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

const FORGETFUL: Edit = {
  file: "src/domain/observation.ts",
  find: "return provesFrom !== undefined && began < provesFrom;",
  put: "return provesFrom !== undefined && began < 0;",
};

const THREE: readonly Moment[] = ["terminate", "create", "commit"];
const FIVE: readonly Moment[] = [...THREE, "terminate", "create"];

describe.concurrent("nodes ask and jobs come and go, and no node is stopped that is open, none is made twice, all converges", () => {
  test.each<Omit<FreezesOptions, "checkout"> & { readonly name: string }>([
    {
      name: "CycleCloud stands still for 140 s, five times",
      what: "cyclecloud",
      seed: 1,
      seconds: 140,
      moments: FIVE,
    },
    {
      name: "the same, and what it holds takes effect 12 s later",
      what: "cyclecloud",
      seed: 2,
      seconds: 140,
      moments: FIVE,
      lateSeconds: 12,
    },
    {
      name: "CycleCloud stands still for 300 s, three times",
      what: "cyclecloud",
      seed: 3,
      seconds: 300,
      moments: THREE,
    },
    {
      name: "for 300 s, twice, and what it holds takes effect 12 s later",
      what: "cyclecloud",
      seed: 4,
      seconds: 300,
      moments: ["create", "terminate"],
      lateSeconds: 12,
    },
    {
      name: "one of two hosts stands still for 140 s, five times",
      what: "host",
      seed: 5,
      seconds: 140,
      moments: FIVE,
    },
    {
      name: "five times more",
      what: "host",
      seed: 6,
      seconds: 140,
      moments: ["commit", "terminate", "commit", "create", "commit"],
    },
    {
      name: "one of two hosts stands still for 300 s, three times",
      what: "host",
      seed: 7,
      seconds: 300,
      moments: THREE,
    },
    { name: "two times more", what: "host", seed: 8, seconds: 300, moments: ["commit", "terminate"] },
  ])("$name", async ({ name, ...options }) => {
    const { story, ...result } = await runFreezes({ checkout, ...options });
    process.stdout.write(`freezes, ${name}: ${JSON.stringify(result)}\n`);
    expect(result.stopped).toBeGreaterThan(0);
    expect(result, story).toMatchObject(RIGHT);
  });

  test("single creates and terminates are held for up to the limit of a call", async () => {
    const { story, ...result } = await runHeldCalls({ checkout, seed: 9, seconds: 900 });
    process.stdout.write(`freezes, single calls are held: ${JSON.stringify(result)}\n`);
    expect(result.held).toBeGreaterThan(10);
    expect(result, story).toMatchObject(RIGHT);
  });

  test("found out: time in which CycleCloud stood still proves something", async () => {
    const result = await inCopy([FORGETFUL], PRODUCT, async (copy) => {
      const { story: _, ...judged } = await runFreezes({
        checkout: copy,
        what: "cyclecloud",
        seed: 10,
        seconds: 200,
        moments: ["terminate", "create"],
        lateSeconds: 20,
      });
      return judged;
    });
    process.stdout.write(`freezes, with a mistake: ${JSON.stringify(result)}\n`);
    expect(result.stoppedOpen + result.stoppedBusy + result.openedAfterStop).toBeGreaterThan(0);
    expect(result.mostBeyondDemand).toBeGreaterThan(0);
  });
});
