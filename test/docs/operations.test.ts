import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ROOT } from "../support/run-main.ts";

/** Compares the names in docs/operations.md with infra/, package.json and the workflow. */

const read = (path: string): string => readFileSync(`${ROOT}/${path}`, "utf8");
const page = read("docs/operations.md");
const main = read("infra/main.bicep");
const parameterFile = read("infra/main.bicepparam");

const all = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, name = ""]) => name);
const section = (title: string): string => (page.split(`\n${title}\n`)[1] ?? "").split(/\n## /)[0] ?? "";

test("each row of the parameters is a parameter of infra/main.bicep, in the same order", () => {
  const rows = all(section("## Parameters"), /^\| `(\w+)` \|/gm);
  expect(rows).toEqual(all(main, /^param (\w+) /gm));
});

test("each output that is named is an output, and all are named", () => {
  const [sentence = ""] = /^Outputs: [\s\S]*?\n\n/m.exec(page) ?? [];
  expect(all(sentence, /`([A-Z_]+)`/g).toSorted()).toEqual(all(main, /^output (\w+) /gm).toSorted());
});

test("what a person sets for a deployment is what the parameter file reads", () => {
  const steps = section("## First deployment step by step");
  const set = new Set([
    ...all(steps, /\b(CYCLECLOUD_[A-Z_]+)\b/g),
    ...all(steps, /\b(AUTOSCALER_[A-Z]+)=act\b/g),
  ]);
  const readThere = all(parameterFile, /readEnvironmentVariable\('([A-Z_]+)'/g);
  expect([...set].filter((name) => !readThere.includes(name))).toEqual([]);
  expect(set.size).toBeGreaterThanOrEqual(6);
});

test("the scripts of npm that the page runs are there", () => {
  const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(read("package.json"));
  const run = [...all(page, /npm run (\w+)/g), ...all(page, /npm (start|test)\b/g)];
  expect(run.filter((name) => !(name in scripts))).toEqual([]);
});

test("each provider of infra/ is registered in step 1, and Microsoft.App for the network", () => {
  const [, list = ""] = /for provider in ([\w ]+); do/.exec(page) ?? [];
  const used = [
    "main",
    "alerts",
    "app",
    "endpoints",
    "identity",
    "monitoring",
    "network",
    "roles",
    "secrets",
    "storage",
    "vault",
  ]
    .map((name) => read(name === "main" ? "infra/main.bicep" : `infra/modules/${name}.bicep`))
    .flatMap((text) => all(text, /'Microsoft\.(\w+)\/[\w/]+@/g));
  // Microsoft.Authorization is registered in every subscription by default.
  const needed = new Set(["App", ...used.filter((name) => name !== "Authorization")]);
  expect(list.split(" ")).toEqual([...needed].toSorted());
});

test("the workflow runs the README's test command, and the real compiler and linter over both files", () => {
  const workflow = read(".github/workflows/check.yml");
  const [, command = ""] = /^ {4}(npm ci && npm test)\b/m.exec(read("README.md")) ?? [];
  expect(all(workflow, /^ +- run: (.+)$/gm)).toEqual([
    command,
    "apt-get update && apt-get install --yes --no-install-recommends ca-certificates curl git",
    "npm ci && npm run test:schedulers -- --install",
    "az bicep install && az bicep version",
    "az bicep build --file infra/main.bicep --stdout > /dev/null",
    "az bicep lint --file infra/main.bicep",
    "az bicep build-params --file infra/main.bicepparam --stdout > /dev/null",
  ]);
});
