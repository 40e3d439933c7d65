import { describe, expect, test } from "vitest";
import { answeringServer } from "../support/answering-server.ts";
import { runCommand } from "./run-command.ts";

/**
 * Texts of others that would act on the operator's terminal: colours, the title of the window, lines of their own, the order of what stands
 * beside them. Each answer has them wherever it has a text.
 */

const EVIL = "\u001b]0;PWNED\u0007\u001b[31mRED\r\nFAKE: all is well\u009b2J \u202eabc\u2028x\u200f";

/** What acts; a line feed is only ours. */
const ACTING = /[^\P{Cc}\n]|\p{Bidi_Control}|[\u2028\u2029]/u;

const AT = "2026-01-01T00:00:00.000Z";

const problem = {
  type: "about:blank",
  title: EVIL,
  status: 400,
  detail: EVIL,
  problems: [
    { path: EVIL, found: EVIL, expected: EVIL, didYouMean: EVIL },
    { path: EVIL, found: EVIL, expected: EVIL },
  ],
};

const outcome = {
  requestSet: EVIL,
  id: EVIL,
  kind: "job",
  unit: "slots",
  asked: 2,
  placed: 1,
  unmet: 1,
  user: EVIL,
  reasons: [EVIL],
  binding: EVIL,
  metadata: { [EVIL]: EVIL },
};

const state = {
  cluster: EVIL,
  now: AT,
  generation: 1,
  observedGeneration: 1,
  health: { ok: false, notes: [EVIL], warnings: [EVIL], clusterState: EVIL, lastLookAgeSeconds: 1 },
  troubles: [{ kind: EVIL, text: EVIL, count: 1 }],
  demandCounts: { live: 1, [EVIL]: 2 },
  demand: [
    {
      requestSet: EVIL,
      state: "live",
      unmet: 1,
      validUntil: AT,
      rejectedJobs: [{ name: EVIL, problems: problem.problems }],
    },
  ],
  plan: {
    number: 1,
    at: AT,
    demands: 1,
    unmet: [outcome],
    creates: [{ nodearray: EVIL, machineType: EVIL, count: 1 }],
    terminates: [EVIL],
    starts: [EVIL],
    acting: true,
    withheld: [EVIL],
  },
  nodes: {
    count: 1,
    byPhase: { ready: 1, [EVIL]: 1 },
    list: [
      {
        name: EVIL,
        nodeId: EVIL,
        array: EVIL,
        machineType: EVIL,
        phase: EVIL,
        hostname: EVIL,
        why: EVIL,
        verdict: EVIL,
        busyness: EVIL,
      },
    ],
  },
  buckets: [
    {
      nodearray: EVIL,
      machineType: EVIL,
      limits: [{ limit: EVIL, unit: "nodes", left: 1 }],
      invalidReason: EVIL,
    },
  ],
  outcomes: [outcome],
  waiting: {
    unmet: 1,
    missing: [{ unit: EVIL, amount: 1 }],
    reasons: [{ text: EVIL, demands: 1, first: { requestSet: EVIL, id: EVIL } }],
    remedies: [{ text: EVIL, demands: 1 }],
  },
  notes: [EVIL],
  observing: [{ nodearray: EVIL, since: AT, virtualNodes: 1 }],
  nodearrays: [{ name: EVIL, mode: EVIL }],
  schedulerHosts: { list: [{ hostname: EVIL, resources: { [EVIL]: EVIL }, why: EVIL }] },
  stopKeys: [{ keyId: EVIL, nodes: 1 }],
  inFlight: [{ bucket: EVIL, stillToShow: 1 }],
  // The lines of an explanation are the app's.
  text: EVIL.replace("\n", ""),
  outcome: EVIL,
  message: EVIL,
  trouble: { kind: EVIL, message: EVIL },
  rows: [
    { at: AT, plan: 1, nodes: { [EVIL]: 1 }, inFlight: 0, liveSets: 1, created: 1 },
    {
      nodeId: EVIL,
      name: EVIL,
      machineType: EVIL,
      phase: EVIL,
      requestSets: [EVIL],
      askedAt: EVIL,
      why: EVIL,
    },
  ],
  changes: [
    { number: 1, at: AT, who: EVIL, differences: [{ path: EVIL, before: EVIL, after: EVIL }], more: 0 },
  ],
  messages: [
    { messageId: EVIL, rejectedAt: AT, cluster: "prod", set: EVIL, problems: problem.problems, text: EVIL },
  ],
  clusters: [{ cluster: EVIL, health: { ok: false, notes: [EVIL], warnings: [EVIL] } }],
};

