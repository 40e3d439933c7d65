import type { Flaw } from "./shape.ts";

/*
 * What does not keep the rules of shape.test.ts yet. These lists only shrink: take a line out, or lower a number, when the test says that
 * it is no longer needed.
 */

/** Files of more than 300 lines. */
export const LONG_FILES: readonly string[] = [];

/** Files of the tests of more than 300 lines. */
export const LONG_TEST_FILES: readonly string[] = [
  "test/model/play.ts",
  "test/scenarios/stage.ts",
  "test/simulation/judge.ts",
  "test/simulation/simulate.ts",
];

/** Files of more than 200 lines that do not say why. */
export const LONG_WITHOUT_REASON: readonly string[] = [
  "src/adapters/cyclecloud/cyclecloud.ts",
  "src/adapters/cyclecloud/http-transport.ts",
  "src/adapters/tables/codec.ts",
  "src/adapters/tables/next-index.ts",
  "src/adapters/tables/record-store.ts",
  "src/app/commit.ts",
  "src/app/describe-health.ts",
  "src/app/describe-trial.ts",
  "src/app/describe-troubles.ts",
  "src/app/effects.ts",
  "src/cli/demand-commands.ts",
  "src/config.ts",
  "src/wire/constraint.ts",
  "src/wire/nodearray.ts",
  "src/wire/policy.ts",
  "src/wire/what-if.ts",
];

/** Functions of more than 45 lines. */
export const LONG_FUNCTIONS: readonly string[] = [
  "src/adapters/memory/demand-queue.ts#memoryDemandQueue",
  "src/adapters/queue/demand-queue.ts#storageDemandQueue",
  "src/adapters/tables/bodies.ts#openBodies",
  "src/adapters/tables/record-store.ts#tableRecordStore",
  "src/cli/command-line.ts#runCommandLine",
  "src/cli/config-commands.ts#registerConfigCommands",
  "src/cli/demand-commands.ts#registerDemandCommands",
  "src/cli/explain-commands.ts#registerExplainCommands",
  "src/cli/state-commands.ts#registerStateCommands",
  "src/config.ts#readClusters",
  "src/wire/policy.ts#readPolicy",
];

/** By file, how often each stands there. Of the special values most are texts that are put together, and may be empty. */
export const FLAWS_OF_FILE: Readonly<Record<Flaw, Readonly<Record<string, number>>>> = {
  as: {
    "src/adapters/queue/demand-queue.ts": 1,
    "src/adapters/tables/bodies.ts": 3,
    "src/local/azurite.ts": 5,
  },
  any: {},
  "!": {},
  special: {
    "functions/autostop.ts": 2,
    "functions/explain.ts": 2,
    "functions/for-cluster.ts": 1,
    "functions/queue-message.ts": 1,
    "infra/build-cli.ts": 1,
    "infra/build-package.ts": 1,
    "infra/make-prices.ts": 2,
    "infra/make-vm-sizes.ts": 2,
    "src/adapters/cyclecloud/answer.ts": 1,
    "src/adapters/cyclecloud/read-body.ts": 1,
    "src/adapters/cyclecloud/read-bucket.ts": 1,
    "src/adapters/cyclecloud/read-fields.ts": 1,
    "src/adapters/cyclecloud/read-node.ts": 2,
    "src/adapters/system/service-time.ts": 1,
    "src/adapters/tables/keys.ts": 1,
    "src/adapters/tables/table-calls.ts": 3,
    "src/app/describe-comparison.ts": 1,
    "src/app/pages.ts": 1,
    "src/cli/age.ts": 2,
    "src/cli/autostop-command.ts": 1,
    "src/cli/completion.ts": 4,
    "src/cli/demand-commands.ts": 1,
    "src/cli/environment.ts": 1,
    "src/cli/fold.ts": 1,
    "src/cli/progress.ts": 2,
    "src/cli/render-comparison.ts": 2,
    "src/cli/render-demand.ts": 2,
    "src/cli/render-dry-run.ts": 2,
    "src/cli/render-history.ts": 4,
    "src/cli/render-nodes.ts": 3,
    "src/cli/render-status.ts": 2,
    "src/cli/simulated-time.ts": 1,
    "src/cli/verify/app-checks.ts": 1,
    "src/cli/verify/deployment.ts": 1,
    "src/cli/verify/run-checks.ts": 1,
    "src/cli/wait.ts": 1,
    "src/compose/open-site.ts": 2,
    "src/config.ts": 2,
    "src/decide/bins/constraint-key.ts": 1,
    "src/decide/bins/job-ask.ts": 1,
    "src/decide/bins/node-kinds.ts": 2,
    "src/decide/bins/node-order.ts": 3,
    "src/decide/bins/resource-columns.ts": 1,
    "src/decide/bucket-order/order-of-use.ts": 1,
    "src/decide/change-limits.ts": 1,
    "src/decide/constraints/default-resources.ts": 2,
    "src/decide/constraints/size-name.ts": 5,
    "src/decide/draft/refusals.ts": 2,
    "src/decide/intents/node-starts.ts": 1,
    "src/decide/need/left-out.ts": 1,
    "src/decide/place/group-members.ts": 4,
    "src/decide/place/groups.ts": 1,
    "src/decide/place/opening.ts": 2,
    "src/decide/record/accept.ts": 2,
    "src/decide/why/fold-reasons.ts": 1,
    "src/decide/why/shared-answers.ts": 1,
    "src/decide/world/ceilings.ts": 1,
    "src/decide/world/node-views.ts": 1,
    "src/domain/difference-text.ts": 2,
    "src/domain/node-verdict.ts": 1,
    "src/domain/reason-text.ts": 1,
    "src/domain/shell-pattern.ts": 1,
    "src/domain/size.ts": 1,
    "src/domain/text.ts": 1,
    "src/local/azurite.ts": 1,
    "src/local/serve.ts": 4,
    "src/local/workload/swf.ts": 6,
    "src/simulator/status.ts": 2,
    "src/wire/api/document.ts": 1,
    "src/wire/digest.ts": 1,
    "src/wire/nodearray.ts": 1,
  },
};
