import { expect, test } from "vitest";
import { readHouse, unusedExports } from "./figures.ts";
import { readSources, readTests } from "./imports.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/** What only tests use, and is worth it: lists that pages and other readers are compared with, and rules with a test of their own. */
const FOR_TESTS: readonly string[] = [
  "functions/config.ts#callerOf",
  "functions/config.ts#readHeld",
  "functions/config.ts#storeConfig",
  "functions/request-sets.ts#putRequestSet",
  "src/adapters/cyclecloud/cyclecloud.ts#nodeAttributesOf",
  "src/adapters/cyclecloud/read-nodearray.ts#readQuotas",
  "src/adapters/tables/bodies.ts#inParallel",
  "src/app/demand/note-demand.ts#noteDemand",
  "src/app/describe/describe-cluster.ts#describeState",
  "src/app/describe/describe-nodearrays.ts#describeArrayUse",
  "src/app/effects/effects.ts#knowsRequest",
  "src/app/reconcile/conclude-observation.ts#tryVirtualFleet",
  "src/app/tick.ts#historyRow",
  "src/decide/bucket-order/bucket-list.ts#generateGroups",
  "src/decide/draft/refusals.ts#capRefusal",
  "src/decide/draft/refusals.ts#spotRefusal",
  "src/decide/need/weigh.ts#storeLoads",
  "src/decide/place/groups.ts#withGroupId",
  "src/decide/search/allocate.ts#byRank",
  "src/decide/virtual/compare.ts#addObservation",
  "src/decide/what-if/raise-limits.ts#changeLimit",
  "src/decide/why/remedy.ts#smallestRaise",
  "src/decide/world/cluster-buckets.ts#viewBucket",
  "src/decide/world/cluster-buckets.ts#viewNode",
  "src/domain/default-resource.ts#LIBRARY_DEFAULTS",
  "src/domain/node-standing.ts#WORTH",
  "src/domain/roles.ts#FUNCTIONS",
  "src/domain/vm-size-data.ts#KNOWN_VM_SIZES",
  "src/local/host/http-trigger.ts#parseRoute",
  "src/local/workload/backfill.ts#reserveForHead",
  "src/local/workload/lublin.ts#lublinParametersFor",
  "src/local/workload/lublin.ts#weighBuckets",
  "src/simulator/manage.ts#readFilter",
  "src/wire/api/cluster-answer.ts#trouble",
  "src/wire/message/demand-message.ts#readDemandMessage",
  "src/wire/message/job-constraints.ts#readJobConstraints",
  "src/wire/message/job.ts#JOB_KEYS",
  "src/wire/message/scheduler-node.ts#HOST_KEYS",
  "src/wire/policy/policy.ts#OWN_KEYS",
];

const sources = readSources(ROOT);
const product = readHouse(sources.filter(({ path }) => !path.startsWith("infra/")));
const all = readHouse(sources);

test("an export that only tests use is listed here; the list only gets shorter", () => {
  expect(unusedExports(product, [all]).toSorted()).toEqual(FOR_TESTS);
});

test("every export has a user", () => {
  expect(unusedExports(product, [all, readHouse(readTests(ROOT))])).toEqual([]);
});
