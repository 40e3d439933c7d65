import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/**
 * Files that take long, those that wait and those that compute by turns. Where no earlier run is remembered, vitest begins with the largest
 * files.
 */
const SLOWEST = [
  "test/docs/quickstart.test.ts",
  "test/local/first-minute.test.ts",
  "test/functions/config.test.ts",
  "test/functions/plan.test.ts",
  "test/local/host/processes.test.ts",
  "test/functions/openapi.test.ts",
  "test/local/trial.test.ts",
  "test/cli/commands.test.ts",
  "test/local/main-real-time.test.ts",
  "test/functions/nodes.test.ts",
  "test/functions/poison.test.ts",
  "test/local/serve.test.ts",
  "test/local/canary.test.ts",
  "test/app/process/lanes.test.ts",
  "test/infra/package.test.ts",
  "test/simulation/lasting.test.ts",
  "test/fuzz/fuzz.test.ts",
  "test/model/model.test.ts",
];

/** Begins with the slowest files, so that none of them is left over when the other worker has nothing to do. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = SLOWEST.findIndex((name) => moduleId.endsWith(name));
      return at === -1 ? SLOWEST.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}
