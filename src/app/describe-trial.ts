import { renderRemedy } from "../domain/remedy.ts";
import { reasonsInOrder } from "../domain/reasons-in-order.ts";
import { spotIn } from "../domain/attributes.ts";
import { bucketText } from "../domain/bucket.ts";
import type { Snapshot } from "../domain/cluster.ts";
import type { ClusterName, NodeId } from "../domain/ids.ts";
import type { Mode } from "../domain/mode.ts";
import type { DemandOutcome, Plan } from "../domain/plan.ts";
import { proposalOf } from "../domain/plan.ts";
import type { Policy } from "../domain/policy.ts";
import { findPrice } from "../domain/price.ts";
import { renderReason } from "../domain/reason-text.ts";
import type { CreateSet } from "../domain/intent.ts";
import type { Ledger } from "../domain/ledger.ts";
import { firstBytes } from "./pages.ts";

/** A plan that is not carried out, with its inputs. */
export interface TriedPlan {
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly snapshot: Snapshot;
  readonly policy: Policy;
}

export interface TrialAnswer {
  readonly cluster: ClusterName;
  /** The observation on which both plans are made. */
  readonly lookedAt: string;
  /** Currency of the prices that both plans use. Absent: there are none. */
  readonly currency?: string;
  /**
   * False: the mode is observe, or the cluster is not started. The plan shown would then not be carried out. Nothing is planned for a
   * cluster that is not started.
   */
  readonly acting: boolean;
  /** For the plan with the changes. */
  readonly mode: Mode;
  /** Node arrays that the plan only observes. Absent: none, or `mode` covers all. */
  readonly observed?: readonly string[];
  readonly plan: DescribedTrial;
  /** The plan without the changes. */
  readonly without: TrialCounts;
  readonly difference: TrialDifference;
}

export interface TrialCounts {
  readonly nodesCreated: number;
  readonly nodesStarted: number;
  readonly demands: number;
  /** Demands that are not completely placed. */
  readonly unmet: number;
  /** Hourly price of the created nodes. Absent: a price is unknown. */
  readonly pricePerHour?: number;
}

export interface DescribedTrial extends TrialCounts {
  readonly creates: readonly TriedCreate[];
  /** Names of deallocated nodes. */
  readonly starts: readonly string[];
  readonly terminates: readonly string[];
  /** Unmet demands first, then by rank; the first {@link MOST_DEMANDS}, up to {@link MOST_BYTES}. */
  readonly outcomes: readonly TriedOutcome[];
}

export interface TriedCreate {
  readonly nodearray: string;
  readonly machineType: string;
  readonly placementGroup?: string;
  readonly count: number;
}

export interface TriedOutcome extends Pick<
  DemandOutcome,
  "id" | "kind" | "unit" | "asked" | "placed" | "pending" | "moreReasons"
> {
  readonly requestSet: string;
  readonly unmet: number;
  readonly reasons: readonly string[];
  readonly binding?: string;
}

/** The effect of the changes. Counts are the difference: with the changes minus without. */
export interface TrialDifference {
  readonly nodesCreated: number;
  readonly pricePerHour?: number;
  readonly creates: readonly TriedCreate[];
  /** Deallocated nodes that are started only with the changes, and only without them. */
  readonly started: readonly string[];
  readonly notStarted: readonly string[];
  /** Demands for which the asked or placed amount differs, by rank; the first {@link MOST_DEMANDS}. */
  readonly demands: readonly ChangedDemand[];
  readonly demandCount: number;
}

export interface ChangedDemand {
  readonly requestSet: string;
  readonly id: string;
  readonly unit: DemandOutcome["unit"];
  readonly asked: number;
  readonly placed: number;
  readonly askedWithout: number;
  readonly placedWithout: number;
}

const MOST_DEMANDS = 1000;
/** For each list: an answer stays below 2 MiB. */
const MOST_BYTES = 500_000;
/** Maximum number of nodes named. Of others only the number is shown. */
const MOST_NAMES = 2000;
const NAME_BYTES = 60_000;

export function countTrial(tried: TriedPlan): TrialCounts {
  const { plan } = tried;
  const { creates, starts } = proposalOf(plan);
  const price = priceOf(tried);
  return {
    nodesCreated: nodesIn(creates),
    nodesStarted: starts.length,
    demands: plan.demands.length,
    unmet: plan.demands.filter(isShort).length,
    ...(price === undefined ? {} : { pricePerHour: price }),
  };
}

export function describeTrial(tried: TriedPlan): DescribedTrial {
  const { plan, ledger } = tried;
  const short = plan.demands.filter(isShort);
  const placed = plan.demands.filter((outcome) => !isShort(outcome));
  const { creates, starts, terminates } = proposalOf(plan);
  return {
    ...countTrial(tried),
    creates: [...byBucket(creates).values()],
    starts: namesOf(starts, ledger),
    terminates: namesOf(terminates, ledger),
    outcomes: firstBytes([...short, ...placed].slice(0, MOST_DEMANDS).map(describeOutcome), MOST_BYTES),
  };
}

