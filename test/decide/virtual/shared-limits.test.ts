import { expect, test } from "vitest";
import { virtualObservation } from "../../../src/decide/virtual/virtual-observation.ts";
import type { StatusBucket, Node } from "../../../src/domain/cluster.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildNodes,
  buildSnapshot,
  D4,
  EXECUTE,
  rememberNodes,
} from "../../support/build-node.ts";
import { buildTarget } from "../../support/build-record.ts";
import { OBSERVE, TwoFleets } from "./two-fleets.ts";

/** A regional quota of 40 cores: ten nodes of four cores, of which others outside the cluster use two. */
const OTHERS = arrayName("others");
const lasting = { expiresAt: at(86_400), intervalSeconds: 86_400 };

/** What CycleCloud shows while this many real nodes use the quota. */
function withQuota(nodes: readonly Node[], more: Partial<StatusBucket> = {}) {
  const consumedCores = 8 + 4 * nodes.length;
  const buckets = [
    buildBucket(D4, 4, {
      regionalQuota: { quotaCores: 40, consumedCores },
      availableCount: Math.max(0, (40 - consumedCores) / 4),
      ...more,
    }),
  ];
  const arrays = [
    buildArray("execute", { region: "westeurope", buckets }),
    buildArray("others", { region: "westeurope", buckets }),
  ];
  return buildSnapshot(nodes, { arrays });
}

const wanting = (count: number) => ({ slurm: { ...lasting, demands: [buildTarget(count)] } });
const made = (fleets: TwoFleets): number => fleets.fleet.made;

test("the virtual fleet has what others leave, whatever the real nodes of its own arrays use", () => {
  const fleets = new TwoFleets({ sets: wanting(20) });
  // Eight real nodes come and fill the quota, after the virtual fleet has begun without any.
  fleets.plan(0, withQuota([]));
  expect(made(fleets)).toBe(8);
  const real = buildNodes("r", 8);
  fleets.plan(60, withQuota(real));
  fleets.plan(120, withQuota(real));
  expect(made(fleets)).toBe(8);
});

test("real nodes of arrays that act count once, and are no room for the virtual fleet", () => {
  const mixed: Policy = { ...OBSERVE, arrayModes: new Map([[OTHERS, "act"]]) };
  const acting = buildNodes("o", 5, { array: OTHERS });
  const observed = buildNodes("r", 3);
  const fleets = new TwoFleets({ sets: wanting(20), ledger: rememberNodes([...acting, ...observed]) });
  fleets.plan(0, withQuota([...acting, ...observed]), mixed);
  // Eight of ten are for the cluster: five act, and three are copies.
  expect(made(fleets)).toBe(0);
  const fewer = withQuota([...acting.slice(0, 3), ...observed]);
  // Nodes that observations lack count as there until the third of them.
  fleets.plan(60, fewer, mixed);
  fleets.plan(120, fewer, mixed);
  expect(made(fleets)).toBe(0);
  fleets.plan(180, fewer, mixed);
  expect(made(fleets)).toBe(2);
});

test("where a limit that CycleCloud does not show keeps nodes away, only the bucket's own real nodes are room", () => {
  const real = buildNodes("r", 3);
  const seen = withQuota(real, { availableCount: 1 });
  const observation = virtualObservation(seen, new Set([EXECUTE]), real.slice(0, 1), OBSERVE);
  const [bucket] = observation.arrays[0]?.buckets ?? [];
  // One was available, and three real nodes make room for one virtual node and two more.
  expect(bucket).toMatchObject({
    availableCount: 3,
    activeCount: 1,
    regionalQuota: { quotaCores: 40, consumedCores: 12 },
  });
});
