import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "../support/run-main.ts";

/**
 * Real Celery with Redis on nodes of the local system (docs/celery.md). The example says what is missing: redis-server, which is a package of
 * the system. Celery it installs for itself.
 */

const run = promisify(execFile);

const trial = async (...words: readonly string[]): Promise<string> => {
  const { stdout } = await run("python3", ["examples/celery/try.py", ...words], { cwd: ROOT });
  return stdout;
};

test("20 tasks are done within three minutes, and the nodes are gone", async () => {
  expect(await trial("--timeout", "180")).toMatch(
    /^\d\d:\d\d:\d\d 20 tasks, 20 done once; [1-5] nodes at most; all gone after \d+ s$/m,
  );
});

test("200 tasks in two bursts, with a pause in which all nodes go, and a worker that is killed: each is done once", async () => {
  const said = await trial("--tasks", "200", "--bursts", "2", "--kill");
  expect(said).toMatch(/ killing the worker of \S+, which holds [12] tasks$/m);
  expect(said).toMatch(/ 200 tasks, 200 done once; [1-5] nodes at most; all gone after \d+ s$/m);
});
