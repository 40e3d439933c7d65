import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cutTypes } from "../../infra/make-resource-types.ts";
import { AUDITS, readDelivery, runAudit } from "./bicep/audits.ts";
import { parseAll } from "./bicep/check.ts";
import { resourcesOf } from "./bicep/check-types.ts";
import { KEPT } from "./bicep/resource-types.ts";
import { readSources } from "./bicep/sources.ts";

/** The deployment as it stands in infra/ and azure.yaml. No Bicep compiler runs here: these are checks of our own. */

test.each(Object.keys(AUDITS))("the deployment: %s", (name) => {
  expect(runAudit(name, readDelivery(readSources()))).toEqual([]);
});

test("the table of resource types has exactly those that infra/ uses", () => {
  const used = [...parseAll(readSources()).parsed.values()].flatMap((declarations) =>
    resourcesOf(declarations).map(({ type }) => type),
  );
  expect(Object.keys(KEPT.resources).toSorted()).toEqual([...new Set(used)].toSorted());
});

const SHARED = new URL("../../../shared/azure-types/azure-types.json", import.meta.url);

// Where the published table is not at hand, only the kept one can be used: this test says so by being skipped.
test.skipIf(!existsSync(SHARED))(
  "the kept table of resource types is what the published one gives (../shared/azure-types is there)",
  () => {
    expect(KEPT).toEqual(cutTypes(readFileSync(SHARED, "utf8")));
  },
);
