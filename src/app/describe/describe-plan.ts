import type { DemandExplained } from "../../decide/explain/explained-demand.ts";
import { remedyLine } from "../../decide/explain/explained-demand.ts";
import type { HostExplained } from "../../decide/explain/explain-host.ts";
import type { NodeExplained } from "../../decide/explain/explain-node.ts";
import { renderReason } from "../../domain/reason-text.ts";
import { reasonsInOrder } from "../../domain/reasons-in-order.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { JobDemand } from "../../domain/demand.ts";
import type { ClusterName, NodeId } from "../../domain/ids.ts";
import type { PlanCounts } from "../../domain/kept-plan.ts";
import type { DemandOutcome, Plan, PlanBound, Proposal } from "../../domain/plan.ts";
import { boundText, countDemands, modeShown } from "../../domain/plan.ts";
import type { CreateSet } from "../../domain/intent.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime } from "../../domain/units.ts";
import type { DemandExplanationShown, ExplanationShown } from "../../wire/api/explanation-answers.ts";
import type { BucketKeyShown } from "../../wire/api/parts.ts";
import type { CreateShown, LastPlanShown, ProposalShown, UnmetShown } from "../../wire/api/cluster-demand.ts";
import { arrayShown } from "../../domain/bucket.ts";
import type { Pages } from "./pages.ts";

/** The last plan: what it does, and the demands that it leaves unmet. Undefined if there was none. */
export function describePlan(bodies: Bodies, pages: Pages): LastPlanShown | undefined {
  const { plan } = bodies;
  if (plan === undefined) return undefined;
  const short = plan.demands.filter((outcome) => outcome.placed < outcome.asked);
  const { creates, starts = [], terminates, withheld, virtual } = plan;
  const { mode, observed } = modeShown(plan);
  const describe = (proposal: Proposal, path: string) => describeProposal(proposal, bodies, path, pages);
  return {
    number: plan.number,
    at: isoTime(plan.at),
    mode,
    observed,
    ...describe({ creates, starts, terminates }, "plan"),
    withheld: withheld === undefined ? undefined : describe(withheld, "plan.withheld"),
    virtual: virtual === undefined ? undefined : describe(virtual, "plan.virtual"),
    bound: describeBound(plan.bound),
    demands: countDemands(plan).demands,
    waitingForNodes: plan.demands.filter((outcome) => outcome.pending > 0).length,
    unmet: pages.cut("plan.unmet", short, describeUnmet, 0.5),
    unmetCount: short.length,
  };
}

/** What new nodes come to at least, in numbers and as a sentence. */
export function describeBound(bound: PlanBound | undefined): LastPlanShown["bound"] {
  if (bound === undefined) return undefined;
  const { unit, amount, least } = bound;
  return { unit, amount, least, gap: amount - least, text: boundText(bound) };
}

function describeUnmet(outcome: DemandOutcome): UnmetShown {
  const { set, id, kind, asked, placed, unit } = outcome;
  return { requestSet: set, id, kind, asked, placed, unit, ...describeWhy(outcome) };
}

/** What a demand lacks and why, as text. The most important reason comes first. */
export function describeWhy(outcome: DemandOutcome): Pick<UnmetShown, "reasons" | "moreReasons" | "binding"> {
  const { moreReasons, binding } = outcome;
  const reasons = reasonsInOrder(outcome);
  return {
    reasons: reasons.map(renderReason),
    moreReasons,
    binding: binding === undefined ? undefined : remedyLine(binding, reasons),
  };
}

/** Changes that a plan makes or withholds. `path`: where its lists are in the answer. */
export function describeProposal(
  { creates, starts, terminates }: Proposal,
  bodies: Bodies,
  path: string,
  pages: Pages,
): ProposalShown {
  const nameOf = (id: NodeId): string =>
    bodies.ledger.get(id)?.name ??
    bodies.virtual?.nodes.find(({ node }) => node.nodeId === id)?.node.name ??
    id;
  return {
    creates: pages.cut(`${path}.creates`, creates, describeCreate, 0.1),
    starts: pages.cut(`${path}.starts`, starts, nameOf, 0.1),
    terminates: pages.cut(`${path}.terminates`, terminates, nameOf, 0.1),
  };
}

export function describeCreate({ bucket, count, purpose }: CreateSet): CreateShown {
  return { bucket: bucketText(bucket), count, countsFor: arrayShown(purpose, bucket.array) };
}

export type Explained = DemandExplained | NodeExplained | HostExplained;

/** The answer about a demand, a node or a host. `counts`: those of a past plan. */
export function describeExplanation(
  cluster: ClusterName,
  plan: Plan,
  explained: Explained,
  { counts, ofNow = {} }: { readonly counts?: PlanCounts; readonly ofNow?: OfNow } = {},
): ExplanationShown {
  const { mode, observed } = modeShown(plan);
  const shared = {
    cluster,
    plan: plan.number,
    planAt: isoTime(plan.at),
    mode,
    observed,
    counts: counts && { ...counts, bound: describeBound(counts.bound) },
  };
  return explained.kind === "demand"
    ? { ...shared, ...describeDemand(explained, ofNow) }
    : explained.kind === "node"
      ? { ...shared, ...explained, history: undefined }
      : { ...shared, ...explained };
}

/** What is known of a demand beside the plan. Nothing for the time of a past plan. */
export interface OfNow {
  readonly expectedReadyAt?: Instant | undefined;
  readonly metadata?: JobDemand["metadata"] | undefined;
  /** The same in sentences. */
  readonly lines?: readonly string[];
}

/** Its members are named, though a group may be absent. */
const bucketShown = (bucket: BucketKey | undefined): BucketKeyShown | undefined =>
  bucket && { ...bucket, placementGroup: bucket.placementGroup };

type DemandShown = Omit<
  DemandExplanationShown,
  "cluster" | "plan" | "planAt" | "mode" | "observed" | "counts"
>;

function describeDemand(
  { text, ...explained }: DemandExplained,
  { expectedReadyAt, metadata, lines = [] }: OfNow,
): DemandShown {
  return {
    ...explained,
    places: explained.places.map((place) => ({
      ...place,
      bucket: bucketShown(place.bucket),
    })),
    expectedReadyAt: isoTime(expectedReadyAt),
    metadata,
    text: [text, ...lines].join("\n"),
  };
}
