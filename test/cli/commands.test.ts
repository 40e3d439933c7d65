import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { readStopUrl } from "../../src/local/play/stop-url.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import type { CommandEnd, Files } from "./run-command.ts";
import { runCommand } from "./run-command.ts";
import { paced } from "../support/patience.ts";

/** The command line as its users have it, against the functions, Azurite and the simulator. */

let app: LocalApp;
/** Instance id and stop URL of a node that came up, by node array. */
const nodes: {
  readonly instance: string;
  readonly hostname: string;
  readonly callback: string;
  readonly array: string;
}[] = [];

beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod", "two words"], speed: paced(60) });
  app.simulator.onEvent((event) => {
    if (event.kind !== "node-ready") return;
    const callback = readStopUrl(event.configuration);
    // The address in the stop URL is invalid. Its path is one that this host serves.
    if (callback !== undefined)
      nodes.push({
        instance: event.instanceId,
        hostname: event.hostname,
        callback: `${app.host.url}${new URL(callback).pathname}`,
        array: event.array,
      });
  });
});
afterAll(() => app.close());

const patiently = { interval: 250 };

function reach(): readonly string[] {
  return ["--url", app.host.url, "--key", app.host.keys.host];
}

/** A command about the cluster "prod", over HTTP. */
function run(words: string, files?: Files): Promise<CommandEnd> {
  return runCommand([...words.split(" "), "--cluster", "prod", ...reach()], files);
}

const queue = () => ["--cluster", "prod", "--queue", app.azurite.connectionString];

async function outOf(words: string): Promise<string> {
  const { code, out, err } = await run(words);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
}

