import type { Aside } from "../../domain/aside.ts";
import type { Instant } from "../../domain/units.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Outage } from "../../domain/troubles.ts";
import type { Questions } from "../../domain/questions.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Observation } from "../../domain/observation.ts";
import type { Owner } from "../../domain/ids.ts";
import type { Dynamics } from "../world/dynamic-arrays.ts";
import type { HostFact } from "../senders/host-facts.ts";
import type { Admitted } from "../senders/admit.ts";
import type { Weighed } from "../need/weigh.ts";
import type { Node } from "../../domain/cluster.ts";
import type { DownNodes } from "../stops/end-down.ts";
import { mayStopByReport } from "../stops/questions.ts";
import { idleProofAt } from "../senders/host-facts.ts";
import { factOfNode } from "../nodes/planned-beside.ts";

/** The inputs of `conclude`: the record and observation of the plan, and what the demand needs. */
export interface Conclusion {
  readonly record: ClusterRecord;
  readonly dynamics: Dynamics;
  readonly admitted: Admitted;
  /** Sets that were not read. */
  readonly aside: Aside;
  readonly observation: Observation;
  readonly ledger: Ledger;
  readonly questions: Questions;
  readonly facts: ReadonlyMap<string, HostFact>;
  readonly weighed: Weighed;
  /** The last plan. Undefined: there was none. */
  readonly last: Plan | undefined;
  readonly policy: Policy;
  readonly now: Instant;
  readonly owner: Owner;
  readonly outage: Outage | undefined;
  /** The nodes that are down. */
  readonly down: DownNodes;
}

/** The facts about one node by which it is decided whether it is stopped. */
export function circumstances(on: Conclusion, node: Node, known: LedgerNode) {
  const fact = factOfNode(on.facts, node, known);
  const provedAt = fact === undefined ? undefined : idleProofAt(fact);
  const provesIdle = mayStopByReport(on.questions.get(node.nodeId), provedAt, on.now);
  const idle = fact !== undefined && fact.jobs.length === 0 && fact.state !== "open" && provesIdle;
  return {
    at: on.observation.snapshot.at,
    ...(on.observation.snapshot.early === true ? { early: true as const } : {}),
    policy: on.policy,
    now: on.now,
    plan: on.record.plan,
    resting: on.outage !== undefined,
    spare: on.weighed.spare.has(node.nodeId),
    busy: (fact?.jobs.length ?? 0) > 0 || known.busyness.state === "busy",
    reportedIdleAt: idle ? provedAt : undefined,
    ends: on.down.due.has(node.nodeId),
  };
}
