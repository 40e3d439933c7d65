import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildCli } from "../../infra/build-cli.ts";
import { pretendNode } from "../support/pretend-node.ts";

/** The package with the command and the client, as if it were installed: inside node_modules, where Node strips no types. */

const run = promisify(execFile);
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), "cli-"));
  await buildCli(path.join(scratch, "built"));
  await cp(path.join(scratch, "built"), path.join(scratch, "node_modules/cyclecloud-autoscaler"), {
    recursive: true,
  });
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

test("the command runs, and needs nothing else", async () => {
  const manifest: unknown = JSON.parse(
    await readFile(path.join(scratch, "node_modules/cyclecloud-autoscaler/package.json"), "utf8"),
  );
  expect(manifest).toMatchObject({ bin: { "cyclecloud-autoscaler": "cli.cjs" } });
  expect(manifest).not.toHaveProperty("dependencies");
  const command = path.join(scratch, "node_modules/cyclecloud-autoscaler/cli.cjs");
  const { stdout } = await run(process.execPath, [command, "--help"], { cwd: scratch });
  expect(stdout).toMatch(/^Usage: cyclecloud-autoscaler /);
  const version = await run(process.execPath, [command, "--version"], { cwd: scratch });
  expect(manifest).toMatchObject({ version: version.stdout.trim() });
  // compose and all adapters, which only this command loads.
  await expect(run(process.execPath, [command, "check"], { cwd: scratch, env: {} })).rejects.toMatchObject({
    code: 2,
    stderr:
      "the environment: AUTOSCALER_CLUSTERS: found nothing, expected a JSON list of clusters; [] for none\n",
  });
});

test("a Node that is too old is told in one sentence, by the command and by the client", async () => {
  const folder = path.join(scratch, "node_modules/cyclecloud-autoscaler");
  const old = pretendNode("20.20.2");
  const sentence = "Node 20.20.2 is too old: cyclecloud-autoscaler needs Node 22.19 or newer.";
  await expect(run(process.execPath, [...old, path.join(folder, "cli.cjs"), "status"])).rejects.toMatchObject(
    { code: 1, stdout: "", stderr: `${sentence}\n` },
  );
  await expect(run(process.execPath, [...old, path.join(folder, "client.cjs")])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`\nError: ${sentence}\n`),
  });
});

test("an error that a script does not catch begins with a line or two, and not with the whole client", async () => {
  const script = `require("cyclecloud-autoscaler/client").openApi({ url: "http://127.0.0.1:2", key: "k" }).state("prod");`;
  await writeFile(path.join(scratch, "uncaught.cjs"), script);
  const { stderr } = await run(process.execPath, ["uncaught.cjs"], { cwd: scratch }).catch(
    (error: { readonly stderr: string }) => error,
  );
  const [before = "", after] = stderr.split("AutoscalerError: no answer from http://127.0.0.1:2");
  expect(after).toBeDefined();
  expect(before.length).toBeLessThan(1500);
});

test("it can be published: licence and readme are in it, and it is not private", async () => {
  const folder = path.join(scratch, "node_modules/cyclecloud-autoscaler");
  expect((await readdir(folder)).toSorted()).toEqual([
    "LICENSE",
    "README.md",
    "THIRD-PARTY-LICENSES.txt",
    "cli.cjs",
    "client.cjs",
    "cyclecloud-slurm",
    "package.json",
    "python",
    "types",
  ]);
  expect((await readdir(path.join(folder, "python"), { recursive: true })).toSorted()).toEqual([
    "cyclecloud_autoscaler.py",
    "cyclecloud_autostop.py",
    "jetpack",
    "jetpack/__init__.py",
    "jetpack/autoscale.py",
  ]);
  const manifest: unknown = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  expect(manifest).toMatchObject({ license: "MIT" });
  expect(manifest).not.toHaveProperty("private");
  expect(await readFile(path.join(folder, "LICENSE"), "utf8")).toMatch(/^MIT License\n/);
  const licenses = await readFile(path.join(folder, "THIRD-PARTY-LICENSES.txt"), "utf8");
  for (const name of ["commander", "undici"])
    expect(licenses).toMatch(new RegExp(`^${name} \\S+ \\(MIT\\)\\n\\n(?:.*\\n)*?Copyright`, "m"));
  expect(await readFile(path.join(folder, "README.md"), "utf8")).toMatch(/^# cyclecloud-autoscaler\n/);
});

test("the client is imported by its name, with its types", async () => {
  const script = `
    import { AutoscalerError, openApi, targetOf, updateOf } from "cyclecloud-autoscaler/client";
    import type { Cluster } from "cyclecloud-autoscaler/client";
    const message = updateOf({ cluster: "prod" }, targetOf({ name: "execute", corecount: 8 }));
    const healthy = ({ health }: Cluster): boolean => health.ok;
    const text: string = await openApi({ url: "http://127.0.0.1:2", key: "k" })
      .state("prod")
      .then((state) => String(healthy(state)))
      .catch((error: unknown) => (error instanceof AutoscalerError ? error.message : "?"));
    console.log(JSON.stringify(message), text);
  `;
  await writeFile(path.join(scratch, "script.mts"), script);
  const { stdout } = await run(process.execPath, ["script.mts"], { cwd: scratch });
  expect(stdout).toBe(
    '{"version":1,"cluster":"prod","nodearrays":{"Name":"execute","TargetCoreCount":8}} no answer from http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2\n',
  );
  const tsc = new URL("../../node_modules/typescript/bin/tsc", import.meta.url).pathname;
  const types = new URL("../../node_modules/@types", import.meta.url).pathname;
  // Of the declarations only the package's own and Node's are checked, not TypeScript's.
  const strict = ["--noEmit", "--strict", "--skipDefaultLibCheck", "--module", "nodenext"];
  const node = ["--types", "node", "--typeRoots", types];
  await run(process.execPath, [tsc, ...strict, ...node, "script.mts"], { cwd: scratch });
});
