import { expect, test } from "vitest";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

/** What was rejected and why, for who was not there when its sender was told; and the end of a request set. */

const PROBLEM = {
  path: "jobs[1].iterations",
  found: '"three"',
  expected: "a whole number, 1 or more",
};
const CLUSTERS = {
  clusters: [{ cluster: "prod" }, { cluster: "test" }],
  rejectedMessages: {
    count: 3,
    oldest: [
      {
        messageId: "a",
        rejectedAt: "2026-01-01T10:00:00.000Z",
        problems: [{ path: "", found: "text of 6 characters", expected: "an object: a demand message" }],
        text: "secret",
      },
      {
        messageId: "b",
        rejectedAt: "2026-01-01T11:00:00.000Z",
        cluster: "test",
        set: "slurm",
        problems: [{ path: "version", found: "2", expected: "1" }],
      },
    ],
  },
};
const STATES: Readonly<Record<string, object>> = {
  prod: { demand: [{ requestSet: "pbs", rejectedJobs: [{ name: "102", problems: [PROBLEM] }] }] },
  test: { demand: [] },
};

async function run(words: readonly string[]) {
  const { url, seen } = await stagedServer((request) => {
    const name = request.split("/").at(-1) ?? "";
    return { body: request === "GET /api/clusters" ? CLUSTERS : (STATES[name] ?? {}) };
  });
  return { ...(await runCommand([...words, "--url", url, "--key", "k"])), seen };
}

