import { expect, test } from "vitest";
import type { Delivery } from "./bicep/audits.ts";
import { readDelivery, runAudit } from "./bicep/audits.ts";
import { readSources } from "./bicep/sources.ts";
import type { Mistake } from "./planted.ts";
import { MISTAKES_OF_CLOSED_DOORS } from "./planted-closed.ts";
import { MISTAKES_OF_THE_NETWORK } from "./planted-network.ts";
import { MISTAKES_OF_THE_OUTCOME } from "./planted-outcome.ts";
import { MISTAKES_OF_RESOURCES } from "./planted.ts";

/** Each planted mistake turns the check that is made for it red. That all checks are green without them is in deployment.test.ts. */

const MISTAKES = [
  ...MISTAKES_OF_RESOURCES,
  ...MISTAKES_OF_THE_NETWORK,
  ...MISTAKES_OF_THE_OUTCOME,
  ...MISTAKES_OF_CLOSED_DOORS,
];
const good = readDelivery(readSources());

test.each(MISTAKES)("noticed: $name", (mistake) => {
  const problems = runAudit(mistake.check, plant(good, mistake));
  expect(problems).not.toEqual([]);
});

test("there are at least the 25 planted mistakes of the issue, none twice", () => {
  expect(MISTAKES.length).toBeGreaterThanOrEqual(25);
  expect(new Set(MISTAKES.map(({ name }) => name)).size).toBe(MISTAKES.length);
});

function plant(delivery: Delivery, { file, find, replace }: Mistake): Delivery {
  const text = file === "azure.yaml" ? delivery.azureYaml : (delivery.sources.get(file) ?? "");
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`);
  const edited = parts.join(replace);
  if (file === "azure.yaml") return { ...delivery, azureYaml: edited };
  return { ...delivery, sources: new Map([...delivery.sources, [file, edited]]) };
}
