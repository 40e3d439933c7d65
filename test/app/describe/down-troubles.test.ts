import { expect, test } from "vitest";
import { describeTroubles } from "../../../src/app/describe/describe-troubles.ts";
import { expectReady } from "../../../src/app/describe/expect-ready.ts";
import type { Bodies } from "../../../src/domain/bodies.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { PriceTable } from "../../../src/domain/price.ts";
import { at, D4 } from "../../support/build-node.ts";
import type { Run } from "../../decide/stops/down-stage.ts";
import { OFF, playDown, UNAVAILABLE } from "../../decide/stops/down-stage.ts";

/** What the state page says of nodes that are down. A node costs 0.25 EUR an hour. */

const prices: PriceTable = {
  currency: "EUR",
  locations: new Map([["westeurope", new Map([[D4.toLowerCase(), { machineType: D4, onDemand: 0.25 }]])]]),
  proxies: new Map(),
};
const base: Policy = { ...DEFAULT_POLICY, prices };

/** The troubles after these seconds, as "kind: text". */
function troublesAfter(seconds: number, { policy, ...run }: Omit<Run, "until">): readonly string[] {
  const rules = { ...base, ...policy };
  const of: Run["of"] = (array) => (run.of ?? ((same) => same))({ ...array, region: "westeurope" });
  const { last } = playDown({ ...run, of, policy: rules, until: seconds });
  const { ledger, plan, seen } = last;
  const bodies: Bodies = { demands: new Map(), reports: new Map(), ledger, plan, seen };
  return describeTroubles(last.record, bodies, [], at(seconds), at(seconds), undefined, rules).map(
    ({ kind, text }) => `${kind}: ${text}`,
  );
}

const first: Run["shows"] = ({ index }) => (index === 0 ? OFF : undefined);

test("one node: since when, when it is terminated, and what it costs", () => {
  expect(troublesAfter(120, { arrays: [10], shows: first })).toContain(
    "node-down: execute-n0 was Ready and is no longer up: Off; shut down since 2025-11-20T11:00:00.000Z; it is terminated at 2025-11-20T11:05:00.000Z; it costs 0.25 EUR an hour",
  );
});

test("a wave: how many, until when, and the command that ends them", () => {
  const [down, wave, ...more] = troublesAfter(120, { arrays: [4], shows: () => OFF });
  expect(more).toEqual([]);
  expect(down).toContain(
    "execute-n0, execute-n1, execute-n2, execute-n3 were Ready and are no longer up: Off; the first shut down since",
  );
  expect(wave).toBe(
    "down-wave: node array a0: 4 nodes are down at once, the first since 2025-11-20T11:00:00.000Z, so each waits at least an hour; the first is terminated at 2025-11-20T12:00:00.000Z; they cost 1.00 EUR an hour. If they are to end now: end-down a0",
  );
});

test("a job on it: a trouble after an hour", () => {
  const sets = { pbs: { report: [{ hostname: "ip-n0", jobs: ["7"] }], intervalSeconds: 80_000 } };
  const busy = (seconds: number) =>
    troublesAfter(seconds, { arrays: [10], shows: first, scenario: { sets } }).filter((text) =>
      text.startsWith("down-busy"),
    );
  expect(busy(3540)).toEqual([]);
  expect(busy(3600)).toEqual([
    "down-busy: execute-n0: down for over an hour, and a job is still reported or placed there, so it is not terminated; it costs 0.25 EUR an hour. Remove the job in the scheduler if it is lost",
  ]);
});

test("downTimeout never: it is kept, with its cost", () => {
  const policy: Run["policy"] = { downTimeout: { every: "never" } };
  expect(troublesAfter(900, { arrays: [10], shows: first, policy })).toContain(
    "down-kept: execute-n0 is down since 2025-11-20T11:00:00.000Z, and is not terminated: downTimeout is never; it costs 0.25 EUR an hour. Look at it, then use end-down, or end it in CycleCloud",
  );
});

test("Unavailable: the trouble of a failed node, with its cost", () => {
  expect(troublesAfter(900, { arrays: [2], shows: () => UNAVAILABLE })).toEqual([
    "node-failed: execute-n0, execute-n1 failed: Unavailable; they cost 0.50 EUR an hour",
  ]);
});

test("nobody waits for a node that is down: it has no time at which it is Ready", () => {
  const { last } = playDown({ arrays: [2], shows: first, until: 60 });
  const node = last.seen.nodes.find(({ phase }) => phase === "coming");
  expect(node === undefined ? "no such node" : expectReady(last).of(node)).toBeUndefined();
});