const COMMANDS = [
  "status",
  "nodes",
  "nodearrays",
  "hosts",
  "jobs",
  "demand",
  "demand -s evil",
  "buckets",
  "limits",
  "history",
  "history --nodes",
  "explain job evil",
  "explain node evil",
  "plan",
  "tick",
  "rejected",
  "compare",
  "config get",
  "config history",
  "delete evil",
  "push -",
  "verify --wait 0",
];

const bodies = [
  { name: "a good answer", status: 200, body: JSON.stringify(state), shows: true },
  { name: "a refusal", status: 400, body: JSON.stringify(problem), shows: true },
  { name: "a text of another server", status: 200, body: EVIL, shows: false },
];

describe.each(bodies)("nothing acts on the terminal: $name", ({ status, body, shows }) => {
  test.each(COMMANDS)("%s", async (words) => {
    const { url } = await answeringServer(status, body);
    const reach = ["--url", url, "--key", "k", "--cluster", "prod"];
    const message = { version: 1, cluster: "prod", jobs: [{ name: EVIL, iterations: EVIL, [EVIL]: 1 }] };
    for (const more of [[], ["--json"]]) {
      const { out, err } = await runCommand([...words.split(" "), ...reach, ...more], { "-": message });
      expect(`${out}${err}`).not.toMatch(ACTING);
      expect(`${out}${err}`).not.toMatch(/^FAKE/m);
      expect(`${out}${err}`).not.toBe("");
      // It is shown, with what acts as its code.
      if (shows && !/^(?:delete|verify)/.test(words)) expect(`${out}${err}`).toMatch(/\\u\{?(?:1b|001b)/);
    }
  });
});

/** What CycleCloud says of a cluster, with such a text wherever it has one. */
const status = {
  state: EVIL,
  targetState: EVIL,
  maxCount: 10,
  maxCoreCount: 40,
  nodearrays: [
    {
      name: EVIL,
      maxCount: 10,
      maxCoreCount: 40,
      nodearray: { Region: EVIL, MachineType: EVIL },
      buckets: [
        {
          bucketId: EVIL,
          definition: { machineType: EVIL },
          virtualMachine: { vcpuCount: 4, memory: 8, family: EVIL },
          valid: false,
          invalidReason: EVIL,
          maxCount: 10,
          maxCoreCount: 40,
        },
      ],
    },
  ],
  nodes: [{ Name: EVIL, NodeId: EVIL, Template: EVIL, Status: EVIL, State: EVIL, StatusMessage: EVIL }],
};

test.each([
  { name: "a status", code: 200, body: JSON.stringify(status) },
  { name: "a refusal", code: 500, body: JSON.stringify({ Message: EVIL }) },
])("of CycleCloud, shown by check: $name", async ({ code, body }) => {
  const { url } = await answeringServer(code, body);
  const cluster = { name: "demo", url, username: "u", passwordSetting: "PASSWORD" };
  const Values = { AUTOSCALER_CLUSTERS: JSON.stringify([cluster]), PASSWORD: "correct horse" };
  for (const more of [[], ["--json"]]) {
    const { out, err } = await runCommand(["check", "--settings", "s.json", ...more], {
      "s.json": { Values },
    });
    expect(`${out}${err}`).not.toMatch(ACTING);
    expect(`${out}${err}`).not.toMatch(/^FAKE/m);
    expect(`${out}${err}`).toMatch(/PWNED/);
  }
});

test.each(["config validate -", "push - --wait --url URL --key k"])(
  "of a file, or of a server that is asked more than once: %s",
  async (words) => {
    const { url } = await answeringServer(200, JSON.stringify(state));
    const file = { version: 1, cluster: "prod", jobs: [{ name: EVIL, iterations: EVIL }], [EVIL]: EVIL };
    const { out, err } = await runCommand(words.replace("URL", url).split(" "), { "-": file });
    expect(`${out}${err}`).not.toMatch(ACTING);
    expect(`${out}${err}`).toMatch(/PWNED/);
  },
);

test("words of the command line itself are shown as others are", async () => {
  const { code, err } = await runCommand([EVIL]);
  expect({ code, acts: ACTING.test(err) }).toEqual({ code: 2, acts: false });
  expect(err).toContain("\\u{1b}]0;PWNED");
});

test("a file with a rejected job: its problems are shown before anything is sent", async () => {
  const message = { version: 1, cluster: "prod", jobs: [{ name: EVIL, iterations: EVIL }] };
  const { err } = await runCommand(["push", "-", "--url", "http://127.0.0.1:1", "--key", "k"], {
    "-": message,
  });
  expect(err).not.toMatch(ACTING);
});

test("JSON stays the same value for the program that reads it", async () => {
  const { url } = await answeringServer(200, JSON.stringify(state));
  const reach = ["--url", url, "--key", "k", "--cluster", "prod"];
  const { out } = await runCommand(["status", "--json", ...reach]);
  expect(out).not.toMatch(ACTING);
  expect(JSON.parse(out)).toEqual(state);
});
