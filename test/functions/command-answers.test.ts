import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { CommandEnd, Files } from "../cli/run-command.ts";
import { runCommand } from "../cli/run-command.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { PATIENCE_MS, paced } from "../support/patience.ts";

/** The output of the command line for answers of the functions: about the configuration, and errors. */

let app: LocalApp;
beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod", "two words"], speed: paced(60) });
  // Both commands are answered from the last observation and the last plan.
  await vi.waitFor(
    async () =>
      expect(await app.call("POST", "/api/clusters/prod/tick")).toMatchObject({
        body: { outcome: "planned" },
      }),
    { timeout: PATIENCE_MS, interval: 100 },
  );
});
afterAll(() => app.close());

function reach(): readonly string[] {
  return ["--url", app.host.url, "--key", app.host.keys.host];
}

/** Runs a command for the cluster "prod", over HTTP. */
function run(words: string, files?: Files): Promise<CommandEnd> {
  return runCommand([...words.split(" "), "--cluster", "prod", ...reach()], files);
}

async function outOf(words: string): Promise<string> {
  const { code, out, err } = await run(words);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
}

describe("the configuration", () => {
  test("put, with what is ignored and unknown, then get", async () => {
    const document = { idle_timeout: 600, cluster_name: "prod", nodearrays: ["execute", "excute"] };
    const put = await run("config put config.json", { "config.json": document });
    expect(put).toEqual({
      code: 0,
      out: [
        "put; in force",
        "  idleTimeout: 300 -> 600",
        '  nodearrays: nothing -> ["execute","excute"]',
        "KEY           RESULT",
        "idle_timeout  used as idleTimeout: 600 s",
        "nodearrays    used",
        "cluster_name  ignored: the app setting AUTOSCALER_CLUSTERS names the clusters",
        'note: the document says no mode, so the one in force is kept: mode "act"',
        "warning: node arrays that the cluster does not have: excute",
      ].join("\n"),
      err: "",
    });
    expect(JSON.parse(await outOf("config get"))).toMatchObject({
      idleTimeout: 600,
      nodearrays: ["execute", "excute"],
    });
    expect((await run("config put config.json --replace", { "config.json": {} })).code).toBe(0);
  });

  test("a document that takes away what is in force is put with --replace only, and all that it changes is shown", async () => {
    const first = { idleTimeout: 600, caps: { users: { zoe: { nodes: 4 } } } };
    expect(await run("config put -", { "-": first })).toMatchObject({ code: 0 });
    // An array that is not there, and neither the cap nor the timeout.
    const second = { bootTimeout: { htx: 4 } };
    expect(await run("config put second.json", { "second.json": second })).toEqual({
      code: 2,
      out: "",
      err: [
        "second.json would take away what is in force: idleTimeout, caps. All that it changes:",
        "  idleTimeout: 600 -> 300",
        '  bootTimeout: 3600 -> {"default":3600,"htx":4}',
        '  caps: {"users":{"zoe":{"nodes":4}}} -> nothing',
        "nothing was put. Change single keys with config set, or replace the whole document with --replace",
      ].join("\n"),
    });
    expect(await outOf("config set bootTimeout.htx=4")).toBe(
      [
        "set; in force",
        '  bootTimeout: 3600 -> {"default":3600,"htx":4}',
        "warning: node arrays that the cluster does not have: htx",
      ].join("\n"),
    );
    expect(await outOf("config unset bootTimeout")).toBe(
      ["unset; in force", '  bootTimeout: {"default":3600,"htx":4} -> 3600'].join("\n"),
    );
    expect(await outOf("config rollback")).toContain('  bootTimeout: 3600 -> {"default":3600,"htx":4}');
    expect(await run("config put - --replace", { "-": {} })).toMatchObject({
      code: 0,
      out: expect.stringContaining('  caps: {"users":{"zoe":{"nodes":4}}} -> nothing'),
    });
  });

  test("set: JSON where it is JSON, else text; the same again changes nothing; what the app refuses is told", async () => {
    expect(
      await outOf('config set mode=observe nodearrays=["execute"] caps.users["anna.smith"].nodes=3'),
    ).toBe(
      [
        "set; in force",
        '  mode: "act" -> "observe"',
        '  nodearrays: nothing -> ["execute"]',
        '  caps: nothing -> {"users":{"anna.smith":{"nodes":3}}}',
      ].join("\n"),
    );
    expect(await outOf("config set mode=observe")).toBe("set; in force\n  no differences");
    expect(await run("config unset mode")).toMatchObject({
      code: 2,
      err: '400 Bad request: unset: found "mode", expected a mode: set "mode" to "observe" or "act" instead',
    });
    expect(await run("config set mode")).toMatchObject({
      code: 2,
      err: expect.stringContaining("KEY=VALUE"),
    });
    expect(await run("config set a..b=1")).toMatchObject({
      code: 2,
      err: expect.stringContaining("KEY=VALUE"),
    });
    expect(await run("config set among=cheapest among=priority")).toMatchObject({
      code: 2,
      err: expect.stringContaining("twice"),
    });
    expect(await run("config put - --replace", { "-": { mode: "act" } })).toMatchObject({ code: 0 });
  });

  test("validate names node arrays that the cluster does not have, where an app answers", async () => {
    const files = { "typo.json": { idleTimeout: { htx: 4 } } };
    expect(await run("config validate typo.json", files)).toEqual({
      code: 0,
      out: "typo.json is valid\nwarning: node arrays that the cluster does not have: htx",
      err: "",
    });
    expect((await runCommand(["config", "validate", "typo.json"], files)).out).toBe("typo.json is valid");
  });

  test("validate needs no app and names path, found and expected", async () => {
    const files = {
      "bad.json": { idleTimeuot: 5, among: "cheap", bootTimeout: -1 },
      "good.json": { among: "cheapest" },
    };
    const bad = await runCommand(["config", "validate", "bad.json"], files);
    expect(bad).toMatchObject({ code: 2, out: "" });
    expect(lines(bad.err)).toEqual([
      expect.stringMatching(
        /^bad.json: found "idleTimeuot"; did you mean idleTimeout\? Expected one of the keys idleTimeout, /,
      ),
      "bad.json: bootTimeout: found -1, expected a number of seconds, 1 or more",
      'bad.json: among: found "cheap", expected one of priority, cheapest',
    ]);
    expect(await runCommand(["config", "validate", "good.json"], files)).toEqual({
      code: 0,
      out: "good.json is valid",
      err: "",
    });
    const shown = await runCommand(["config", "validate", "good.json", "--json"], files);
    expect(JSON.parse(shown.out)).toMatchObject({ among: "cheapest", idleTimeout: 300 });
  });

  test("put of a bad one: every problem", async () => {
    const put = await run("config put -", { "-": { among: "cheap", enabled: 1 } });
    expect(put).toEqual({
      code: 2,
      out: "",
      err: [
        'standard input: among: found "cheap", expected one of priority, cheapest',
        "standard input: enabled: found 1, expected true or false",
      ].join("\n"),
    });
  });
});

