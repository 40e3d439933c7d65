import { expect, test } from "vitest";
import { openRealSlurm } from "./real-slurm.ts";

/** The agent with the app on a real Slurm: `npm run test:schedulers`. The long runs are in test/deep/slurm.deep.ts. */

test("20 jobs run on the nodes that Slurm named, and these go when they are idle", async (closing) => {
  const site = await openRealSlurm(closing);
  for (let job = 0; job < 10; job += 1) await site.submit(5);
  await site.submit(5, "--array=1-6");
  for (const nodes of [1, 2, 2, 3]) await site.submit(5, "-p", "hpc", "-N", String(nodes));
  await site.until(
    "20 jobs have run",
    90,
    () => site.runs().filter(({ ended }) => ended !== undefined).length === 20,
  );
  await site.until("all nodes have gone", 90, () => site.alive().length === 0);
  expect(await site.faults()).toEqual([]);
  expect(site.events.filter(({ kind }) => kind === "node-created")).toHaveLength(11);
});
