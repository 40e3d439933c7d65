import { execFile, execFileSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { homedir } from "node:os";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { jetpackSuite } from "../python/jetpack-suite.ts";
import { sendingSuite } from "../python/sending-suite.ts";
import { ROOT } from "../support/run-main.ts";

/**
 * The files for Python under the oldest release that they promise and under the newest one here. Those of pyenv and of the system are found
 * by themselves; PYTHONS names others, separated by colons.
 */
const OLDEST = "3.6";
const VITEST = `${ROOT}node_modules/vitest/vitest.mjs`;
const run = promisify(execFile);

const candidates = [
  ...(process.env["PYTHONS"] ?? "").split(":"),
  ...globSync(`${homedir()}/.pyenv/versions/3.*/bin/python3`),
  ...globSync("/usr{,/local}/bin/python3{,.[0-9],.[0-9][0-9]}"),
].filter((path) => path !== "" && existsSync(path));

const releases = candidates
  .map((path) => ({
    path,
    release: execFileSync(path, ["-V"], { encoding: "utf8" }).slice("Python ".length),
  }))
  .toSorted((a, b) => a.release.localeCompare(b.release, "en", { numeric: true }));

const oldest = releases.find(({ release }) => release.startsWith(`${OLDEST}.`));
const newest = releases.at(-1);

test(`Python ${OLDEST} and a later one are here; if not: pyenv install 3.6 3.13, or PYTHONS=/path/to/python3.6:...`, () => {
  expect(oldest).toBeDefined();
  expect(newest).not.toEqual(oldest);
});

for (const { path, release } of [oldest, newest].filter((one) => one !== undefined))
  describe(`Python ${release.trim()}`, () => {
    sendingSuite(path);
    jetpackSuite(path);

    test("the stop script and its binding, in runs of their own", async () => {
      const words = [
        "run",
        "--config",
        "test/vitest.config.ts",
        "test/docs/pbs-scripts.test.ts",
        "test/docs/bind-script.test.ts",
      ];
      const env = { ...process.env, STAGE_PYTHON: path };
      const { stdout } = await run(process.execPath, [VITEST, ...words, "-t", String.raw`\.py`], {
        cwd: ROOT,
        env,
      });
      expect(stdout).toMatch(/Tests .* passed/);
    });
  });
