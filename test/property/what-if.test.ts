/** A dry run believes what a plan says of itself. How to replay a failure stands in runs.ts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/decide/reconcile/reconcile.ts";
import { storedWorld } from "../../src/decide/need/stored-world.ts";
import { suppose } from "../../src/decide/what-if/what-if.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { Remedy } from "../../src/domain/remedy.ts";
import type { Snapshot } from "../../src/domain/cluster.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { LimitChange } from "../../src/domain/what-if.ts";
import { CHANGEABLE_LIMITS } from "../../src/domain/what-if.ts";
import { NOW, rememberNodes } from "../support/build-node.ts";
import { anyCluster, anyDemands, showCluster } from "../support/build-random-cluster.ts";
import { buildState, OURS } from "../support/build-record.ts";
import { runsOf, TIMEOUT } from "./runs.ts";

function planOf(record: ClusterRecord, bodies: Bodies, snapshot: Snapshot): Plan {
  return decide(record, bodies, { snapshot, requestNodes: new Map() }, DEFAULT_POLICY, NOW, OURS).plan;
}

/** Limits of one bucket alone. A raise of a shared one lets CycleCloud offer more in every bucket, of which a plan may prefer another. */
const LOCAL = CHANGEABLE_LIMITS.filter((kind) => kind === "bucket" || kind === "placement-group");

/** The raises as changes of a dry run; undefined where one is of something else. */
function changesFor(binding: Remedy | undefined): readonly LimitChange[] | undefined {
  if (binding?.kind !== "raise") return undefined;
  const changes = binding.raises.flatMap((raise): LimitChange[] => {
    if (raise.of !== "limit") return [];
    const kind = LOCAL.find((one) => one === raise.limit.kind);
    return kind === undefined
      ? []
      : [{ kind, name: raise.limit.name, unit: raise.limit.unit, change: { more: raise.more } }];
  });
  return changes.length === binding.raises.length ? changes : undefined;
}

function isExceeded(record: ClusterRecord, bodies: Bodies): boolean {
  const limits = storedWorld(record, bodies, DEFAULT_POLICY, NOW)?.limits ?? [];
  return limits.some(({ used, max }) => used > max);
}

test(
  "with the raises of buckets that a plan names for its first demand, a dry run places all of it",
  () => {
    let tried = 0;
    fc.assert(
      fc.property(anyCluster(3), anyDemands, (cluster, demands) => {
        const snapshot = showCluster(cluster, cluster.nodes);
        const ledger = rememberNodes(cluster.nodes);
        const { record, bodies } = buildState({ sets: { all: { demands } }, seen: snapshot, ledger });
        const [first] = planOf(record, bodies, snapshot).demands;
        const limits = changesFor(first?.binding);
        if (first === undefined || limits === undefined) return;
        // Where more is used than allowed, a raise is counted from what is used, a larger limit from what it was.
        if (isExceeded(record, bodies)) return;
        const whatIf = { policy: DEFAULT_POLICY, updates: [], limits, buckets: [] };
        const supposed = suppose(record, bodies, snapshot, whatIf, NOW);
        if (supposed.kind !== "state") throw new Error("a limit that the plan names is not found");
        const [then] = planOf(supposed.record, supposed.bodies, supposed.bodies.seen ?? snapshot).demands;
        expect(then).toMatchObject({ id: first.id, placed: first.asked, asked: first.asked });
        tried += 1;
      }),
      runsOf(31, { usual: 250 }),
    );
    // Else the clusters are too roomy to prove anything.
    expect(tried).toBeGreaterThan(8);
  },
  TIMEOUT,
);