describe("what goes wrong", () => {
  test.each([
    {
      name: "an unknown cluster",
      words: ["status", "-c", "nowhere"],
      code: 1,
      err: '404 Unknown cluster: cluster "nowhere" is not in AUTOSCALER_CLUSTERS (known: prod, two words)',
    },
    {
      name: "an unknown node",
      words: ["explain", "node", "execute-11", "-c", "prod"],
      code: 1,
      err: /^404 Unknown node: cluster "prod" has no node "execute-11"/,
    },
    {
      name: "an unknown request set",
      words: ["demand", "-s", "none", "-c", "prod"],
      code: 1,
      err: '404 Unknown request set: cluster "prod" has no request set "none"',
    },
    {
      name: "a wrong key",
      words: ["status", "--key", "wrong"],
      code: 1,
      err: "401 the function key is missing or wrong, or not of the role reader (--key, AUTOSCALER_KEY); keys reader prints how to make one",
    },
    {
      name: "no server",
      words: ["nodes", "-c", "prod", "--url", "http://127.0.0.1:2"],
      code: 3,
      err: "no answer from http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2",
    },
    {
      name: "another server",
      words: ["nodes", "-c", "prod", "--url", "http://127.0.0.1:2/elsewhere/"],
      code: 3,
      err: /^no answer from http:\/\/127.0.0.1:2: /,
    },
    {
      name: "an address that is none",
      words: ["status", "--url", "autoscaler"],
      code: 2,
      err: /'autoscaler' is invalid. Expected an http or https address/,
    },
    {
      name: "a number that is none",
      words: ["history", "-c", "prod", "--limit", "many"],
      code: 2,
      err: /'many' is invalid. Expected a whole number/,
    },
    {
      name: "a time that is none",
      words: ["history", "-c", "prod", "--from", "noon"],
      code: 2,
      err: /'noon' is invalid. Expected a time, as 2026-01-31T12:00:00Z/,
    },
    {
      name: "neither cores nor instances",
      words: ["set", "-c", "prod", "--name", "execute"],
      code: 2,
      err: /^error: expected --name with --corecount or --instancecount, or --file/,
    },
    {
      name: "both cores and instances",
      words: ["set", "-c", "prod", "--name", "execute", "--corecount", "1", "--instancecount", "1"],
      code: 2,
      err: /cannot be used with/,
    },
    {
      name: "no cluster to set in",
      words: ["set", "--name", "execute", "--corecount", "1"],
      code: 2,
      err: /^error: expected --cluster, or AUTOSCALER_CLUSTER/,
    },
    {
      name: "a file that is not there",
      words: ["push", "nofile", "-c", "prod"],
      code: 2,
      err: "nofile: found no such file, expected a readable file",
    },
    {
      name: "a file that is not JSON",
      words: ["push", "text", "-c", "prod"],
      code: 2,
      err: /^text: found 4 characters that are not JSON \(.*\), expected JSON$/,
    },
    {
      name: "a file that is no message",
      words: ["push", "list", "-c", "prod"],
      code: 2,
      err: "list: found a list, expected an object: a demand message",
    },
    {
      name: "a message with a bad member",
      words: ["push", "message", "-c", "prod"],
      code: 2,
      err: "400 Bad request: expirationInterval: found -5, expected a number of seconds above 0",
    },
    { name: "no such command", words: ["bogus"], code: 2, err: /^error: unknown command 'bogus'/ },
  ])("$name: in words, and $code", async ({ words, code, err }) => {
    const files = { text: "oops", list: [], message: { version: 1, expirationInterval: -5 } };
    const ended = await runCommand([...words, ...reachUnlessSaid(words)], files);
    expect(ended.code).toBe(code);
    if (typeof err === "string") expect(ended.err).toBe(err);
    else expect(ended.err).toMatch(err);
    expect(ended.out).toBe("");
  });

  /** The options that connect to the app, unless the words of the command have them. */
  function reachUnlessSaid(words: readonly string[]): readonly string[] {
    if (words[0] === "bogus") return [];
    const url = words.includes("--url") ? [] : ["--url", app.host.url];
    const key = words.includes("--key") ? [] : ["--key", app.host.keys.host];
    return [...url, ...key];
  }

  test("with --json the answer of the app, whatever it is, and the same exit code", async () => {
    const good = await run("nodes --json");
    expect(good).toMatchObject({ code: 0, err: "" });
    expect(JSON.parse(good.out)).toMatchObject({ cluster: "prod", nodes: { list: expect.any(Array) } });
    const bad = await runCommand(["status", "--json", "-c", "nowhere", ...reach()]);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({ status: 404, title: "Unknown cluster" });
    expect(bad.err).toMatch(/^404 Unknown cluster: /);
  });
});

function lines(text: string): readonly string[] {
  return text.split("\n");
}
