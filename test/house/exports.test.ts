import { expect, test } from "vitest";
import { readHouse, unusedExports } from "./figures.ts";
import { readSources, readTests } from "./imports.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/** What only tests use, and is worth it: lists that pages and other readers are compared with, and rules with a test of their own. */
const FOR_TESTS: readonly string[] = [
  "functions/config.ts#callerOf",
  "functions/config.ts#putConfig",
  "functions/request-sets.ts#putRequestSet",
  "src/adapters/tables/bodies.ts#inParallel",
  "src/app/demand/note-demand.ts#noteDemand",
  "src/app/describe/describe-cluster.ts#describeState",
  "src/app/effects/effects.ts#knowsRequest",
  "src/app/reconcile/conclude-observation.ts#tryVirtualFleet",
  "src/app/tick.ts#historyRow",
  "src/decide/bucket-order/bucket-list.ts#generateGroups",
  "src/decide/need/weigh.ts#storeLoads",
  "src/decide/virtual/compare.ts#addObservation",
  "src/domain/node-standing.ts#WORTH",
  "src/local/host/http-trigger.ts#parseRoute",
  "src/local/workload/backfill.ts#reserveForHead",
  "src/simulator/manage.ts#readFilter",
  "src/wire/message/demand-message.ts#readDemandMessage",
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
