import type { HostExplained } from "../../decide/explain/explain-host.ts";
import type { NodeExplained } from "../../decide/explain/explain-node.ts";
import type { JobOnNode } from "../../decide/explain/jobs-on-node.ts";
import type { Ahead, DemandExplained } from "../../decide/explain/explained-demand.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { PlanCounts } from "../../domain/kept-plan.ts";
import type { Plan } from "../../domain/plan.ts";
import { modeShown } from "../../domain/plan.ts";
import { renderReason } from "../../domain/reason-text.ts";
import { isoTime } from "../../domain/units.ts";
import type {
  DemandExplanationShown,
  ExplanationShown,
  HostExplanationShown,
  NodeExplanationShown,
} from "../../wire/api/explanation-answers.ts";
import type { BucketKeyShown } from "../../wire/api/parts.ts";
import { countsShown } from "./describe-history.ts";

export type Explained = DemandExplained | NodeExplained | HostExplained;

/** The answer about a demand, a node or a host. `counts`: those of a past plan. */
export function describeExplanation(
  cluster: ClusterName,
  plan: Plan,
  explained: Explained,
  counts?: PlanCounts,
): ExplanationShown {
  const { mode, observed } = modeShown(plan);
  const shared: Pick<NodeExplanationShown, OfPlan> = {
    cluster,
    plan: plan.number,
    planAt: isoTime(plan.at),
    mode,
    observed,
    counts: counts === undefined ? undefined : countsShown(counts),
  };
  switch (explained.kind) {
    case "demand":
      return { ...shared, ...describeDemand(explained) };
    case "node":
      return { ...shared, ...describeNode(explained) };
    case "host":
      return { ...shared, ...describeHost(explained) };
  }
}

/** Members that all explanations have, of the plan. */
type OfPlan = "cluster" | "plan" | "planAt" | "mode" | "observed" | "counts";

function describeDemand(explained: DemandExplained): Omit<DemandExplanationShown, OfPlan> {
  return {
    kind: explained.kind,
    set: explained.set,
    id: explained.id,
    of: explained.of,
    unit: explained.unit,
    asked: explained.asked,
    placed: explained.placed,
    pending: explained.pending,
    rank: explained.rank,
    ranks: explained.ranks,
    places: explained.places.map(describePlace),
    moreNodes: explained.moreNodes,
    incomplete: explained.incomplete,
    reasons: explained.reasons,
    reasonTexts: explained.reasons.map(renderReason),
    moreReasons: explained.moreReasons,
    binding: explained.binding,
    ahead: explained.ahead.map(describeAhead),
    alsoIn: explained.alsoIn,
    expectedReadyAt: explained.expectedReadyAt === undefined ? undefined : isoTime(explained.expectedReadyAt),
    metadata: explained.metadata,
    text: explained.text,
  };
}

function describePlace(place: DemandExplained["places"][number]): DemandExplanationShown["places"][number] {
  const { origin, bucket, nodeId, name, nodes, slots, bound } = place;
  return {
    origin,
    bucket: bucket === undefined ? undefined : describeKey(bucket),
    nodeId,
    name,
    nodes,
    slots,
    bound,
  };
}

function describeKey({ array, machineType, placementGroup }: BucketKey): BucketKeyShown {
  return { array, machineType, placementGroup };
}

function describeAhead({ raise, demands }: Ahead): DemandExplanationShown["ahead"][number] {
  return { raise, demands };
}

/** A job on a node or a host. */
function describeJob({ set, id, slots, bound }: JobOnNode): NodeExplanationShown["load"][number] {
  return { set, id, slots, bound };
}

function describeNode(explained: NodeExplained): Omit<NodeExplanationShown, OfPlan> {
  return {
    kind: explained.kind,
    nodeId: explained.nodeId,
    name: explained.name,
    hostname: explained.hostname,
    array: explained.array,
    purpose: explained.purpose,
    verdict: explained.verdict,
    neededBy: explained.neededBy,
    load: explained.load.map(describeJob),
    moreJobs: explained.moreJobs,
    ownership: explained.ownership,
    timeouts: timeoutsShown(explained.timeouts),
    reported: reportedShown(explained.reported),
    text: explained.text,
  };
}

function timeoutsShown(timeouts: NodeExplained["timeouts"]): NodeExplanationShown["timeouts"] {
  if (timeouts === undefined) return undefined;
  const { idleSeconds, bootSeconds } = timeouts;
  return { idleSeconds, bootSeconds };
}

function reportedShown(reported: NodeExplained["reported"]): NodeExplanationShown["reported"] {
  if (reported === undefined) return undefined;
  const { resources, available } = reported;
  return { resources, available };
}

function describeHost(explained: HostExplained): Omit<HostExplanationShown, OfPlan> {
  return {
    kind: explained.kind,
    hostname: explained.hostname,
    requestSets: explained.requestSets,
    standing: explained.standing,
    resources: explained.resources,
    available: explained.available,
    jobs: explained.jobs,
    load: explained.load.map(describeJob),
    moreJobs: explained.moreJobs,
    text: explained.text,
  };
}
