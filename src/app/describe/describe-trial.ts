import { spotIn } from "../../domain/attributes.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { DemandOutcome, Plan } from "../../domain/plan.ts";
import { countDemands, isShort, proposalOf } from "../../domain/plan.ts";
import type { Policy } from "../../domain/policy.ts";
import { findPrice } from "../../domain/price.ts";
import type { CreateSet } from "../../domain/intent.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type {
  ChangedDemandShown,
  TrialCountsShown,
  TrialCreateShown,
  TrialDifferenceShown,
  TrialPlanShown,
} from "../../wire/api/trial-answer.ts";
import { describeBound, describeWhy } from "./describe-plan.ts";
import { firstBytes } from "./pages.ts";
import type { Bytes } from "../../domain/units.ts";

/** A plan that is not carried out, with its inputs. */
interface TriedPlan {
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly snapshot: Snapshot;
  readonly policy: Policy;
}

/** Maximum number of demands in each list: unmet ones first, then by rank. */
const MOST_DEMANDS = 1000;
/** For each list: an answer stays below 2 MiB. */
const MOST_BYTES: Bytes = 500_000;
/** Maximum number of nodes named. Of others only the number is shown. */
const MOST_NAMES = 2000;
const NAME_BYTES: Bytes = 60_000;

/** A plan in numbers. The price is undefined if a price is unknown. */
export function countTrial(tried: TriedPlan): TrialCountsShown {
  const { plan } = tried;
  const { creates, starts } = proposalOf(plan);
  const price = priceOf(tried);
  return {
    nodesCreated: nodesIn(creates),
    nodesStarted: starts.length,
    ...countDemands(plan),
    pricePerHour: price,
    bound: describeBound(plan.bound),
  };
}

/** What a plan would do, and what it would leave unmet. */
export function describeTrial(tried: TriedPlan): TrialPlanShown {
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

function describeOutcome(outcome: DemandOutcome): TrialPlanShown["outcomes"][number] {
  const { set, id, kind, unit, asked, placed, pending } = outcome;
  return {
    requestSet: set,
    id,
    kind,
    unit,
    asked,
    placed,
    pending,
    unmet: asked - placed,
    ...describeWhy(outcome),
  };
}

/** The effect of the changes: with the changes minus without. Demands that differ are listed by rank. */
export function compareTrials(without: TriedPlan, tried: TriedPlan): TrialDifferenceShown {
  const [before, after] = [proposalOf(without.plan), proposalOf(tried.plan)];
  const started = new Set(after.starts);
  const startedBefore = new Set(before.starts);
  const changed = changedDemands(without.plan, tried.plan);
  const [price, priceBefore] = [priceOf(tried), priceOf(without)];
  return {
    nodesCreated: nodesIn(after.creates) - nodesIn(before.creates),
    pricePerHour: price === undefined || priceBefore === undefined ? undefined : rounded(price - priceBefore),
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
function changedDemands(before: Plan, after: Plan): readonly ChangedDemandShown[] {
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
): ChangedDemandShown {
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

const nodesIn = (creates: readonly CreateSet[]): number => creates.reduce((sum, { count }) => sum + count, 0);

/** Creates of one bucket may be for several purposes. */
function byBucket(creates: readonly CreateSet[]): ReadonlyMap<string, TrialCreateShown> {
  const rows = new Map<string, TrialCreateShown>();
  for (const { bucket, count } of creates) {
    const { array, machineType, placementGroup } = bucket;
    const key = bucketText(bucket);
    const sum = (rows.get(key)?.count ?? 0) + count;
    rows.set(key, { nodearray: array, machineType, placementGroup, count: sum });
  }
  return rows;
}

function subtract(
  after: ReadonlyMap<string, TrialCreateShown>,
  before: ReadonlyMap<string, TrialCreateShown>,
): readonly TrialCreateShown[] {
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
    const price = findPrice(prices, array?.region, bucket.machineType, { spot });
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
