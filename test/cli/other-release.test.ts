import { describe, expect, test } from "vitest";
import { answeringServer } from "../support/answering-server.ts";
import { runCommand } from "./run-command.ts";

/** Answers as an app of another release, or something that is no app of ours, might give them. */

/** A server that gives every request the same answer, and how to reach it. */
async function answering(status: number, body: string, headers: Readonly<Record<string, string>> = {}) {
  const { url, seen } = await answeringServer(status, body, headers);
  return { reach: ["-c", "prod", "--url", `${url}/`, "--key", "k"], seen };
}

describe("plan", () => {
  const tried = {
    cluster: "prod",
    acting: true,
    plan: {
      nodesCreated: 7,
      demands: 2,
      unmet: 1,
      pricePerHour: 1.4,
      creates: [
        { nodearray: "htc", machineType: "F2", count: 4 },
        { nodearray: "hpc", machineType: "HB", placementGroup: "pg0", count: 3 },
      ],
      starts: ["htc-9"],
      terminates: [],
      outcomes: [
        {
          requestSet: "s",
          id: "wide",
          kind: "job",
          unit: "slots",
          asked: 5,
          placed: 2,
          unmet: 3,
          reasons: ["quota: 0 left"],
          binding: "60 more cores would place all",
        },
        {
          requestSet: "s",
          id: "met",
          kind: "job",
          unit: "slots",
          asked: 1,
          placed: 1,
          unmet: 0,
          reasons: [],
        },
      ],
    },
    difference: {
      nodesCreated: 3,
      pricePerHour: 0.6,
      demands: [
        {
          requestSet: "s",
          id: "wide",
          unit: "slots",
          asked: 5,
          placed: 2,
          askedWithout: 5,
          placedWithout: 0,
        },
      ],
    },
    rejectedJobs: [{ requestSet: "s", jobs: [{ name: "bad" }] }],
  };

  test("sends the file as it is, and shows what would be done, what is unmet and why, and what is new", async () => {
    const { reach, seen } = await answering(200, JSON.stringify(tried));
    const inputs = { limits: [{ kind: "family-quota", name: "f", unit: "cores", more: 200 }] };
    const ended = await runCommand(["plan", "--file", "-", ...reach], { "-": inputs });
    expect(seen).toEqual([
      { method: "POST", path: "/api/clusters/prod/plan", key: "k", body: JSON.stringify(inputs) },
    ]);
    expect(ended).toEqual({
      code: 1,
      out: [
        "create 4 x htc/F2",
        "create 3 x hpc/HB/pg0",
        "start htc-9",
        "new nodes cost 1.4 an hour",
        "unmet: s/wide has 2 of 5 slots",
        "  quota: 0 left",
        "  60 more cores would place all",
        "left out because it cannot be read: s/bad",
        "compared with no changes: +3 new nodes, +0.6 an hour",
        "  s/wide: 2 of 5 slots instead of 0 of 5",
      ].join("\n"),
      err: "",
    });
  });

  test("nothing to do, nothing unmet, nothing changed: 0", async () => {
    const plan = { unmet: 0, creates: [], starts: [], terminates: [], outcomes: [] };
    const { reach, seen } = await answering(
      200,
      JSON.stringify({ acting: false, plan, difference: { nodesCreated: 0, demands: [] } }),
    );
    expect(await runCommand(["plan", ...reach])).toEqual({
      code: 0,
      out: [
        "the mode is observe, or the cluster is not started: none of this would be done",
        "nothing to do",
      ].join("\n"),
      err: "",
    });
    expect(seen[0]?.body).toBe("{}");
  });
});

