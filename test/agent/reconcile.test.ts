import { expect, test } from "vitest";
import type { AppView, NameOutcome } from "../../src/agent/slurm/app-view.ts";
import { cloudNodes } from "../../src/agent/slurm/cloud-node.ts";
import { NOTHING_KEPT } from "../../src/agent/slurm/kept.ts";
import type { Mapping } from "../../src/agent/slurm/mapping.ts";
import { markEnd, markReason } from "../../src/agent/slurm/marks.ts";
import { readNodes } from "../../src/agent/slurm/read-nodes.ts";
import { noteActs, reconcile } from "../../src/agent/slurm/reconcile.ts";
import { instant, plusSeconds } from "../../src/domain/units.ts";
import { mappingOf, NOTHING_KEPT as NO_SETTINGS } from "./stage.ts";

const NOW = instant(1_763_636_400_000);
const MAPPING = mappingOf(
  "cluster=prod\nstate=/a\nnodes=htc-[1-40] nodearray=htc\nnodes=gpu-[1-2] nodearray=gpu\n",
);

/** Cloud nodes by name, with the state and reason that Slurm shows. */
function nodesOf(states: Readonly<Record<string, string>>, mapping: Mapping) {
  const text = Object.entries(states).map(([name, said]) => {
    const [state, reason] = said
      .split(" ", 1)
      .concat(said.includes(" ") ? [said.slice(said.indexOf(" ") + 1)] : []);
    return `NodeName=${name} Arch=x86_64\n   State=${state} ThreadsPerCore=1\n   Partitions=p\n${reason === undefined ? "" : `   Reason=${reason}\n`}`;
  });
  const nodes = readNodes(text.join("\n"));
  if (nodes === undefined) throw new Error("unreadable");
  return cloudNodes({ nodes, jobs: [], settings: NO_SETTINGS }, mapping);
}

const outcome = (state: NameOutcome["state"], more: Partial<NameOutcome> = {}): NameOutcome => ({
  state,
  isOurs: true,
  isEarlier: false,
  reason: "why",
  ...more,
});

function decide(
  states: Readonly<Record<string, string>>,
  names: Readonly<Record<string, NameOutcome>>,
  more: Partial<Parameters<typeof reconcile>[1]> & { readonly view?: AppView } = {},
) {
  const all = nodesOf(states, more.mapping ?? MAPPING);
  const view: AppView = {
    at: instant(NOW - 1000),
    observationAge: 5,
    rests: false,
    modes: new Map([["htc", "act"] as const, ["gpu", "observe"] as const]),
    names: new Map(Object.entries(names)),
    places: [],
  };
  const upSince = new Map(all.map(({ name }) => [name, instant(NOW - 600_000)]));
  const known = {
    mapping: MAPPING,
    view,
    kept: NOTHING_KEPT,
    now: NOW,
    upSince,
    readySince: new Map(),
    requeues: new Map(),
    ...more,
  };
  const decision = reconcile(all, known);
  return { ...decision, all, shown: decision.acts.map(({ kind, name }) => `${kind} ${name}`) };
}

const GONE = "IDLE+CLOUD+NOT_RESPONDING";

test.each([
  {
    name: "Slurm itself gets no answer, and the app calls it failed",
    states: { "htc-1": GONE },
    expected: ["down htc-1"],
  },
  { name: "its slurmd answers", states: { "htc-1": "IDLE+CLOUD" }, expected: [] },
  { name: "a person drained it", states: { "htc-1": "IDLE+CLOUD+DRAIN+NOT_RESPONDING" }, expected: [] },
  { name: "a person set it DOWN", states: { "htc-1": "DOWN+CLOUD+NOT_RESPONDING broken" }, expected: [] },
  {
    name: "it is DOWN by Slurm's own reason",
    states: { "htc-1": "DOWN+CLOUD+NOT_RESPONDING Not responding" },
    expected: ["power-down htc-1"],
  },
])("a node whose machine has gone: $name", ({ states, expected }) => {
  expect(decide(states, { "htc-1": outcome("failed") }).shown).toEqual(expected);
});

test.each([
  { name: "rests", change: { rests: true } },
  { name: "has not observed", change: { observationAge: undefined } },
  { name: "observed over a minute ago", change: { observationAge: 60 } },
])("is not believed while the app $name", ({ change }) => {
  const { observationAge, ...rest } = {
    at: instant(NOW - 1000),
    observationAge: 5 as number | undefined,
    rests: false,
    modes: new Map([["htc", "act"] as const]),
    names: new Map([["htc-1", outcome("failed")]]),
    places: [],
    ...change,
  };
  const view: AppView = observationAge === undefined ? rest : { ...rest, observationAge };
  expect(decide({ "htc-1": GONE }, {}, { view }).shown).toEqual([]);
});

