/** The budget as it is: what a message may bring that is as dear as can be. */
import { expect, test } from "vitest";
import { decide } from "../../src/decide/reconcile.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { Demand } from "../../src/domain/demand.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { buildNodes, buildSnapshot, NOW, rememberNodes } from "../support/build-node.ts";
import { buildJob, buildState, buildTarget, OURS } from "../support/build-record.ts";

const amount = (ncpus: number): Constraint => ({ kind: "amount", resource: "ncpus", amount: ncpus });

/** Jobs of which no two are alike, each with a hundred alternatives. */
const dear: readonly Demand[] = Array.from({ length: 4000 }, (_, i) =>
  buildJob(`j${i}`, 1000, {
    position: i,
    constraints: [{ kind: "or", of: Array.from({ length: 100 }, (__, k) => amount(900 + k + i / 10_000)) }],
  }),
);

test("4,000 jobs with 100 alternatives each are planned in less than 5 s, and beside them what another set asks for", () => {
  const nodes = buildNodes("n", 50);
  const { record, bodies } = buildState({
    sets: { evil: { demands: dear }, honest: { demands: [buildTarget(60, { priority: -5 })] } },
    ledger: rememberNodes(nodes),
    seen: buildSnapshot(nodes),
  });
  const look = { snapshot: buildSnapshot(nodes), requestNodes: new Map() };
  const before = process.cpuUsage();
  const { plan } = decide(record, bodies, look, DEFAULT_POLICY, NOW, OURS);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(5);
  expect(plan.leftOut).toMatchObject([
    { set: "evil", why: expect.stringMatching(/^[\d,]+ jobs with up to 100 alternatives each$/) },
  ]);
  expect(plan.demands.filter(({ set }) => set === "honest")).toMatchObject([{ placed: 60, asked: 60 }]);
});
