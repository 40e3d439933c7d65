import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../src/local/ports.ts";
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

/** Of the small tasks one is due in an hour, which is later than a node takes to boot. */
const COUNT = `
import json, sys, time
import redis
import demand, tasks

client = redis.Redis.from_url(tasks.BROKER, decode_responses=True)
for _ in range(100):
    try:
        client.ping()
        break
    except redis.ConnectionError:
        time.sleep(0.1)
tasks.small.apply_async(countdown=3600)
tasks.small.apply_async(countdown=60)
tasks.small.apply_async(priority=9)
tasks.small.delay()
tasks.large.delay()
waiting = demand.count_tasks(client)
with tasks.app.connection_for_read() as connection:
    queue = connection.SimpleQueue(next(one for one in tasks.app.conf.task_queues if one.name == "large"))
    queue.get(timeout=10)
    taken = demand.count_tasks(client)
    print(json.dumps([waiting, taken, client.llen("large")]))
`;

test("what waits, at any priority, what is taken, and what has an eta within the boot time is counted", async () => {
  const port = await freePort();
  const redis = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", ""]);
  onTestFinished(async () => {
    redis.kill();
    await once(redis, "exit");
  });
  const { stdout } = await run("node_modules/.cache/celery/bin/python3", ["-c", COUNT], {
    cwd: ROOT,
    env: { BROKER: `redis://127.0.0.1:${port}/0`, PYTHONPATH: "examples/celery:src/client/python" },
  });
  expect(JSON.parse(stdout)).toEqual([{ small: 3, large: 1 }, { small: 3, large: 1 }, 0]);
});
