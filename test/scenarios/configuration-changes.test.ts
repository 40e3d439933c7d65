import { expect, test } from "vitest";
import { playChanges, playTakenOver } from "./changes-stage.ts";
import { LONGEST_GAP, SLOW_PLANS } from "./mutants-changes.ts";

/** A configuration counts from its answer (docs/protocol.md, Configuration), with several hosts that each hold a copy for 15 s. */

test.each([1, 2, 3])(
  "observe and act in turn each second while demand rises: nothing is committed after observe was answered, and 10 s after the last change the cluster is planned (seed %i)",
  async (seed) => {
    expect(await playChanges(seed)).toMatchObject({ late: 0, unplanned: 0 });
  },
);

test("hosts die meanwhile: the same", async () => {
  expect(await playChanges(1, { hosts: 4, deaths: 0.02 })).toMatchObject({ late: 0 });
});

test("plans take 8 s to be saved, and a change comes each second: one is saved at least once a minute", async () => {
  const { gap, late } = await playChanges(1, SLOW_PLANS);
  expect(late).toBe(0);
  expect(gap).toBeLessThan(LONGEST_GAP);
});

test("the owner of a create dies before it sends it, and observe is answered: nobody sends it, and it ends", async () => {
  expect(await playTakenOver(1)).toEqual({ resent: 0, open: 0 });
});