const isShort = ({ placed, asked }: DemandOutcome): boolean => placed < asked;

function describeOutcome(outcome: DemandOutcome): TriedOutcome {
  const { set, id, kind, unit, asked, placed, pending, moreReasons, binding } = outcome;
  return {
    requestSet: set,
    id,
    kind,
    unit,
    asked,
    placed,
    pending,
    unmet: asked - placed,
    reasons: reasonsInOrder(outcome).map(renderReason),
    ...(moreReasons === undefined ? {} : { moreReasons }),
    ...(binding === undefined ? {} : { binding: renderRemedy(binding) }),
  };
}

export function compareTrials(without: TriedPlan, tried: TriedPlan): TrialDifference {
  const [before, after] = [proposalOf(without.plan), proposalOf(tried.plan)];
  const started = new Set(after.starts);
  const startedBefore = new Set(before.starts);
  const changed = changedDemands(without.plan, tried.plan);
  const [price, priceBefore] = [priceOf(tried), priceOf(without)];
  return {
    nodesCreated: nodesIn(after.creates) - nodesIn(before.creates),
    ...(price === undefined || priceBefore === undefined
      ? {}
      : { pricePerHour: rounded(price - priceBefore) }),
    creates: subtract(byBucket(after.creates), byBucket(before.creates)),
    started: namesOf(
      [...started].filter((node) => !startedBefore.has(node)),
      tried.ledger,
    ),
    notStarted: namesOf(
      [...startedBefore].filter((node) => !started.has(node)),
      without.ledger,
    ),
    demands: firstBytes(changed.slice(0, MOST_DEMANDS), MOST_BYTES),
    demandCount: changed.length,
  };
}

/** A demand that is in only one of the plans is asked and placed 0 in the other. */
function changedDemands(before: Plan, after: Plan): readonly ChangedDemand[] {
  const key = ({ set, id }: DemandOutcome): string => JSON.stringify([set, id]);
  const known = new Map(before.demands.map((outcome) => [key(outcome), outcome]));
  const changed = after.demands.map((outcome) => {
    const then = known.get(key(outcome));
    known.delete(key(outcome));
    return changeOf(outcome, outcome, then);
  });
  const gone = [...known.values()].map((outcome) => changeOf(outcome, undefined, outcome));
  return [...changed, ...gone].filter(
    ({ asked, placed, askedWithout, placedWithout }) => asked !== askedWithout || placed !== placedWithout,
  );
}

function changeOf(
  { set, id, unit }: DemandOutcome,
  after: DemandOutcome | undefined,
  before: DemandOutcome | undefined,
): ChangedDemand {
  return {
    requestSet: set,
    id,
    unit,
    asked: after?.asked ?? 0,
    placed: after?.placed ?? 0,
    askedWithout: before?.asked ?? 0,
    placedWithout: before?.placed ?? 0,
  };
}

// ---------------------------------------------------------------- creates

const nodesIn = (creates: readonly CreateSet[]): number => creates.reduce((sum, { count }) => sum + count, 0);

/** Creates of one bucket may be for several purposes. */
function byBucket(creates: readonly CreateSet[]): ReadonlyMap<string, TriedCreate> {
  const rows = new Map<string, TriedCreate>();
  for (const { bucket, count } of creates) {
    const { array, ...place } = bucket;
    const key = bucketText(bucket);
    const sum = (rows.get(key)?.count ?? 0) + count;
    rows.set(key, { nodearray: array, ...place, count: sum });
  }
  return rows;
}

function subtract(
  after: ReadonlyMap<string, TriedCreate>,
  before: ReadonlyMap<string, TriedCreate>,
): readonly TriedCreate[] {
  const rows = new Map(after);
  for (const [key, row] of before) {
    rows.set(key, { ...row, count: (after.get(key)?.count ?? 0) - row.count });
  }
  return [...rows.values()].filter(({ count }) => count !== 0);
}

/** Hourly price of the new nodes. Undefined unless all their prices are known. */
function priceOf({ plan, snapshot, policy }: TriedPlan): number | undefined {
  const { prices } = policy;
  if (prices === undefined) return undefined;
  let total = 0;
  for (const { bucket, count, attributes } of proposalOf(plan).creates) {
    const array = snapshot.arrays.find(({ name }) => name === bucket.array);
    const spot = spotIn(attributes) ?? array?.spot === true;
    const price = findPrice(prices, array?.region, bucket.machineType, spot);
    if (price === undefined) return undefined;
    total += price * count;
  }
  return rounded(total);
}

/** Sums of prices are not exact. They are rounded to a millionth. */
const rounded = (price: number): number => Math.round(price * 1e6) / 1e6;

function namesOf(nodes: readonly NodeId[], ledger: Ledger): readonly string[] {
  const names = nodes.slice(0, MOST_NAMES).map((id) => ledger.get(id)?.name ?? id);
  return firstBytes(names, NAME_BYTES);
}
