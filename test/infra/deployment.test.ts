import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cutTypes } from "../../infra/make-resource-types.ts";
import { readConfig } from "../../src/config.ts";
import { AUDITS, readDelivery, runAudit } from "./bicep/audits.ts";
import { parseAll } from "./bicep/check.ts";
import { resourcesOf } from "./bicep/check-types.ts";
import { deploy } from "./bicep/deploy.ts";
import { KEPT } from "./bicep/resource-types.ts";
import { readSources } from "./bicep/sources.ts";
import { seenSettings, VARIANTS } from "./bicep/variants.ts";
import { DATA, readText } from "../support/data.ts";

/** The deployment as it stands in infra/ and azure.yaml. No Bicep compiler runs here: these are checks of our own. */

test.each(Object.keys(AUDITS))("the deployment: %s", (name) => {
  expect(runAudit(name, readDelivery(readSources()))).toEqual([]);
});

test("an app with the settings of a second CycleCloud server, as the page prints them, starts with both", () => {
  const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
  const [, block = ""] = /^ {4}param moreSettings = \{\n((?: {6}.*\n)+) {4}\}$/m.exec(page) ?? [];
  const moreSettings = Object.fromEntries(
    [...block.matchAll(/^ {6}(\w+): '(.*)'$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
  const settings = seenSettings(deploy(readSources(), { ...VARIANTS["plain"], moreSettings }));
  // Azure resolves the reference to the second password, as it does that of the first.
  expect(settings["LAB_PASSWORD"]).toMatch(/^@Microsoft\.KeyVault\(SecretUri=/);
  const { clusters } = readConfig({ ...settings, LAB_PASSWORD: "Pass-of-Lab-1" });
  expect(clusters.map(({ name, url }) => `${name} ${url}`)).toEqual([
    "prod https://10.0.0.4",
    "lab https://10.1.0.4",
  ]);
});

test("the table of resource types has exactly those that infra/ uses", () => {
  const used = [...parseAll(readSources()).parsed.values()].flatMap((declarations) =>
    resourcesOf(declarations).map(({ type }) => type),
  );
  expect(Object.keys(KEPT.resources).toSorted()).toEqual([...new Set(used)].toSorted());
});

test("the kept table of resource types is what the published one gives", () => {
  expect(KEPT).toEqual(cutTypes(readText(`${DATA}azure-types.json.gz`)));
});