test("rejected: messages and jobs, where, what was found and what was expected, as the app shows it", async () => {
  const { code, out, err } = await run(["rejected"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.split("\n")).toEqual([
    "REJECTED AT               CLUSTER  SET    WHERE        FOUND                 EXPECTED",
    "2026-01-01T10:00:00.000Z  -        -      (all of it)  text of 6 characters  an object: a demand message",
    "2026-01-01T11:00:00.000Z  test     slurm  version      2                     1",
    "of 3 messages in demand-rejected",
    "",
    "CLUSTER  SET  JOB  WHERE               FOUND    EXPECTED",
    'prod     pbs  102  jobs[1].iterations  "three"  a whole number, 1 or more',
  ]);
});

test("a suggestion comes before what was expected, which may be a long list", async () => {
  const problem = {
    path: "jobs[0].constraints.node.nodearay",
    found: '"node.nodearay"',
    expected: "one of node.location, node.nodearray, and 30 more",
    didYouMean: "node.nodearray",
  };
  const { url } = await stagedServer((request) => ({
    body:
      request === "GET /api/clusters"
        ? { clusters: [{ cluster: "prod" }] }
        : { demand: [{ requestSet: "pbs", rejectedJobs: [{ name: "7", problems: [problem] }] }] },
  }));
  const rejected = (words: readonly string[]) =>
    runCommand(["rejected", ...words, "--url", url, "--key", "k"]);
  const [head = "", line = ""] = (await rejected([])).out.split("\n").slice(-2);
  expect(head).toMatch(/FOUND +DID YOU MEAN +EXPECTED$/);
  expect(line).toMatch(/"node.nodearay" +node.nodearray +one of/);
  expect(JSON.parse((await rejected(["--json"])).out).rejectedJobs).toEqual([
    { cluster: "prod", requestSet: "pbs", job: "7", ...problem },
  ]);
});

test("rejected of one cluster: its own, and messages of which nobody knows whose they are", async () => {
  const { out } = await run(["rejected", "-c", "prod"]);
  expect(out).toContain("(all of it)");
  expect(out).not.toContain("slurm");
  expect((await run(["rejected", "-c", "test"])).out).toContain("no jobs were left out");
});

test("rejected --json: the same", async () => {
  const { out } = await run(["rejected", "-c", "prod", "--json"]);
  expect(out).not.toContain("secret");
  expect(JSON.parse(out)).toEqual({
    rejectedMessages: [
      {
        at: "2026-01-01T10:00:00.000Z",
        messageId: "a",
        path: "",
        found: "text of 6 characters",
        expected: "an object: a demand message",
      },
    ],
    rejectedJobs: [
      {
        cluster: "prod",
        requestSet: "pbs",
        job: "102",
        path: "jobs[1].iterations",
        found: '"three"',
        expected: "a whole number, 1 or more",
      },
    ],
  });
});

test("rejected --text of one cluster: its own messages, and those of which nobody knows whose they are", async () => {
  const { url } = await stagedServer(() => ({ body: CLUSTERS.rejectedMessages }));
  const idsOf = async (words: readonly string[]) => {
    const { out } = await runCommand(["rejected", "--text", ...words, "--url", url, "--key", "k"]);
    return JSON.parse(out).oldest.map(({ messageId }: { messageId: string }) => messageId);
  };
  expect(await idsOf(["-c", "prod"])).toEqual(["a"]);
  expect(await idsOf(["-c", "prod", "--json"])).toEqual(["a"]);
  expect(await idsOf(["-c", "test"])).toEqual(["a", "b"]);
  expect(await idsOf([])).toEqual(["a", "b"]);
});

test("demand -s keeps the reason of a job that was left out", async () => {
  const set = { requestSet: "pbs", state: "live", rejectedJobs: [{ name: "102", problems: [PROBLEM] }] };
  const { url } = await stagedServer(() => ({ body: set }));
  const { out } = await runCommand(["demand", "-s", "pbs", "-c", "prod", "--url", url, "--key", "k"]);
  expect(out.split("\n")[1]).toBe(
    'left out: 102: jobs[1].iterations: found "three", expected a whole number, 1 or more',
  );
});

test("delete: the set asks for nothing any more", async () => {
  const { url, seen } = await stagedServer((request) =>
    request.startsWith("DELETE") ? { status: 202, body: { changed: true } } : { body: { requestSet: "pbs" } },
  );
  expect(await runCommand(["delete", "pbs", "-c", "prod", "--url", url, "--key", "k"])).toEqual({
    code: 0,
    out: "request set pbs asks for nothing any more; its nodes stay until they are idle",
    err: "",
  });
  expect(seen).toEqual([
    "GET /api/clusters/prod/request-sets/pbs",
    "GET /api/clusters/prod",
    "DELETE /api/clusters/prod/request-sets/pbs",
  ]);
});

test("delete names the nodes that do not go by themselves, and what ends them", async () => {
  const node = {
    array: "htc",
    machineType: "F2",
    phase: "ready",
    verdict: "needed",
    why: "needed by slurm/x, pbs/a",
    busyness: "unknown",
  };
  const list = [
    node,
    { ...node, machineType: "F4" },
    node,
    { ...node, busyness: "busy" },
    { ...node, phase: "coming" },
    { ...node, why: "needed by slurm/x" },
    { ...node, ownership: "not ours: another tool made it" },
  ];
  const { url } = await stagedServer((request) =>
    request.startsWith("DELETE") ? { status: 202, body: { changed: true } } : { body: { nodes: { list } } },
  );
  const { out } = await runCommand(["delete", "pbs", "-c", "prod", "--url", url, "--key", "k"]);
  expect(out.split("\n")).toEqual([
    "request set pbs asks for nothing any more; its nodes stay until they are idle",
    "2 x htc/F2, 1 x htc/F4 stay until their autostop callback asks, a report names them idle, or they are terminated in CycleCloud: no report and no callback yet",
  ]);
});

test("delete does not need the state of the cluster", async () => {
  const { url } = await stagedServer((request) => {
    if (request.startsWith("DELETE")) return { status: 202, body: { changed: true } };
    return request.endsWith("pbs") ? { body: { requestSet: "pbs" } } : { status: 503, body: {} };
  });
  expect(await runCommand(["delete", "pbs", "-c", "prod", "--url", url, "--key", "k"])).toEqual({
    code: 0,
    out: "request set pbs asks for nothing any more; its nodes stay until they are idle",
    err: "",
  });
});

test("delete of a set that there is not: refused, and none is made", async () => {
  const { url, seen } = await stagedServer(() => ({
    status: 404,
    body: { title: "Unknown request set", detail: 'cluster "prod" has no request set "pbz"' },
  }));
  expect(await runCommand(["delete", "pbz", "-c", "prod", "--url", url, "--key", "k"])).toMatchObject({
    code: 1,
    err: '404 Unknown request set: cluster "prod" has no request set "pbz"',
  });
  expect(seen).toHaveLength(1);
});
