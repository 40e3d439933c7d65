import { describe, expect, test } from "vitest";
import type { Shown } from "../decide/stops/down-stage.ts";
import { OFF, playDown } from "../decide/stops/down-stage.ts";
import { madeOf, playBadImage } from "../scenarios/powers-off.ts";
import { playWrongStatus } from "../scenarios/wrong-status.ts";
import { DOWN_MUTANTS } from "../simulation/mutants-down.ts";
import { runTestInCopy } from "../support/product-copy.ts";

/* docs/protocol.md, Nodes that are down: what takes too long for every day. */

const during = (until: number, isWrong: (node: Shown) => boolean) => (node: Shown, seconds: number) =>
  seconds < until && isWrong(node) ? OFF : undefined;

describe("a status that is wrong about nodes that run", () => {
  test.each([
    {
      name: "40 % of 1,000 for 8 minutes",
      arrays: [1000],
      until: 480,
      shows: during(480, ({ index }) => index < 400),
      most: 0,
    },
    {
      name: "25 % of 1,000 for 20 minutes",
      arrays: [1000],
      until: 1200,
      shows: during(1200, ({ index }) => index < 250),
      most: 0,
    },
    {
      name: "100 of 100 for 55 minutes",
      arrays: [100],
      until: 3300,
      shows: during(3300, () => true),
      most: 0,
    },
    {
      name: "100 of 100 for 90 minutes",
      arrays: [100],
      until: 5400,
      shows: during(5400, () => true),
      most: 40,
    },
    {
      name: "100, spreading over 60 minutes, for 90",
      arrays: [100],
      until: 5400,
      shows: ({ index }: Shown, seconds: number) =>
        seconds >= 36 * index && seconds < 5400 ? OFF : undefined,
      most: 40,
    },
    {
      name: "100 that flap each 240 s for an hour",
      arrays: [100],
      until: 3600,
      shows: (_: Shown, seconds: number) =>
        seconds < 3600 && Math.floor(seconds / 240) % 2 === 0 ? OFF : undefined,
      most: 0,
    },
    {
      name: "100 of 100 for 20 minutes, then 29 for 15",
      arrays: [100],
      until: 2100,
      shows: ({ index }: Shown, seconds: number) =>
        seconds < 1200 || (seconds < 2100 && index < 29) ? OFF : undefined,
      most: 0,
    },
  ])("$name: at most $most ended", ({ name, arrays, until, shows, most }) => {
    const { ended } = playDown({ arrays, shows, until: until + 1800 });
    process.stdout.write(`down: ${name}: ${ended.size} ended\n`);
    expect(ended.size).toBeLessThanOrEqual(most);
  });
});

/** What the rule ends of nodes that run, in the whole app and the simulator: each node is shut down, and is started again later. */
describe("a wrong status in the simulation", () => {
  const first = (count: number, minutes: number) => (index: number) =>
    index < count ? { from: 0, until: minutes } : undefined;

  test.each([
    { name: "1 of 1 for 6 minutes", nodes: 1, off: first(1, 6), most: 1 },
    { name: "4 of 4 for 6 minutes", nodes: 4, off: first(4, 6), most: 0 },
    { name: "half of 8 for 6 minutes", nodes: 8, off: first(4, 6), most: 0 },
    { name: "half of 100 for 6 minutes", nodes: 100, off: first(50, 6), most: 0 },
    { name: "40 % of 1,000 for 8 minutes", nodes: 1000, off: first(400, 8), most: 0 },
    { name: "100 of 100 for 20 minutes", nodes: 100, off: first(100, 20), most: 0 },
    {
      name: "100, spreading over 20 minutes, for 30",
      nodes: 100,
      off: (index: number) => ({ from: index / 5, until: 30 }),
      most: 1,
    },
  ])("$name: at most $most ended", async ({ name, nodes, off, most }) => {
    const { ended, down } = await playWrongStatus(nodes, off);
    process.stdout.write(`down: simulation: ${name}: ${ended} ended, at most ${down} down at once\n`);
    expect(down + ended).toBeGreaterThan(0);
    expect(ended).toBeLessThanOrEqual(most);
  });
});

describe("an image that powers itself off, for a day", () => {
  const images = [3, 20].flatMap((bootMinutes) => [5, 25].map((offMinutes) => ({ bootMinutes, offMinutes })));

  test.each(images)(
    "boots of $bootMinutes minutes, off after $offMinutes: another bucket takes the demand",
    async (image) => {
      const stage = await playBadImage({ ...image, hasOther: true }, 24);
      process.stdout.write(
        `down: ${JSON.stringify(image)}, another bucket: ${madeOf(stage, "bad")} created\n`,
      );
      expect(madeOf(stage, "bad")).toBeLessThanOrEqual(100);
      expect(madeOf(stage, "good")).toBe(10);
      expect(stage.readyNodes).toHaveLength(10);
    },
  );

  test.each(images)(
    "boots of $bootMinutes minutes, off after $offMinutes, and no other bucket",
    async (image) => {
      const stage = await playBadImage({ ...image, hasOther: false }, 24);
      process.stdout.write(
        `down: ${JSON.stringify(image)}, no other bucket: ${madeOf(stage, "bad")} created\n`,
      );
      expect(madeOf(stage, "bad")).toBeLessThanOrEqual(100);
    },
  );
});

test.each(DOWN_MUTANTS)("$name: a scene finds it", async ({ name, edits, file, scene }) => {
  const failed = await runTestInCopy(edits, file);
  process.stdout.write(`mutant: ${name}: ${failed.length} failed: ${failed[0] ?? "none"}\n`);
  expect(failed.filter((title) => title.includes(scene))).not.toEqual([]);
});