test("nor before an observation began after the node was up", () => {
  const upSince = new Map([["htc-1", instant(NOW - 4000)]]);
  expect(decide({ "htc-1": GONE }, { "htc-1": outcome("failed") }, { upSince }).shown).toEqual([]);
});

test("a list that lacks many nodes ends at most 10 %, or 3, in ten minutes, and is said", () => {
  const numbers = Array.from({ length: 40 }, (_, index) => `htc-${index + 1}`);
  const states = Object.fromEntries(numbers.map((name) => [name, GONE]));
  const names = Object.fromEntries(numbers.map((name) => [name, outcome("failed")]));
  const first = decide(states, names);
  expect([first.shown.length, first.troubles.length]).toEqual([4, 1]);
  const kept = noteActs(first.kept, first.acts, first.all, NOW);
  expect(decide(states, names, { kept }).shown).toEqual([]);
});

const UP = "IDLE+CLOUD+POWERING_UP";

test("a node that the app has called ready for three minutes is powered down by force", () => {
  const ready = (seconds: number) => new Map([["htc-1", plusSeconds(NOW, -seconds)]]);
  const names = { "htc-1": outcome("ready") };
  expect(decide({ "htc-1": UP }, names, { readySince: ready(180) }).shown).toEqual([]);
  expect(decide({ "htc-1": UP }, names, { readySince: ready(181) }).shown).toEqual([
    "power-down-force htc-1",
  ]);
});

test("powered-down siblings are DOWN while a cause holds for every job, as far as there is no room", () => {
  const states = {
    "htc-1": UP,
    "htc-2": "IDLE+CLOUD+POWERED_DOWN",
    "htc-3": "IDLE+CLOUD+POWERED_DOWN",
    "gpu-1": "IDLE+CLOUD+POWERED_DOWN",
  };
  const until = plusSeconds(NOW, 90);
  const names = {
    "htc-1": outcome("refused", { holdsFor: "everyone", until, room: 1, reason: "no capacity" }),
  };
  const { acts, shown, kept, all } = decide(states, names);
  expect(shown).toEqual(["power-down-force htc-1", "down htc-3"]);
  expect(acts[1]?.reason).toBe("autoscaler: no capacity; until 2025-11-20T11:01:30Z");
  expect(decide(states, { "htc-1": outcome("refused") }).shown).toEqual(["power-down-force htc-1"]);
  // A person opens it before that end: it is not marked again.
  const marked = noteActs(kept, acts, all, NOW);
  expect(decide(states, names, { kept: marked }).shown).toEqual(["power-down-force htc-1"]);
});

const OFF = "IDLE+CLOUD+POWERED_DOWN";
const CLOSED = "DOWN+CLOUD+POWERED_DOWN autoscaler: full; until 2025-11-20T11:00:20Z";

/** What the app says of htc when its refused names have left the set, and what was kept of the refusal. */
function afterRefusal(room: number, states: Readonly<Record<string, string>>, secondsAgo = 180) {
  const marks = new Map(Object.keys(states).map((name) => [name, plusSeconds(NOW, 20)] as const));
  const place = { nodearray: "htc" };
  const refusedAt = plusSeconds(NOW, -secondsAgo);
  const kept = { ...NOTHING_KEPT, marks, closures: new Map([["htc", { place, why: "full", refusedAt }]]) };
  const view: AppView = {
    at: instant(NOW - 1000),
    observationAge: 5,
    rests: false,
    modes: new Map([["htc", "act"] as const]),
    names: new Map(),
    places: [
      { nodearray: "htc", size: "a", nodes: room, shared: room },
      { nodearray: "htc", size: "b", nodes: room, shared: room },
      { nodearray: "hpc", size: "a", nodes: 9, shared: 9 },
    ],
  };
  return decide(states, {}, { kept, view });
}

test.each([
  { name: "no room: marks are renewed before they end", room: 0, expected: ["down htc-2", "down htc-3"] },
  { name: "room for one: one is opened", room: 1, expected: ["resume htc-2", "down htc-3"] },
  { name: "room for both", room: 2, expected: ["resume htc-2", "resume htc-3"] },
])("after a refusal its names have left the set, and the app says: $name", ({ room, expected }) => {
  expect(afterRefusal(room, { "htc-1": "ALLOCATED+CLOUD", "htc-2": CLOSED, "htc-3": CLOSED }).shown).toEqual(
    expected,
  );
});

