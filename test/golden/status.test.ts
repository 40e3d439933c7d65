import { expect, test } from "vitest";
import { describeState } from "../../src/app/describe/describe-cluster.ts";
import { renderStatus } from "../../src/cli/render-status.ts";
import { readState } from "../../src/client/readers.ts";
import { decide } from "../../src/decide/reconcile/reconcile.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { Snapshot } from "../../src/domain/cluster.ts";
import { arrayName, machineType } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { DEFAULT_POLICY, observing } from "../../src/domain/policy.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import { readPriceTable } from "../../src/wire/policy/price-table.ts";
import { needing } from "../support/build-constraints.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildNodes,
  buildSnapshot,
  NOW,
  rememberNodes,
} from "../support/build-node.ts";
import { buildJob, buildState, buildTarget, OURS } from "../support/build-record.ts";
import type { Scenario } from "../support/build-record.ts";
import { Problems } from "../../src/wire/json/problems.ts";

/** The output of `status` for a cluster that needs an administrator, as a newcomer reads it. */

const HPC = arrayName("hpc");
const HB = machineType("Standard_HB120rs_v3");
const HC = machineType("Standard_HC44rs");

/** The record and bodies after a plan on this observation. */
function planned(
  scenario: Scenario,
  snapshot: Snapshot,
  policy: Policy,
): { readonly record: ClusterRecord; readonly bodies: Bodies } {
  const { record, bodies } = buildState(scenario);
  const observation = { snapshot, requestNodes: new Map() };
  const { record: next, ledger, plan } = decide(record, bodies, observation, policy, NOW, OURS);
  return { record: next, bodies: { ...bodies, ledger, plan, seen: snapshot } };
}

function statusOf({ record, bodies }: ReturnType<typeof planned>, policy: Policy): readonly string[] {
  const state = readState(JSON.parse(JSON.stringify(describeState(record, bodies, policy, NOW))));
  const lines = state === undefined ? [] : renderStatus(state).split("\n");
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
  return lines;
}

const idle = [...buildNodes("e", 170), ...buildNodes("h", 30, { array: HPC, machineType: HB })];
const twoArrays = buildSnapshot(idle, {
  arrays: [
    buildArray("execute", { region: "westeurope" }),
    buildArray("hpc", { region: "westeurope", buckets: [buildBucket(HB, 120)] }),
  ],
});

test("200 unneeded nodes: how many, since when, what they cost, and what ends them", () => {
  const policy = { ...DEFAULT_POLICY, prices: pricesOf({ Standard_D4s_v5: 0.1, Standard_HB120rs_v3: 4.68 }) };
  // 170 x 0.1 + 30 x 4.68 = 157.4
  expect(statusOf(planned({ ledger: rememberNodes(idle) }, twoArrays, policy), policy)).toEqual([
    "prod: healthy, Started (target Started), observed 0 s ago",
    "sets       none",
    "demands    none",
    "nodes      200 ready; 200 not needed, busy state unknown",
    "timeouts   idle 300 s, boot 3600 s",
    "plan       7 at 2025-11-20T11:00:00.000Z (act): nothing to do",
    "warning    200 nodes are not needed, the first of them since 2025-11-20T10:01:40.000Z; busy state",
    "           unknown: no report and no callback yet. They cost 157.40 USD an hour: 170 x",
    "           execute/Standard_D4s_v5, 30 x hpc/Standard_HB120rs_v3. Each stays until its autostop",
    "           callback asks, a report names it idle, or it is terminated in CycleCloud.",
  ]);
});

test("a price that is not known: the cost is at least that of the others; no prices: no cost", () => {
  const some = { ...DEFAULT_POLICY, prices: pricesOf({ Standard_D4s_v5: 0.1 }) };
  const shown = (policy: Policy) =>
    statusOf(planned({ ledger: rememberNodes(idle) }, twoArrays, policy), policy)
      .join(" ")
      .replace(/ +/g, " ");
  expect(shown(some)).toContain(
    "They cost at least 17.00 USD an hour: 170 x execute/Standard_D4s_v5, 30 x hpc/",
  );
  expect(shown(DEFAULT_POLICY)).toContain("no callback yet. 170 x execute/Standard_D4s_v5, 30 x hpc/");
});

test("switched off: what it would do, and that nothing of it comes", () => {
  const policy = observing(DEFAULT_POLICY);
  const scenario = { sets: { standard: { demands: [buildTarget(4)] } } };
  expect(statusOf(planned(scenario, buildSnapshot(), policy), policy)).toEqual([
    "prod: healthy, Started (target Started), observed 0 s ago",
    "  observing only: nothing is created or stopped",
    "sets       1 live",
    "demands    1: 0 unmet, 1 waiting for nodes (none comes in observe mode)",
    "nodes      none",
    "mode       array execute: observing only",
    "timeouts   idle 300 s, boot 3600 s",
    "plan       7 at 2025-11-20T11:00:00.000Z (observe): would create 4 x execute/Standard_D4s_v5, but",
    "           the mode is observe; this plan makes 4 nodes; at least 4 are needed",
  ]);
});

