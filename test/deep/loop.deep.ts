import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { LOOP_LOADS, SIZES } from "../bench/loop/loads.ts";

/** Each load of `npm run bench:loop` once, as small as it can be: what it needs of the app is still there. */
const TINY = {
  ...SIZES,
  checkout: fileURLToPath(new URL("../..", import.meta.url)),
  tries: 1,
  gapSeconds: 1,
  minutes: 0.1,
  sets: 10,
  intervalSeconds: 3,
  nodes: 10,
  changingNodes: 3,
  callbacks: 12,
  hosts: 2,
  stormSeconds: 6,
};

/** Figures that are there whatever the machine does. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  "main-path": ["PUT: create received", "queue: durable to create", "queue: sent to create"],
  renewals: ["accept (sent to durable, ms)", "state page (ms)", "table: read record, a minute"],
  changes: ["accept (sent to durable, ms)", "state page (ms)", "table: write body, a minute"],
  "autostop-at-once": ["ask (ms)", "questions", "there at the end"],
  "autostop-kills": ["kills", "questions", "there at the end"],
  "autostop-slow": ["kills", "questions", "there at the end"],
};

test.each(LOOP_LOADS)("bench:loop, $name, measures", async (load) => {
  const figures = await load.run(TINY);
  for (const figure of EXPECTED[load.name] ?? []) expect(figures[figure], figure).toBeDefined();
});
