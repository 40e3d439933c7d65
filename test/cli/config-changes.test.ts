import { expect, test } from "vitest";
import { stagedServer, type Staged } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

/** What the commands that change a configuration print of answers that the running app seldom gives. */

const HELD = { idleTimeout: 600, caps: { users: { zoe: { nodes: 4 } } }, mode: "act", version: 7 };

async function run(words: string, file: object, answers: Readonly<Record<string, Staged>>) {
  const { url, seen } = await stagedServer((request) => {
    const [method = ""] = request.split(" ");
    return answers[method] ?? { status: 404, body: {} };
  });
  const all = [...words.split(" "), "-c", "prod", "--url", url, "--key", "k"];
  return { ...(await runCommand(all, { "new.json": file })), seen };
}

test("what is under way from before is named with the moment until which it may be sent", async () => {
  const underWay = [{ effect: "create", nodes: 5, nodearrays: ["htc"], until: "2026-01-01T10:00:30.000Z" }];
  const { out } = await run(
    "config set mode=observe",
    {},
    {
      PATCH: {
        body: { differences: [{ path: "mode", before: '"act"', after: '"observe"' }], more: 0, underWay },
      },
    },
  );
  expect(out.split("\n")).toEqual([
    "set; in force",
    '  mode: "act" -> "observe"',
    "under way from before: create of 5 nodes in htc, not sent after 2026-01-01T10:00:30.000Z",
  ]);
});

test("put of a document that names all that is in force: no --replace, and a mode that is not named is no loss", async () => {
  const { code, seen } = await run(
    "config put new.json",
    { idle_timeout: 300, caps: { users: { zoe: { nodes: 9 } } } },
    { GET: { body: HELD }, PUT: { body: { differences: [], more: 0 } } },
  );
  expect([code, seen]).toEqual([0, ["GET /api/clusters/prod/config", "PUT /api/clusters/prod/config"]]);
});

test("put without --replace sends nothing that would take a key away, at any depth", async () => {
  const { code, err, seen } = await run(
    "config put new.json",
    { idleTimeout: 600, caps: { users: { ada: { nodes: 4 } } } },
    { GET: { body: HELD } },
  );
  expect([code, seen]).toEqual([2, ["GET /api/clusters/prod/config"]]);
  expect(err).toContain("new.json would take away what is in force: caps.users.zoe");
});

test("a configuration in force that cannot be read is replaced only with --replace", async () => {
  const unreadable = { ...HELD, unreadable: [{ path: "x", found: "1", expected: "2" }] };
  const answers = { GET: { body: unreadable }, PUT: { body: { differences: [], more: 0 } } };
  expect(await run("config put new.json", { idleTimeout: 1 }, answers)).toMatchObject({
    code: 2,
    err: expect.stringContaining("the configuration in force cannot be read"),
  });
  expect(await run("config put new.json --replace", { idleTimeout: 1 }, answers)).toMatchObject({ code: 0 });
});

test("a version that has become stale meanwhile: 1, with what changed", async () => {
  const detail = "version 7 was seen, and version 8 is in force: caps.users.zoe.nodes: 4 -> 9";
  const { code, err } = await run(
    "config put new.json --replace",
    {},
    {
      GET: { body: HELD },
      PUT: { status: 412, body: { type: "about:blank", title: "Stale", status: 412, detail } },
    },
  );
  expect({ code, err }).toEqual({ code: 1, err: `412 Stale: ${detail}` });
});

test("an app of the release before says nothing of what changed", async () => {
  const { version: _none, ...held } = HELD;
  const { code, out } = await run(
    "config put new.json --replace",
    { idleTimeout: 1 },
    {
      GET: { body: held },
      PUT: { body: { used: [], ignored: [], doubts: [], unknownNodearrays: ["htx"], losses: [] } },
    },
  );
  expect({ code, out }).toEqual({
    code: 0,
    out: "put; in force\nwarning: node arrays that the cluster does not have: htx",
  });
});
