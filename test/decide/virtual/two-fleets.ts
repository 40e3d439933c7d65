import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import { withVirtualFleet } from "../../../src/decide/virtual/plan-virtual.ts";
import type { Bodies } from "../../../src/domain/bodies.ts";
import type { Snapshot } from "../../../src/domain/cluster.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { VirtualFleet, VirtualNode } from "../../../src/domain/virtual-fleet.ts";
import { at } from "../../support/build-node.ts";
import { buildState, OURS, pushSets } from "../../support/build-record.ts";
import type { Scenario } from "../../support/build-record.ts";
import { nodeNow } from "../../../src/decide/virtual/fleet.ts";

export const OBSERVE: Policy = { ...DEFAULT_POLICY, mode: "observe" };

/** A cluster that is observed again and again, with what each plan left behind. */
export class TwoFleets {
  record: ClusterRecord;
  bodies: Bodies;

  constructor(scenario: Scenario) {
    const { record, bodies } = buildState(scenario);
    this.record = record;
    this.bodies = bodies;
  }

  push(sets: NonNullable<Scenario["sets"]>): void {
    const { record, bodies } = pushSets({ record: this.record, bodies: this.bodies }, sets);
    this.record = record;
    this.bodies = bodies;
  }

  /** One plan at this number of seconds after NOW. */
  plan(seconds: number, snapshot: Snapshot, policy: Policy = OBSERVE): Plan {
    const now = at(seconds);
    const observation = { snapshot: { ...snapshot, at: now }, requestNodes: new Map() };
    const real = decide(this.record, this.bodies, observation, policy, now, OURS);
    const decision = withVirtualFleet(real, {
      bodies: this.bodies,
      policy,
      now,
      owner: OURS,
    });
    const { record, ledger, questions, seen, plan, virtual = this.bodies.virtual } = decision;
    this.record = record;
    this.bodies = {
      ...this.bodies,
      ledger,
      questions,
      seen,
      plan,
      ...(virtual === undefined ? {} : { virtual }),
    };
    return plan;
  }

  get fleet(): VirtualFleet {
    const { virtual } = this.bodies;
    if (virtual === undefined) throw new Error("there is no virtual fleet");
    return virtual;
  }

  /** Phases of the virtual nodes by NodeId. */
  phases(seconds: number): Readonly<Record<string, string>> {
    const nodes = this.fleet.nodes.flatMap((one: VirtualNode) => nodeNow(one, at(seconds)) ?? []);
    return Object.fromEntries(nodes.map(({ nodeId, phase }) => [nodeId, phase]));
  }
}
