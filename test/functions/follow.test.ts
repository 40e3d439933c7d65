import { afterAll, beforeAll, expect, test } from "vitest";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { runCommand } from "../cli/run-command.ts";
import { paced } from "../support/patience.ts";

/** Notes, waiting, what was rejected and the end of a set, with the functions and a simulated CycleCloud. */

let app: LocalApp;
beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod"], speed: paced(60) });
});
afterAll(() => app.close());

const patiently = { interval: 100 };

const run = (words: string, files?: Parameters<typeof runCommand>[1]) =>
  runCommand([...words.split(" "), "-c", "prod", "--url", app.host.url, "--key", app.host.keys.host], files);

test("set --wait ends when the nodes are Ready", async () => {
  const waited = await run("set --name execute --instancecount 2 --expiration-interval 86400 --wait");
  expect(waited).toMatchObject({ code: 0, out: "met: 2 of 2 nodes ready" });
  expect(waited.err.split("\n")[0]).toMatch(
    /^accepted: request set standard, valid until .*; asks for 1 node array$/,
  );
  const state = await app.call("GET", "/api/clusters/prod");
  expect(state.body).toMatchObject({ nodes: { list: [{ verdict: "needed" }, { verdict: "needed" }] } });
});

test("by the queue, where nobody answers, the app is asked all the same", async () => {
  const words = "set -s queued --name other --instancecount 1 --expiration-interval 86400 --wait --queue";
  const waited = await runCommand([
    ...words.split(" "),
    app.azurite.connectionString,
    "-c",
    "prod",
    "--url",
    app.host.url,
    "--key",
    app.host.keys.host,
  ]);
  expect(waited).toMatchObject({ code: 0, out: "met: 1 of 1 nodes ready" });
  expect(waited.err).toMatch(/^sent to the queue/);
});

test("set --wait of more than there can be: the reason, and 1", async () => {
  const waited = await run("set -s more --name execute --instancecount 11 --wait");
  expect(waited.code).toBe(1);
  // Ten nodes are the array's limit.
  expect(waited.out).toMatch(/^unmet: .* of 11 nodes ready.*\n {2}nodearray:execute has 10 of 11 nodes: /);
});

test("notes: a cut interval, an unknown node array, more than the limit, what the set asked for before", async () => {
  const list = [
    { Name: "nosuch", TargetCount: 1 },
    { Name: "other", TargetCount: 100_000 },
  ];
  await run("set -s notes --name execute --instancecount 1 --expiration-interval 3600");
  const noted = await run("update -s notes --file - --expiration-interval 999999", { "-": list });
  expect(noted.code).toBe(0);
  expect(noted.err.split("\n")).toEqual([
    "warning: standard input: expirationInterval 999999 s is cut to 86400 s, this cluster's maxExpirationInterval",
    'warning: standard input: node array "nosuch" does not exist in the cluster (known: execute, other)',
    expect.stringMatching(
      /^warning: standard input: node array other: 100000 nodes asked for, node array other has at most 10 \(maxCount\)$/,
    ),
    "warning: standard input: request set notes no longer asks for execute: a message replaces all of its request set",
  ]);
});

test("a rejected job and a rejected message keep their reasons", async () => {
  const bad = { expirationInterval: 86_400, jobs: [{ name: "mem8", iterations: -1 }] };
  expect((await run("push - -s hardq", { "-": bad })).code).toBe(1);
  const why = "jobs[0].iterations: found -1, expected a whole number, 1 or more";
  await expect
    .poll(async () => (await run("explain job mem8")).err, patiently)
    .toBe(`404 Rejected job: job "mem8" could not be read, and is left out: ${why}`);
  expect((await run("demand -s hardq")).out).toContain(`left out: mem8: ${why}`);
  await app.send("demand", '{"version":2,"cluster":"prod"}');
  await expect
    .poll(async () => (await run("rejected")).out, patiently)
    .toMatch(/ prod +standard +version +2 +1$/m);
  expect((await run("rejected")).out).toMatch(
    /^prod +hardq +mem8 +jobs\[0\]\.iterations +-1 +a whole number, 1 or more$/m,
  );
});

test("delete ends a set, and a set that there is not is not made", async () => {
  expect(await run("delete more")).toMatchObject({ code: 0, err: "" });
  expect((await run("demand -s more")).out).toMatch(/^more: lapsed/);
  expect((await run("delete never")).err).toBe(
    '404 Unknown request set: cluster "prod" has no request set "never"',
  );
  expect((await run("demand -s never")).code).toBe(1);
});

test("an older revision: what to do, and both times where clocks differ", async () => {
  const revision = app.clock.now();
  const put = (at: number) =>
    app.call("PUT", "/api/clusters/prod/request-sets/clocks", { version: 1, revision: at, jobs: [] });
  expect((await put(revision + 290_000)).status).toBe(202);
  expect(await put(revision)).toMatchObject({
    status: 409,
    body: {
      detail: expect.stringMatching(
        /which is held: the clock of the sender of the held one is ahead \(held \S+, the app's time is \S+\); send a later revision or none, or use another request set$/,
      ),
    },
  });
});

test("expiresAt in the answer is what is stored, where the configuration allows less", async () => {
  await run("config put -", { "-": { maxExpirationInterval: 600 } });
  // Functions use it within 15 s of their clock.
  const put = () => run("set -s short --name execute --instancecount 1 --expiration-interval 3600");
  await expect
    .poll(async () => (await put()).err, patiently)
    .toContain("expirationInterval 3600 s is cut to 600 s");
  const said = /valid until (\S+);/.exec((await put()).out)?.[1];
  const held = await app.call("GET", "/api/clusters/prod/request-sets/short");
  expect(held.body).toMatchObject({ expiresAt: said });
});