describe("answers of another kind", () => {
  test("members that are missing, of another kind or new: shown as far as they can be read", async () => {
    const body = {
      cluster: "prod",
      health: { ok: "yes", notes: ["old"] },
      nodes: [],
      plan: { number: "5" },
      news: 1,
    };
    const { reach } = await answering(200, JSON.stringify(body));
    expect(await runCommand(["status", ...reach])).toEqual({
      code: 0,
      out: [
        "prod: unhealthy, state not known, not observed yet",
        "  old",
        "sets       none",
        "demands    none",
        "nodes      none",
        "plan       ? at ? (act): nothing to do",
      ].join("\n"),
      err: "",
    });
  });

  test("status: one line for each pair of timeouts, with the arrays that have it", async () => {
    const nodearrays = [
      { name: "htc", managed: true, idleTimeout: 300, bootTimeout: 3600 },
      { name: "hpc", managed: true, idleTimeout: 600, bootTimeout: 7200 },
      { name: "licensed", dynamic: true, idleTimeout: 300, bootTimeout: 3600 },
      { name: "old", managed: false, idleTimeout: 1, bootTimeout: 1 },
    ];
    const body = { cluster: "prod", health: { ok: true }, nodearrays };
    const { reach } = await answering(200, JSON.stringify(body));
    const ended = await runCommand(["status", ...reach]);
    expect(ended.out.split("\n").slice(4, 6)).toEqual([
      "timeouts   idle 300 s, boot 3600 s: htc, licensed",
      "           idle 600 s, boot 7200 s: hpc",
    ]);
  });

  test.each([
    {
      name: "a web page",
      status: 200,
      text: "<html>",
      code: 1,
      out: "",
      err: "HTTP 200, but the answer is not JSON: is this the address of the function app?",
    },
    {
      name: "a proxy's error page",
      status: 502,
      text: "<html>",
      code: 3,
      out: "",
      err: "502 unexpected answer",
    },
    {
      name: "no such route",
      status: 404,
      text: "",
      code: 1,
      out: "",
      err: /^404 nothing is found at this address/,
    },
    {
      name: "asked to wait",
      status: 503,
      text: '{"title":"Cannot tell now","detail":"storage"}',
      headers: { "retry-after": "10" },
      code: 3,
      out: "",
      err: "503 Cannot tell now: storage (try again in 10 s)",
    },
    {
      name: "too large",
      status: 413,
      text: '{"title":"Too large","detail":"32 MiB"}',
      code: 2,
      out: "",
      err: "413 Too large: 32 MiB",
    },
    {
      name: "an older revision",
      status: 409,
      text: '{"title":"Older revision","detail":"5 is held"}',
      code: 1,
      out: "",
      err: "409 Older revision: 5 is held",
    },
  ])("$name: $code", async ({ status, text, headers, code, out, err }) => {
    const { reach } = await answering(status, text, headers);
    const ended = await runCommand(["status", ...reach]);
    expect(ended).toMatchObject({ code, out });
    expect(ended.err).toMatch(err);
  });

  test.each([
    { outcome: { outcome: "planned", plan: 7 }, code: 0, out: "planned: plan 7" },
    { outcome: { outcome: "covered" }, code: 0, out: "nothing to do: the last plan covers all demand" },
    {
      outcome: { outcome: "troubled", trouble: { kind: "unreachable", message: "no answer" } },
      code: 3,
      out: "troubled: no answer",
    },
    {
      outcome: { outcome: "waiting", until: "2026-01-01T00:00:00Z" },
      code: 3,
      out: "not yet: the next observation is possible from 2026-01-01T00:00:00Z on",
    },
    { outcome: { outcome: "overtaken" }, code: 3, out: "another instance planned at the same time" },
    { outcome: { outcome: "timed-out" }, code: 3, out: "timed-out" },
  ])("tick: $outcome.outcome ends with $code", async ({ outcome, code, out }) => {
    const { reach, seen } = await answering(200, JSON.stringify(outcome));
    expect(await runCommand(["tick", ...reach])).toEqual({ code, out, err: "" });
    expect(seen[0]).toMatchObject({ method: "POST", path: "/api/clusters/prod/tick" });
  });

  test("explain of a past plan asks for it by its number", async () => {
    const { reach, seen } = await answering(200, '{"text":"it was so"}');
    expect((await runCommand(["explain", "job", "a b", "-s", "x", "--plan", "12", ...reach])).out).toBe(
      "it was so",
    );
    expect(seen[0]?.path).toBe("/api/clusters/prod/explain?job=a+b&set=x&plan=12");
  });

  test("history asks for a span in UTC", async () => {
    const { reach, seen } = await answering(200, '{"rows":[]}');
    const words = ["history", "--from", "2026-01-31T12:00:00+01:00", "--limit", "5", ...reach];
    expect(await runCommand(words)).toEqual({ code: 0, out: "no history in that time", err: "" });
    expect(seen[0]?.path).toBe("/api/clusters/prod/history?from=2026-01-31T11%3A00%3A00.000Z&limit=5");
  });
});
