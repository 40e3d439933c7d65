import { describe, expect, test } from "vitest";
import { fold } from "../../src/cli/table.ts";
import { answeringServer } from "../support/answering-server.ts";
import { runCommand } from "./run-command.ts";

/** What the commands show of health, warnings, and plans that observe mode withholds. */

async function shown(words: readonly string[], body: object) {
  const { url } = await answeringServer(200, JSON.stringify(body));
  return runCommand([...words, "--url", `${url}/`, "--key", "k"]);
}

const health = { ok: true, notes: [], warnings: [], lastLookAgeSeconds: 12, clusterState: "Started" };
const withheld = {
  creates: [{ bucket: "htc/F2", count: 4 }],
  starts: [],
  terminates: ["htc-1", "htc-2", "htc-3", "htc-4", "htc-5", "htc-6"],
};
const WOULD =
  "would create 4 x htc/F2; stop htc-1, htc-2, htc-3, htc-4, htc-5 and 1 more, but the mode is observe";
const plan = { number: 10, at: "T", demands: 1, creates: [], starts: [], terminates: [], withheld };
const cluster = {
  cluster: "demo",
  health,
  plan,
  demandCounts: { live: 1 },
  waiting: { unmet: 0, onTheirWay: 1 },
};

describe("the exit code of status follows health", () => {
  test("a warning alone leaves it 0", async () => {
    const troubles = [{ kind: "nodes-not-needed", text: "4 nodes are not needed", count: 1 }];
    const one = await shown(["status", "-c", "demo"], { ...cluster, troubles });
    expect(one.code).toBe(0);
    expect(one.out).toMatch(/^demo: healthy, Started, observed 12 s ago\n/);
    expect(one.out).toMatch(/^warning {4}4 nodes are not needed$/m);
    const warned = { ...health, warnings: ["4 nodes are not needed"] };
    expect(await shown(["status"], { clusters: [{ cluster: "demo", health: warned }] })).toEqual({
      code: 0,
      out: ["CLUSTER  HEALTHY  OBSERVED  NOTES", "demo     yes      12 s ago  4 nodes are not needed"].join(
        "\n",
      ),
      err: "",
    });
  });

  test("an unhealthy cluster makes it 1", async () => {
    const ill = { ...health, ok: false, notes: ["CycleCloud cannot be reached: no answer"] };
    const one = await shown(["status", "-c", "demo"], { ...cluster, health: ill });
    expect(one.code).toBe(1);
    expect(one.out).toMatch(/^demo: unhealthy, .*\n {2}CycleCloud cannot be reached: no answer\n/);
    expect((await shown(["status"], { clusters: [{ cluster: "demo", health: ill }] })).code).toBe(1);
  });
});

test.each([
  { kind: "nodes-removed", text: "31 nodes were removed in the last hour: n-1, n-2 and 29 more", more: "" },
  { kind: "start-refused", text: "n-1, n-2, n-3, n-4, n-5 and 26 more did not start: no quota", more: "" },
  { kind: "message-rejected", text: "messages could not be read", more: " (31 times)" },
  { kind: "left-out", text: "request set a: left out of this plan", more: " (31 demands)" },
])("status: a number is told once, and with what it counts: $kind", async ({ kind, text, more }) => {
  const { out } = await shown(["status", "-c", "demo"], {
    ...cluster,
    troubles: [{ kind, text, count: 31 }],
  });
  expect(out.split("\n").at(-1)).toBe(`warning    ${text}${more}`);
});

describe("a cluster that is new here", () => {
  const notes = ["no observation of CycleCloud has succeeded yet: the timer tries every minute"];
  const starting = { ok: false, starting: true, notes, warnings: [] };
  const ill = { ok: false, notes: ["CycleCloud cannot be reached: no answer"], warnings: [] };

  test("is starting, and the exit code says: ask again", async () => {
    const one = await shown(["status", "-c", "demo"], { cluster: "demo", health: starting });
    expect(one.code).toBe(3);
    expect(one.out).toMatch(/^demo: starting, state not known, not observed yet\n {2}no observation/);
    const all = await shown(["status"], { clusters: [{ cluster: "demo", health: starting }] });
    expect(all.code).toBe(3);
    expect(all.out.split("\n").at(1)).toMatch(/^demo +starting +no observation/);
  });

  test("is no excuse for another that is unhealthy", async () => {
    const clusters = [
      { cluster: "demo", health: starting },
      { cluster: "prod", health: ill },
    ];
    expect((await shown(["status"], { clusters })).code).toBe(1);
  });
});

