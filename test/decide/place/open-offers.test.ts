import { describe, expect, test } from "vitest";
import { Bins } from "../../../src/decide/bins/bins.ts";
import { readEntry } from "../../../src/decide/bins/entry.ts";
import { JobClasses } from "../../../src/decide/bins/job-classes.ts";
import { Ground } from "../../../src/decide/bins/node-kinds.ts";
import { orderNodes } from "../../../src/decide/bins/node-order.ts";
import { Budget, PLAN_STEPS } from "../../../src/decide/constraints/budget.ts";
import type { Draft } from "../../../src/decide/draft/draft.ts";
import { beginDraft, startOf } from "../../../src/decide/draft/draft.ts";
import { groupKey, nameGroup } from "../../../src/decide/draft/group-names.ts";
import { noteScaleSet } from "../../../src/decide/draft/scale-set.ts";
import { openOffers } from "../../../src/decide/place/offers.ts";
import { Scopes } from "../../../src/decide/search/problem.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import type { Constraint } from "../../../src/domain/constraint.ts";
import { placementGroup } from "../../../src/domain/ids.ts";
import type { BucketOffer } from "../../../src/domain/world.ts";
import { needing } from "../../support/build-constraints.ts";
import { job, now, offer, policy, world } from "../../support/build-world.ts";

/** Two buckets of one array, and what is open to a job in several tries of one plan. */
function beginPlan(more: Partial<BucketOffer>, constraints: readonly Constraint[]) {
  const first = offer("execute/D4", 4, { 0: 1 }, { maxPlacementGroupSize: 16, ...more });
  const buckets = [first, offer("execute/D8", 8, { 0: 1 }, { maxPlacementGroupSize: 16 })];
  const cluster = world({ buckets });
  const ground = new Ground(cluster, new Map([["ncpus", 1]]), new Budget(PLAN_STEPS, 1));
  const shared = { left: new Map<string, number>(), values: new Map<string, string>() };
  const classes = new JobClasses(ground, shared, "allow");
  const demand = job("a", { constraints: [...needing({ ncpus: 1 }), ...constraints] });
  const entry = readEntry(demand, 0, classes);
  if (entry.kind !== "job") throw new Error("this is a job");
  const scope = new Scopes(ground).of(entry);
  const start = startOf(cluster);
  const begin = (): Draft => {
    const bins = new Bins(ground, orderNodes(ground), new Map(), [0]);
    return beginDraft(bins, { policy, now, start }, { order: "rank", opening: "own" });
  };
  const find = (draft: Draft, grouped: boolean) => openOffers(draft, entry, scope, grouped);
  const open = (draft: Draft, grouped: boolean): readonly string[] =>
    find(draft, grouped).all.map((one) => bucketText(one.offer.bucket));
  return { first, begin, find, open };
}

/** Takes the first group that is made for it in the array's D4 bucket, and no other. */
const FIRST_GROUP: Constraint = {
  kind: "property-choice",
  property: "placement_group",
  choices: ["pg-execute-D4-1"],
};

describe("a try that has named a group finds other offers than one that has not, whichever comes first", () => {
  const plan = () => beginPlan({}, [FIRST_GROUP]);
  const openOnceNamed = ({ first, begin, open }: ReturnType<typeof plan>): readonly string[] => {
    const draft = begin();
    nameGroup(draft, groupKey(first));
    return open(draft, true);
  };

  test("the one with a group first", () => {
    const tries = plan();
    expect(openOnceNamed(tries)).toEqual([]);
    expect(tries.open(tries.begin(), true)).toEqual(["execute/D4"]);
  });

  test("the one without a group first", () => {
    const tries = plan();
    expect(tries.open(tries.begin(), true)).toEqual(["execute/D4"]);
    expect(openOnceNamed(tries)).toEqual([]);
    expect(tries.open(tries.begin(), true)).toEqual(["execute/D4"]);
  });
});

describe("a try that has filled the array's own group with other nodes finds other offers, whichever comes first", () => {
  const plan = () => beginPlan({ pinnedGroup: placementGroup("rack") }, []);
  const openOnceFilled = ({ first, begin, open }: ReturnType<typeof plan>): readonly string[] => {
    const draft = begin();
    draft.capacity.take(first, placementGroup("rack"), 1);
    noteScaleSet(draft.scaleSets, first, placementGroup("rack"), { Interruptible: "true" });
    return open(draft, false);
  };

  test("the one with the other nodes first", () => {
    const tries = plan();
    expect(openOnceFilled(tries)).toEqual(["execute/D8"]);
    expect(tries.open(tries.begin(), false)).toEqual(["execute/D4", "execute/D8"]);
  });

  test("the one without them first", () => {
    const tries = plan();
    expect(tries.open(tries.begin(), false)).toEqual(["execute/D4", "execute/D8"]);
    expect(openOnceFilled(tries)).toEqual(["execute/D8"]);
  });
});

test("what every try finds alike is found once", () => {
  const { first, begin, find } = beginPlan({}, []);
  const [one, other] = [begin(), begin()];
  expect(find(other, true)).toBe(find(one, true));
  nameGroup(other, groupKey(first));
  expect(find(other, false)).toBe(find(one, false));
});
