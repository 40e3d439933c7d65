import { expect, test } from "vitest";
import { NODE_PROPERTIES } from "../../src/domain/constraint.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { Fields } from "../first-tries/clusters.ts";
import { MODES } from "../support/modes.ts";
import { oneArray } from "./clusters.ts";
import { Stage } from "./stage.ts";

/*
 * Constraints on a property of one node, on a cluster whose nodes are planned, boot and run. What a new node does not have yet, or loses when
 * it comes up, makes none: with a condition that only planned nodes meet each plan would make one more.
 */

/** More conditions on what changes while a node comes up. */
const CHANGING: readonly Fields[] = [
  { "node.state": ["Off", "Ready"] },
  { not: { "node.state": "Preparation" } },
  { not: { "node.state": "Failed" } },
  { "node.exists": true },
  { not: { "node.exists": true } },
  { "node.name": "execute-0" },
  { "node.name": "execute-*" },
  { not: { "node.name": "execute-?" } },
  { not: { "node.hostname": "ip-*" } },
  { not: { "node.hostname": ["ip-broken", "ip-old"] } },
  { "node.create_time": "20*" },
  { not: { "node.create_time": "2026-01-*" } },
  { not: { "node.create_time_unix": 5 } },
  { not: { "node.last_match_time": "20*" } },
  { xor: [{ "node.exists": true }, { "node.hostname": "ip-*" }] },
  { or: [{ "node.exists": false }, { "node.spot": true }] },
];

const UNKNOWN: readonly Fields[] = NODE_PROPERTIES.flatMap((name) => [
  { [`node.${name}`]: null },
  { not: { [`node.${name}`]: null } },
]);

/** How many nodes were made in ten minutes, and in the 20 minutes after that, for a job of one slot. `beside`: another job needs a whole node. */
async function createdFor(constraint: Fields, mode: (typeof MODES)[number], beside: boolean) {
  const stage = new Stage({
    simulator: oneArray("demo"),
    policy: { ...DEFAULT_POLICY, ...mode, idleTimeoutSeconds: 86_400 },
  });
  const job = { name: "asks", constraints: [{ ncpus: 1 }, constraint] };
  const other = { name: "other", constraints: [{ ncpus: 4 }] };
  const jobs = beside ? [other, job] : [job];
  await stage.during(stage.push({ version: 1, cluster: "demo", jobs, expirationInterval: 86_400 }));
  await stage.pass(600);
  const early = stage.eventsOf("node-created").length;
  await stage.pass(1200);
  return [early, stage.eventsOf("node-created").length - early] as const;
}

const THREE = MODES.slice(0, 3);

test.each(THREE)("no condition makes nodes for ever ($preference, $among)", async (mode) => {
  const endless: string[] = [];
  for (const constraint of [...CHANGING, ...UNKNOWN]) {
    const [alone, more] = await createdFor(constraint, mode, false);
    const [, moreBeside] = await createdFor(constraint, mode, true);
    if (alone > 1 || more > 0 || moreBeside > 0) endless.push(JSON.stringify(constraint));
  }
  expect(endless).toEqual([]);
});
