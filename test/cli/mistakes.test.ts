import { afterEach, expect, test } from "vitest";
import { answeringServer } from "../support/answering-server.ts";
import { runCommand } from "./run-command.ts";

/** Likely mistakes, and whether the answer names the cause and the way out. */

const OURS = ["AUTOSCALER_URL", "AUTOSCALER_KEY", "AUTOSCALER_CLUSTER"];
afterEach(() => {
  for (const name of OURS) delete process.env[name];
});

test("an empty variable counts as not set, and is named", async () => {
  process.env["AUTOSCALER_CLUSTER"] = "";
  const ended = await runCommand(["nodes", "--url", "http://127.0.0.1:2", "--key", "k"]);
  expect(ended).toEqual({
    code: 2,
    out: "",
    err: [
      "warning: AUTOSCALER_CLUSTER is set but empty: it counts as not set",
      "error: required option '-c, --cluster <name>' not specified (or set AUTOSCALER_CLUSTER)",
      "(--help lists the commands and options)",
    ].join("\n"),
  });
});

test.each([
  { words: ["nodes", "-c", "prod", "--key", "k"], variable: "AUTOSCALER_URL" },
  { words: ["nodes", "-c", "prod", "--url", "http://127.0.0.1:2"], variable: "AUTOSCALER_KEY" },
  { words: ["autostop", "--instance", "vm"], variable: "AUTOSCALER_STOP_CALLBACK" },
])("an option that is missing is named with its variable, $variable", async ({ words, variable }) => {
  expect((await runCommand(words)).err).toContain(`not specified (or set ${variable})`);
});

test("address, key and cluster that are all missing are named together", async () => {
  expect(await runCommand(["nodes"])).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      "error: required options '-c, --cluster <name>', '--url <address>', '--key <key>' not specified (or set AUTOSCALER_CLUSTER, AUTOSCALER_URL, AUTOSCALER_KEY)",
    ),
  });
});

test.each([
  { words: ["pause"], mode: "observe" },
  { words: ["stop", "-c", "prod"], mode: "observe" },
  { words: ["resume"], mode: "act" },
  { words: ["unpause"], mode: "act" },
  { words: ["config", "pause"], mode: "observe" },
])("$words: the key of the configuration that is meant, and no command with a similar name", async (row) => {
  const { code, err } = await runCommand(row.words);
  expect([code, err]).toEqual([2, expect.stringContaining(`config set mode=${row.mode}`)]);
  expect(err).not.toContain("Did you mean");
});

test.each([
  { words: ["set", "--name", "htc", "--instancecount", "3000", "--max", "200"], source: "the command line" },
  { words: ["update", "--file", "arrays.json", "--max", "200"], source: "arrays.json" },
  { words: ["push", "message.json", "--max", "200"], source: "message.json" },
])("$words: a target above --max is not sent", async ({ words, source }) => {
  const arrays = [{ Name: "htc", TargetCount: 3000 }];
  const files = { "arrays.json": arrays, "message.json": { nodearrays: arrays } };
  const reach = ["-c", "prod", "--url", "http://127.0.0.1:2", "--key", "k"];
  expect(await runCommand([...words, ...reach], files)).toEqual({
    code: 2,
    out: "",
    err: `${source}: TargetCount 3000 is more than --max 200 (AUTOSCALER_MAX); nothing was sent`,
  });
  // With room enough it is sent, and no server answers.
  const more = words.map((word) => (word === "200" ? "3000" : word));
  expect(await runCommand([...more, ...reach], files)).toMatchObject({ code: 3 });
});

test.each(["-Vsecret", "-hsecret", "--version"])(
  "the value of an option may look like an option: %s",
  async (key) => {
    const { code, out, err } = await runCommand(["status", "--url", "http://127.0.0.1:9", "--key", key]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/^no answer from http:\/\/127\.0\.0\.1:9/);
  },
);

test("an option before the command", async () => {
  expect((await runCommand(["-c", "demo", "status"])).err).toContain(
    "unknown option '-c': it follows the command, as in: status -c prod",
  );
});

test.each([
  {
    name: "CycleCloud's address as --url: it asks for a password with a page",
    status: 401,
    body: "<html>Unauthorized</html>",
    expected:
      "401 another server answered with a web page, as CycleCloud or a proxy does: is --url (AUTOSCALER_URL) the function app's address?",
  },
  {
    name: "a key that is wrong or of another role: the platform answers without a body",
    status: 401,
    body: "",
    expected:
      "401 the function key is missing or wrong, or not of the role reader (--key, AUTOSCALER_KEY); keys reader prints how to make one",
  },
  {
    name: "a login page",
    status: 200,
    body: "<!doctype html>",
    expected: "HTTP 200, but the answer is not JSON: is this the address of the function app?",
  },
])("$name", async ({ status, body, expected }) => {
  const { url } = await answeringServer(status, body);
  const ended = await runCommand(["nodes", "--url", url, "--key", "k", "-c", "prod"]);
  expect(ended).toEqual({ code: 1, out: "", err: expected });
});