describe("a session", () => {
  test("set: the nodes come, and every view shows them", async () => {
    const set = await run("set --name execute --corecount 5 --expiration-interval 86400");
    expect(set).toMatchObject({ code: 0, err: "" });
    expect(set.out).toMatch(/^accepted: request set standard, valid until \d{4}-\d\d-\d\dT/);

    await expect.poll(async () => (await run("status")).out, patiently).toContain("nodes      2 ready");
    await expect
      .poll(async () => (await run("status")).out, patiently)
      .toMatch(
        /^prod: healthy, Started \(target Started\), observed \d+ s ago\n( {2}.*\n)*sets {7}1 live\ndemands {4}1: 0 unmet, 0 waiting for nodes\nnodes {6}2 ready\ntimeouts {3}idle 300 s, boot 3600 s\nplan {7}\d+ at \S+ \(act\): nothing to do$/,
      );
    expect(lines(await outOf("nodes"))).toEqual([
      expect.stringMatching(/^NODE +NODEARRAY +SIZE +PHASE +AGE +HOST +BUSY +WHY$/),
      expect.stringMatching(
        /^execute-1 +execute +Standard_F4 +ready .* needed by standard\/nodearray:execute$/,
      ),
      expect.stringMatching(/^execute-2 +execute +Standard_F4 +ready /),
    ]);
    // 10 nodes at most, 2 are there.
    expect(lines(await outOf("buckets")).slice(1)).toEqual([
      expect.stringMatching(/^execute +Standard_F4 +4 +8 +2 +8 +\S/),
      expect.stringMatching(/^other +Standard_F4 +4 +8 +0 +10 +\S/),
    ]);
    expect(await outOf("limits")).toMatch(/^node array execute +2 +10 +8 +nodes$/m);
    expect(await outOf("demand")).toMatch(/^standard +nodearray:execute +5 +5 +0 +0 +cores$/m);
    expect(await outOf("demand -s standard")).toMatch(/^standard: live, 1 demand, until /);
    expect(await outOf("jobs")).toBe("no jobs in the last plan");
    expect(await outOf("explain job nodearray:execute")).toContain("5 of 5 placed");
    expect(await outOf("explain node execute-2")).toContain("needed by standard/nodearray:execute");
    await expect
      .poll(() => outOf("history --limit 1"), patiently)
      .toMatch(/^AT .*\n\d{4}-\S+ +\d+ +2 ready +0 +0 +1 +0 +2 +0(\n|$)/);
  });

  test("explain --plan tells of the plan that made a node, as it was then", async () => {
    await run("set -s more --name execute --instancecount 3 --expiration-interval 86400");
    const told = async () => {
      const [, kept = ""] = /^plans that explain --plan can show: (.*)$/m.exec(await outOf("history")) ?? [];
      const plans = kept === "" ? [] : kept.split(", ");
      const answers = plans.map((plan) => run(`explain job nodearray:execute -s more --plan ${plan}`));
      return (await Promise.all(answers)).map(({ out }) => out).join("\n");
    };
    await expect.poll(told, patiently).toContain("3 of 3 placed, 1 of them waiting for nodes");
    expect((await run("update --file - -s more", { "-": [] })).code).toBe(0);
    expect(await run("explain job nodearray:execute --plan 99999")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^404 Unknown plan: plan 99999 changed nothing, or is not kept any more/),
    });
  });

  test("tick plans now", async () => {
    // A tick is waited for 200 s, which are 3.3 s here: a busy machine may need more, and the next one is asked for.
    await expect
      .poll(() => run("tick"), patiently)
      .toMatchObject({
        code: 0,
        out: expect.stringMatching(/^planned: plan \d+$/),
        err: "",
      });
  });

  test("push: a job that asks for no amount is sent, and named", async () => {
    const message = { jobs: [{ name: "j" }, { name: "k", constraints: { ncpus: 1 } }] };
    const pushed = await run("push jobs.json -s plain", { "jobs.json": message });
    expect(pushed).toMatchObject({
      code: 0,
      err: "warning: jobs.json: job j asks for no amount: one node per slot",
    });
    expect((await run("update --file - -s plain", { "-": [] })).code).toBe(0);
  });

  test("push: jobs are shown with why not; one that cannot be read is named, and the command does not end well", async () => {
    const message = {
      expirationInterval: 86_400,
      jobs: [
        { name: "wide", iterations: 2, constraints: { ncpus: 64 } },
        { name: "bad", iterations: -1 },
      ],
    };
    const pushed = await run("push jobs.json -s jobs", { "jobs.json": message });
    expect(pushed.code).toBe(1);
    expect(pushed.err).toBe(
      'jobs.json: job "bad" is left out: jobs[1].iterations: found -1, expected a whole number, 1 or more',
    );
    await expect
      .poll(async () => (await run("jobs")).out, patiently)
      .toMatch(
        /^jobs +wide +2 +0 +0 +2 +slots +execute\/Standard_F4: ncpus 64 asked of one node, 4 offered$/m,
      );
    await expect
      .poll(async () => lines((await run("status")).out), patiently)
      .toEqual(
        expect.arrayContaining([
          "demands    2: 1 unmet (2 slots missing), 0 waiting for nodes",
          "warning    request set jobs: left out because they could not be read: bad",
          "why        execute/Standard_F4: ncpus 64 asked of one node, 4 offered (jobs/wide)",
          "remedy     no raise of a limit helps: needs 64 ncpus on one node; the largest offered is 4",
          "           (execute/Standard_F4) (jobs/wide)",
        ]),
      );
    expect((await run("explain job wide")).out).toContain("0 of 2 placed");
    expect((await run("demand")).out).toMatch(/^jobs +live +1 +1 +1 +\d{4}/m);
  });

  test("a name that would act on the terminal is shown as its codes, wherever the app names it", async () => {
    const name = "\u001b]0;PWNED\u0007\u001b[31mRED\r\nFAKE: all is well\u202e";
    const shown = "\\u{1b}]0;PWNED\\u{7}\\u{1b}[31mRED\\u{d}\\u{a}FAKE: all is well\\u{202e}";
    const wide = { name, user: name, iterations: 500_000, constraints: { ncpus: 900, never: name } };
    const bad = { name: `${name}2`, iterations: name };
    const message = { expirationInterval: 86_400, jobs: [wide, bad] };
    const pushed = await run("push jobs.json -s evil", { "jobs.json": message });
    expect(pushed.err).toContain(`job "${shown}2" is left out: jobs[1].iterations: found text of `);
    for (const view of ["status", "jobs", "demand -s evil", "demand", "rejected", "plan"]) {
      const said = async () => {
        const { out, err } = await run(view);
        return `${out}\n${err}`;
      };
      if (["status", "jobs", "demand -s evil"].includes(view))
        await expect.poll(said, patiently).toContain(shown);
      expect(await said()).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}|^FAKE/mu);
    }
    const explained = await runCommand(["explain", "job", name, "--cluster", "prod", ...reach()]);
    expect(explained.out).toContain("0 of 500000 placed");
    expect(explained.out).toContain(shown);
    expect(explained.out).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}|^FAKE/mu);
    expect((await run("update --file - -s evil", { "-": [] })).code).toBe(0);
  });

  test("update with an empty list empties the set; the nodes stay until they ask", async () => {
    expect((await run("update --file -", { "-": [] })).code).toBe(0);
    await expect.poll(async () => (await run("demand")).out, patiently).toMatch(/^standard +empty +0/m);
    await expect
      .poll(() => outOf("nodes"), patiently)
      .toMatch(/^execute-1 .* stays: not needed; busy state unknown: no report and no callback yet/m);
  });

  test("autostop: a node that is needed stays with 1, one that is not goes with 0, a wrong token is refused", async () => {
    const [node] = nodes.filter(({ array }) => array === "execute");
    if (node === undefined) throw new Error("no node came up");
    const ask = (callback: string) =>
      runCommand(["autostop", "--callback", callback, "--instance", node.instance]);
    await run("set --name execute --instancecount 3 --expiration-interval 86400");
    await expect.poll(() => outOf("nodes"), patiently).toContain("needed by standard/nodearray:execute");
    // On a busy machine the last observation may be too old to tell for a moment (503).
    await expect
      .poll(async () => (await ask(node.callback)).err, patiently)
      .toMatch(/^409 Needed: .*\nthe node is needed: re-open it in the scheduler$/);
    await expect.poll(async () => (await ask(node.callback)).code, patiently).toBe(1);
    expect(await ask(`${node.callback}x`)).toMatchObject({
      code: 1,
      err: "403 Forbidden: the token is not valid for this cluster",
    });
    await run("set --name execute --instancecount 0");
    await expect
      .poll(async () => ask(node.callback), patiently)
      .toEqual({ code: 0, out: `${node.instance} will be stopped`, err: "" });
    // Marked, asked for, on its way or gone: never "needed" again, though the last plan may have said so.
    const told = (await outOf("nodes")).split("\n").find((line) => line.includes(node.hostname)) ?? "gone";
    expect(told).toMatch(/gone|marked to be stopped|asked CycleCloud to terminate it|is being stopped/);
  });

  test("plan: what would be with other demand and limits, and 1 while something would be unmet; nothing is done", async () => {
    // 10 nodes of 4 cores are the array's limit.
    const extra = { nodearrays: [{ Name: "other", TargetCoreCount: 44 }] };
    const wish = { requestSets: { extra, jobs: null } };
    const short = await run("plan --file wish.json", { "wish.json": wish });
    expect(short).toMatchObject({ code: 1, err: "" });
    expect(lines(short.out)).toContain("create 10 x other/Standard_F4");
    expect(short.out).toMatch(/^unmet: extra\/nodearray:other has 40 of 44 cores\n {2}\S/m);
    // What push takes is the demand of one request set.
    const message = { version: 1, cluster: "prod", requestSet: "extra", revision: 5, ...extra, jobs: [] };
    const pushed = await run("plan --file jobs.json", { "jobs.json": message });
    expect(pushed).toMatchObject({ code: 1, err: "" });
    expect(lines(pushed.out)).toContain("create 10 x other/Standard_F4");
    const limits = [
      { kind: "nodearray", name: "other", unit: "nodes", more: 1 },
      { kind: "bucket", name: "other/Standard_F4", unit: "nodes", more: 1 },
    ];
    const enough = await run("plan --file -", { "-": { ...wish, limits } });
    expect(enough).toMatchObject({ code: 0, err: "" });
    expect(lines(enough.out)).toContain("create 11 x other/Standard_F4");
    const bad = await run("plan --file wish.json", { "wish.json": { ...wish, limit: limits } });
    expect(bad).toMatchObject({ code: 2, out: "" });
    expect(bad.err).toMatch(
      /^400 Bad request: found "limit"; did you mean limits\? Expected one of the keys /,
    );
    expect((await run("demand -s extra")).code).toBe(1);
  });

  test("status without a cluster: all of them, and 1 while one is unhealthy", async () => {
    const healthy = /^CLUSTER +HEALTHY +OBSERVED( +NOTES)?\nprod +yes +\d+ s ago.*\ntwo words +yes /;
    await expect
      .poll(() => runCommand(["status", ...reach()]), patiently)
      .toMatchObject({ code: 0, out: expect.stringMatching(healthy) });
  });
});