test("while Slurm holds the refused jobs, room for one opens one: all nodes of the array would look free to them", () => {
  expect(afterRefusal(1, { "htc-2": CLOSED, "htc-3": CLOSED }, 179).shown).toEqual([
    "resume htc-2",
    "down htc-3",
  ]);
  const names = { "htc-1": outcome("refused", { holdsFor: "everyone", room: 1, reason: "full" }) };
  const { kept } = decide({ "htc-1": UP, "htc-2": OFF, "htc-3": OFF }, names);
  expect([...kept.closures.values()]).toMatchObject([{ refusedAt: NOW }]);
});

test("once Slurm uses no node there, room for one opens all, and the refusal is forgotten", () => {
  expect(afterRefusal(1, { "htc-2": CLOSED, "htc-3": CLOSED }).shown).toEqual([
    "resume htc-2",
    "resume htc-3",
  ]);
  expect(afterRefusal(1, { "htc-2": OFF, "htc-3": OFF }).kept.closures.size).toBe(0);
});

test("a size that the array does not list has room for none", () => {
  const mapping = mappingOf("cluster=prod\nstate=/a\nnodes=htc-1 nodearray=htc size=x\n");
  const names = { "htc-1": outcome("refused", { holdsFor: "everyone", room: 0, reason: "no size x" }) };
  const places: AppView["places"] = [{ nodearray: "htc", size: "a", nodes: 9, shared: 9 }];
  const view = (listed: typeof names | object): AppView => ({
    at: instant(NOW - 1000),
    rests: false,
    modes: new Map([["htc", "act"] as const]),
    names: new Map(Object.entries(listed)),
    places,
  });
  const { kept } = decide({ "htc-1": UP }, {}, { mapping, view: view(names) });
  expect(decide({ "htc-1": OFF }, {}, { mapping, view: view({}), kept }).shown).toEqual(["down htc-1"]);
});

test("a name that CycleCloud refuses is DOWN for ten minutes by itself, once it is powered down", () => {
  const names = { "htc-1": outcome("refused", { holdsFor: "name", reason: "bad name" }) };
  const { kept, shown } = decide({ "htc-1": UP, "htc-2": OFF }, names);
  expect(shown).toEqual(["power-down-force htc-1"]);
  const { acts } = decide({ "htc-1": OFF, "htc-2": OFF }, {}, { kept });
  expect(acts.map(({ name, reason }) => [name, reason])).toEqual([
    ["htc-1", "autoscaler: bad name; until 2025-11-20T11:10:00Z"],
  ]);
});

test("nodes that Slurm gave up are made usable, those of people and of observed arrays are left", () => {
  const reached = "DOWN+CLOUD+POWERED_DOWN ResumeTimeout reached";
  const states = { "htc-1": reached, "gpu-1": reached, "htc-2": "DOWN+CLOUD+POWERED_DOWN disk broken" };
  expect(decide(states, {}).shown).toEqual(["resume htc-1"]);
});

test("a name that no file maps is refused with the nearest range, if no other program starts it", () => {
  const { acts } = decide({ "htx-1": UP }, {});
  expect(acts.map(({ reason }) => reason)).toEqual([
    "autoscaler: htx-1 is in no host range of the agents file; the nearest is htc-[1-40]",
  ]);
  const { kept } = decide({ "htx-1": UP }, {});
  expect(decide({ "htx-1": OFF }, {}, { kept }).shown).toEqual(["down htx-1"]);
  const mapping = { ...MAPPING, previousResume: "/a" };
  expect(decide({ "htx-1": UP }, {}, { mapping }).shown).toEqual([]);
});

test("a node that is not ours is DOWN for ten minutes once it is off, or handed to the program that made it", () => {
  const kept = { ...NOTHING_KEPT, others: new Set(["htc-1"]) };
  const states = { "htc-1": "IDLE+CLOUD+POWERED_DOWN" };
  expect(decide(states, {}, { kept }).acts[0]).toMatchObject({ kind: "down", until: NOW + 600_000 });
  const mapping = { ...MAPPING, previousSuspend: "/a" };
  expect(decide(states, {}, { kept, mapping }).shown).toEqual(["hand-on htc-1"]);
});

test("a mark keeps its end, however long and odd its cause is", () => {
  const reason = markReason(`x\u001B[2J"${"y".repeat(400)}`, NOW);
  expect(reason).toHaveLength(200);
  expect(reason).not.toMatch(/["'\p{Cc}]/u);
  expect(markEnd(reason)).toBe(NOW);
  expect(markEnd("autoscaler: no capacity until 12:34")).toBeUndefined();
});