test("CycleCloud is away: unhealthy, why, and of when all else is", () => {
  const nodes = buildNodes("n", 2);
  const scenario = {
    sets: { standard: { demands: [buildTarget(2)] } },
    ledger: rememberNodes(nodes),
  };
  const { record, bodies } = planned(scenario, buildSnapshot(nodes), DEFAULT_POLICY);
  const away: ClusterRecord = {
    ...record,
    lastGoodLookAt: at(-900),
    trouble: {
      at: at(-5),
      kind: "unreachable",
      message: "GET /clusters/prod/status: connect ECONNREFUSED 10.0.0.4:443",
    },
  };
  expect(statusOf({ record: away, bodies }, DEFAULT_POLICY)).toEqual([
    "prod: unhealthy, Started (target Started), observed 900 s ago",
    "  the last accepted observation is 900 s old, and what is shown dates from then",
    "  CycleCloud cannot be reached: GET /clusters/prod/status: connect ECONNREFUSED 10.0.0.4:443",
    "sets       1 live",
    "demands    1: 0 unmet, 0 waiting for nodes",
    "nodes      2 ready",
    "timeouts   idle 300 s, boot 3600 s",
    "plan       7 at 2025-11-20T11:00:00.000Z (act): nothing to do",
  ]);
});

test("a limit behind ten VM sizes that the job could not use: the limit is why", () => {
  const small = Array.from({ length: 10 }, (_, i) => buildBucket(machineType(`Standard_F8s_v${i + 1}`), 8));
  const full = { quotaCores: 220, consumedCores: 220 };
  const snapshot = buildSnapshot([], {
    arrays: [
      buildArray("execute", { buckets: small }),
      buildArray("hpc", { priority: 0, buckets: [buildBucket(HC, 44, { familyQuota: full })] }),
    ],
  });
  const big = buildJob("big", 2, { constraints: needing({ ncpus: 44 }) });
  expect(
    statusOf(planned({ sets: { pbs: { demands: [big] } } }, snapshot, DEFAULT_POLICY), DEFAULT_POLICY),
  ).toEqual([
    "prod: healthy, Started (target Started), observed 0 s ago",
    "sets       1 live",
    "demands    1: 1 unmet (2 slots missing), 0 waiting for nodes",
    "nodes      none",
    "timeouts   idle 300 s, boot 3600 s",
    "plan       7 at 2025-11-20T11:00:00.000Z (act): nothing to do",
    "why        family quota standardHCSFamily: 220 of 220 cores used, 88 more needed, 0 left (pbs/big)",
    "remedy     88 more cores of family quota standardHCSFamily would place all of it (pbs/big)",
  ]);
});

test("a VM size that pauses after a capacity failure: how long ago that was, and until when it pauses", () => {
  const hpc = buildBucket(HC, 44, { lastCapacityFailureSeconds: 125 });
  const snapshot = buildSnapshot([], {
    arrays: [buildArray(), buildArray("hpc", { priority: 0, buckets: [hpc] })],
  });
  const pause = {
    bucket: { array: HPC, machineType: HC },
    until: at(300),
    seconds: 300,
    cause: "fell-short" as const,
    message: "0 of 2 nodes added",
  };
  const big = buildJob("big", 2, { constraints: needing({ ncpus: 44 }) });
  const scenario = { sets: { pbs: { demands: [big] } }, record: { backoffs: [pause] } };
  expect(statusOf(planned(scenario, snapshot, DEFAULT_POLICY), DEFAULT_POLICY).slice(5)).toEqual([
    "plan       7 at 2025-11-20T11:00:00.000Z (act): nothing to do",
    "warning    hpc/Standard_HC44rs backs off until 2025-11-20T11:05:00.000Z (fell-short): 0 of 2 nodes",
    "           added",
    "why        hpc/Standard_HC44rs: pausing until 2025-11-20T11:05:00.000Z after: 0 of 2 nodes added;",
    "           Azure lacked capacity 125 s before the last observation (pbs/big)",
    "remedy     hpc/Standard_HC44rs is tried again at 2025-11-20T11:05:00.000Z (pbs/big)",
  ]);
});

function pricesOf(sizes: Readonly<Record<string, number>>): NonNullable<Policy["prices"]> {
  return readPriceTable({ currency: "USD", locations: { westeurope: sizes } }, "prices", new Problems());
}