describe("by the queue", () => {
  test("set is put into the queue, read from there and acted upon", async () => {
    const words = ["set", "--name", "other", "--instancecount", "1", "-s", "queued"];
    const sent = await runCommand([...words, "--expiration-interval", "86400", ...queue()]);
    expect(sent).toEqual({ code: 0, out: "sent to the queue; it is read within seconds", err: "" });
    app.host.wake("demand");
    await expect
      .poll(async () => (await run("demand")).out, patiently)
      .toMatch(/^queued +nodearray:other +1 +1 +\d +0 +nodes$/m);
  });

  test("nobody answers there, so a message that the app could not read is not sent", async () => {
    const arrays = [{ Name: "execute", TargetCont: 3 }];
    expect(
      await runCommand(["update", "--file", "arrays.json", ...queue()], { "arrays.json": arrays }),
    ).toEqual({
      code: 2,
      out: "",
      err: 'arrays.json: nodearrays[0]: found ["Name","TargetCont"]; did you mean TargetCount? Expected one of TargetCount, TargetCoreCount, TargetGroupCount, NodeNames',
    });
    expect(await app.peek("demand-rejected")).toEqual([]);
  });

  test.each([
    {
      name: "no server: tried, said, and 3",
      queue: "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=YQ==;QueueEndpoint=http://127.0.0.1:2/a",
      code: 3,
      err: "the queue: connect ECONNREFUSED 127.0.0.1:2",
    },
    {
      name: "an address without TLS, where a token would be seen: not tried, and 2",
      queue: "http://account.queue.core.windows.net",
      code: 2,
      err: /^error: --queue: found something else/,
    },
  ])("$name", async ({ queue, code, err }) => {
    const words = ["set", "--name", "execute", "--instancecount", "1", "-c", "prod", "--queue", queue];
    const ended = await runCommand(words);
    expect(ended).toMatchObject({ code, out: "" });
    expect(ended.err).toMatch(err);
  });

  test("an address, and nobody signed in: said, and 1", async () => {
    vi.stubEnv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential");
    onTestFinished(() => void vi.unstubAllEnvs());
    const account = "https://account.queue.core.windows.net";
    const words = ["set", "--name", "execute", "--instancecount", "1", "-c", "prod", "--queue", account];
    const ended = await runCommand(words);
    expect(ended).toMatchObject({ code: 1, out: "" });
    expect(ended.err).toMatch(
      /^the queue: not signed in on this machine: run az login, or give this machine an identity \(/,
    );
  });

  test("what is no account is not shown, as it may be a secret", async () => {
    const words = ["set", "--name", "a", "--instancecount", "1", "-c", "prod", "--queue", "hunter2"];
    const ended = await runCommand(words);
    expect(ended.code).toBe(2);
    expect(ended.err).toContain("--queue: found something else (not shown: it may be a secret)");
    expect(ended.err).not.toContain("hunter2");
  });

  test("too large for the queue: over HTTP if there is an address, else said", async () => {
    // Names that do not compress: a message of the queue holds 64 KiB.
    const jobs = Array.from({ length: 4_000 }, () => ({
      name: randomBytes(24).toString("hex"),
      constraints: { ncpus: 1 },
    }));
    const files = { "jobs.json": { version: 1, jobs } };
    const words = ["push", "jobs.json", "-s", "large", ...queue()];
    const alone = await runCommand(words, files);
    expect(alone.code).toBe(2);
    expect(alone.err).toMatch(/send it over HTTP: PUT \/api\/clusters\/prod\/request-sets\/large$/);
    const both = await runCommand([...words, ...reach()], files);
    expect(both).toMatchObject({ code: 0, err: "" });
    expect(both.out).toMatch(/^accepted: request set large,/);
    await run("update --file - -s large", { "-": [] });
  });
});

function lines(text: string): readonly string[] {
  return text.split("\n");
}