test("a mark before the JSON, as editors of Windows write it, does not matter", async () => {
  const { url, seen } = await answeringServer(202, '{"requestSet":"standard","changed":true}');
  const words = ["push", "jobs.json", "--url", url, "--key", "k", "-c", "prod"];
  expect((await runCommand(words, { "jobs.json": '\uFEFF{"jobs":[]}' })).code).toBe(0);
  expect(seen).toHaveLength(1);
});

test("a directory in place of a file", async () => {
  const error = Object.assign(new Error("EISDIR: illegal operation on a directory, read"), {
    code: "EISDIR",
  });
  const ended = await runCommand(
    ["push", "jobs", "--url", "http://127.0.0.1:2", "--key", "k", "-c", "prod"],
    {
      jobs: error,
    },
  );
  expect(ended).toEqual({ code: 2, out: "", err: "jobs: found a directory, expected a readable file" });
});

test("JSON that breaks off: the line and the column", async () => {
  const words = ["push", "jobs.json", "--url", "http://127.0.0.1:2", "--key", "k", "-c", "prod"];
  const ended = await runCommand(words, { "jobs.json": '{ "jobs": [\n  { "name": }\n' });
  expect(ended.err).toMatch(
    /^jobs.json: found 26 characters that are not JSON \(line 2, column 13: value expected\), expected JSON$/,
  );
});

test("a file that PowerShell 5 has written", async () => {
  const words = ["push", "jobs.json", "--url", "http://127.0.0.1:2", "--key", "k", "-c", "prod"];
  const written = Buffer.from('\uFEFF{ "jobs": [] }\r\n', "utf16le").toString("utf8");
  const ended = await runCommand(words, { "jobs.json": written });
  expect(ended).toEqual({
    code: 2,
    out: "",
    err: "jobs.json: found UTF-16 or binary data, expected JSON in UTF-8",
  });
});

test.each([
  ["config", "put"],
  ["config", "validate"],
  ["check", "--config"],
])("%s %s: the place of a JSON error", async (...words) => {
  const reach = words[1] === "put" ? ["--url", "http://127.0.0.1:2", "--key", "k", "-c", "prod"] : [];
  const ended = await runCommand([...words, "c.json", ...reach, ...SETTINGS(words[0])], {
    "c.json": '{\n  "enabled": tru\n}',
    "s.json": { Values: { AUTOSCALER_CLUSTERS: "[]" } },
  });
  expect(ended).toMatchObject({
    code: 2,
    err: "c.json: found 20 characters that are not JSON (line 2, column 14: invalid symbol), expected JSON",
  });
});

/** `check` reads the app settings before the configuration. */
const SETTINGS = (command: string | undefined) => (command === "check" ? ["--settings", "s.json"] : []);

test("check of a cluster that the settings do not name: the known ones", async () => {
  const clusters = ["demo", "prod"].map((name) => ({
    name,
    url: "http://127.0.0.1:2",
    username: "u",
    passwordSetting: "P",
  }));
  const settings = { Values: { AUTOSCALER_CLUSTERS: JSON.stringify(clusters), P: "secret" } };
  const ended = await runCommand(["check", "-c", "dem", "--settings", "s.json"], { "s.json": settings });
  expect(ended).toMatchObject({
    code: 2,
    err: 'AUTOSCALER_CLUSTERS names no cluster "dem" (known: demo, prod)',
  });
});

test("what was accepted is said, and what may not be meant", async () => {
  const { url } = await answeringServer(
    202,
    JSON.stringify({
      requestSet: "standard",
      changed: true,
      expiresAt: "2026-01-01T00:05:00.000Z",
      asks: { nodearrays: 2, jobs: 13, slots: 27 },
      notes: ['node array "nosuch" does not exist in the cluster (known: execute)'],
    }),
  );
  const words = ["push", "jobs.json", "--url", url, "--key", "k", "-c", "prod"];
  expect(await runCommand(words, { "jobs.json": "{}" })).toEqual({
    code: 0,
    out: "accepted: request set standard, valid until 2026-01-01T00:05:00.000Z; asks for 2 node arrays, 13 jobs, 27 slots",
    err: 'warning: jobs.json: node array "nosuch" does not exist in the cluster (known: execute)',
  });
});
