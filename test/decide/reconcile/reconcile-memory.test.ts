import { describe, expect, test } from "vitest";
import { inArrays, needing } from "../../support/build-constraints.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { Demand } from "../../../src/domain/demand.ts";
import { arrayName, placementGroup } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY, observing } from "../../../src/domain/policy.ts";
import type { Instant } from "../../../src/domain/units.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildLedger,
  buildNode,
  buildSnapshot,
  D4,
  D8,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import { buildJob, buildState, OURS } from "../../support/build-record.ts";
import type { Decision } from "../../../src/domain/decision.ts";
import type { State } from "./reconcile-stage.ts";
import { decideOn } from "./reconcile-stage.ts";

describe("jobs stay where the last plan had them", () => {
  // Too many for all displaced demands to get another chance.
  const names = Array.from({ length: 60 }, (_, i) => `array${i}`);
  const arrays = names.map((name) =>
    buildArray(name, {
      buckets: [buildBucket(D8, 8, { availableCount: 0 }), buildBucket(D4, 4, { availableCount: 0 })],
    }),
  );
  const nodes = names.flatMap((name) => [
    buildNode(`a-${name}`, { array: arrayName(name), machineType: D8 }),
    buildNode(`b-${name}`, { array: arrayName(name), machineType: D4 }),
  ]);
  const jobs = (kind: string, ncpus: number, priority: number) =>
    names.map((name) =>
      buildJob(`${kind}-${name}`, 1, {
        priority,
        constraints: [...needing({ ncpus }), inArrays(name)],
      }),
    );
  const large = { demands: jobs("large", 8, 0) };
  const both = { standard: { demands: [...large.demands, ...jobs("small", 3, 1)] } };
  const short = ({ plan }: Decision): number =>
    plan.demands.filter(({ placed, asked }) => placed < asked).length;

  test("others that come later, with a higher priority, do not displace them while there are other nodes", () => {
    const first = decideOn(
      buildState({ sets: { standard: large }, ledger: rememberNodes(nodes) }),
      buildSnapshot(nodes, { arrays }),
    );
    expect(short(first)).toBe(0);
    const { record, bodies } = buildState({ sets: both, ledger: rememberNodes(nodes) });
    expect(short(decideOn({ record, bodies }, buildSnapshot(nodes, { arrays })))).toBeGreaterThan(0);
    const known = { record, bodies: { ...bodies, plan: first.plan } };
    expect(short(decideOn(known, buildSnapshot(nodes, { arrays })))).toBe(0);
  });
});

describe("what was decided before is not kept", () => {
  test("since when a group lacks nodes comes from the observation, as long as nothing is asked for", () => {
    const demands: readonly Demand[] = [
      {
        kind: "groups",
        id: "g",
        priority: 0,
        position: 0,
        array: arrayName("execute"),
        groups: 1,
        size: { unit: "nodes", count: 2 },
      },
    ];
    const group = placementGroup("group-execute-2n-1");
    const node = buildNode("n1", { placementGroup: group });
    const full = { maxCount: 1, availableCount: 0, activeCount: 1, maxPlacementGroupSize: 4 };
    const buckets = [buildBucket(D4, 4, { ...full, placementGroups: [{ name: group, activeCount: 1 }] })];
    const snapshot = buildSnapshot([node], { arrays: [buildArray("execute", { buckets })] });
    const purpose = { kind: "group" as const, key: "execute:2n", group };
    let state: State = buildState({
      sets: { standard: { demands } },
      ledger: buildLedger([rememberNode(node, { purpose })]),
    });
    const since: (Instant | undefined)[] = [];
    for (const seconds of [0, 60, 120, 180]) {
      const now = at(seconds);
      const watching = observing(DEFAULT_POLICY);
      const observation = { snapshot: { ...snapshot, at: now }, requestNodes: new Map() };
      const { plan } = decide(state.record, state.bodies, observation, watching, now, OURS);
      state = { ...state, bodies: { ...state.bodies, plan } };
      since.push(plan.groups?.[0]?.groups[0]?.since);
    }
    expect(since).toEqual([0, 60, 120, 180].map((seconds) => at(seconds)));
  });
});