describe("in observe mode every view says what would be done", () => {
  test("one request set", async () => {
    const outcome = { id: "nodearray:htc", asked: 4, placed: 4, pending: 4, unit: "nodes", reasons: [] };
    const set = {
      requestSet: "low",
      state: "live",
      demands: 1,
      expiresAt: "T",
      outcomes: [outcome],
      withheld,
    };
    const { out } = await shown(["demand", "-s", "low", "-c", "demo"], set);
    expect(out.split("\n").at(0)).toBe("low: live, 1 demand, until T");
    expect(out.replaceAll("\n", " ")).toContain(WOULD);
  });

  test("status", async () => {
    const { out } = await shown(["status", "-c", "demo"], cluster);
    expect(out.split("\n").slice(2)).toEqual([
      "demands    1: 0 unmet, 1 waiting for nodes (none comes in observe mode)",
      "nodes      none",
      "plan       10 at T (observe): would create 4 x htc/F2; stop htc-1, htc-2, htc-3, htc-4, htc-5 and 1",
      "           more, but the mode is observe",
    ]);
  });

  test("status, with what the virtual fleet did", async () => {
    const virtual = { creates: [{ bucket: "htc/F2", count: 4 }], starts: [], terminates: ["htc-9"] };
    const { out } = await shown(["status", "-c", "demo"], { ...cluster, plan: { ...cluster.plan, virtual } });
    expect(out.split("\n").at(-1)).toBe("virtual    create 4 x htc/F2; stop htc-9 (only in the record)");
  });

  test.each([
    { command: "demand", kind: "target" },
    { command: "jobs", kind: "job" },
  ])("$command", async ({ command, kind }) => {
    const outcomes = [{ requestSet: "low", id: "t", kind, asked: 4, placed: 4, pending: 4, unit: "nodes" }];
    const { out } = await shown([command, "-c", "demo"], { ...cluster, outcomes });
    expect(out.split("\n").at(-1)).toBe(`the plan ${WOULD}`);
  });

  test("plan", async () => {
    const tried = {
      acting: false,
      plan: {
        creates: [{ nodearray: "htc", machineType: "F2", count: 4 }],
        starts: ["htc-9"],
        terminates: ["htc-1"],
        unmet: 0,
        outcomes: [],
      },
      rejectedJobs: [],
    };
    expect(await shown(["plan", "-c", "demo"], tried)).toEqual({
      code: 0,
      out: [
        "would create 4 x htc/F2, but the mode is observe",
        "would start htc-9, but the mode is observe",
        "would stop htc-1, but the mode is observe",
      ].join("\n"),
      err: "",
    });
  });

  test("history", async () => {
    const row = {
      at: "T",
      plan: 10,
      nodes: {},
      inFlight: 0,
      liveSets: 1,
      created: 0,
      terminated: 0,
      unmet: 0,
    };
    const rows = [{ ...row, withheld: { create: 4, start: 0, stop: 1 } }];
    const { out } = await shown(["history", "-c", "demo"], { rows, keptPlans: [] });
    expect(out).toMatch(/ WITHHELD\n.* 4 create, 1 stop$/);
  });
});

test("nodes of another tool are marked as such, and the column is there only then", async () => {
  const list = [
    { name: "htc-1", ownership: "ours: our request made it" },
    {
      name: "htc-2",
      ownership: "not ours: another tool made it, and exclusiveNodearrays does not cover htc",
    },
  ];
  const nodes = (some: typeof list) =>
    shown(["nodes", "-c", "demo"], { ...cluster, nodes: { count: 2, list: some } });
  expect((await nodes(list)).out.split("\n")).toEqual([
    "NODE   WHOSE",
    "htc-1  ours",
    "htc-2  not ours: made by another tool",
  ]);
  expect((await nodes(list.slice(0, 1))).out).toBe("NODE\nhtc-1\nand 1 more");
});

test.each([
  { text: "", width: 5, lines: [""] },
  { text: "one two", width: 7, lines: ["one two"] },
  { text: "one two", width: 6, lines: ["one", "two"] },
  { text: "a longer-than-wide b", width: 5, lines: ["a", "longer-than-wide", "b"] },
])('"$text" in lines of $width', ({ text, width, lines }) => {
  expect(fold(text, width)).toEqual(lines);
});

test("status and buckets say in which mode each node array is, if one is only observed", async () => {
  const array = (name: string, mode: string, managed = true) => ({ name, mode, managed });
  const state = {
    ...cluster,
    buckets: [{ nodearray: "htc", machineType: "F2" }],
    nodearrays: [array("htc", "observe"), array("hpc", "act"), array("old", "act", false)],
  };
  expect((await shown(["status", "-c", "demo"], state)).out).toContain(
    ["mode       array htc: observing only", "           array hpc: acting"].join("\n"),
  );
  expect((await shown(["buckets", "-c", "demo"], state)).out.split("\n")).toEqual([
    "NODEARRAY  SIZE",
    "htc        F2",
    "array htc: observing only",
    "array hpc: acting",
  ]);
  const acting = { ...state, nodearrays: [array("htc", "act")] };
  expect((await shown(["buckets", "-c", "demo"], acting)).out).not.toContain("acting");
});
