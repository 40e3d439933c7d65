import { describe, expect, test } from "vitest";
import { ChangesStage } from "./changes-stage.ts";
import { oneArray, QUICK } from "./clusters.ts";
import { playChanges, playTakenOver } from "./play-changes.ts";
import { LONGEST_GAP, LONGEST_WAIT, SLOW_PLANS } from "./mutants-changes.ts";

/** A configuration counts from its answer (docs/protocol.md, Configuration), with several hosts that each hold a copy for 15 s. */

test.each([1, 2, 3])(
  "observe and act in turn each second while demand rises: nothing is committed after observe was answered, and 10 s after the last change the cluster is planned (seed %i)",
  async (seed) => {
    expect(await playChanges(seed)).toMatchObject({ late: 0, unplanned: 0 });
  },
);

test("hosts die meanwhile: the same", async () => {
  expect(await playChanges(1, { hosts: 4, deaths: 0.02 })).toMatchObject({ late: 0 });
});

test("plans take 8 s to be saved, and a change comes each second: one is saved at least once a minute, and observe never waits", async () => {
  const { gap, late, waited } = await playChanges(1, SLOW_PLANS);
  expect(late).toBe(0);
  expect(gap).toBeLessThan(LONGEST_GAP);
  expect(waited).toBeLessThan(LONGEST_WAIT);
});

test("the owner of a create dies before it sends it, and observe is answered: nobody sends it, and it ends", async () => {
  expect(await playTakenOver(1)).toEqual({ resent: 0, open: 0 });
});

/** A stage whose cluster acts under this document, with a host. */
async function acting(document: object, options: ConstructorParameters<typeof ChangesStage>[1] = {}) {
  const stage = new ChangesStage(1, { hosts: 1, ...options });
  await stage.put({ mode: "act", ...document });
  return stage;
}

describe("a node asks for its stop, and the configuration changes between its mark and the grant", () => {
  async function marked(document: object) {
    const stage = await acting({});
    stage.push(1);
    while (stage.readyNodes.length === 0) await stage.pass(10);
    stage.push(0);
    await stage.pass(300);
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("the node is there until it asks");
    stage.onSaved = async ({ changes }) => {
      if (changes.questions === undefined || changes.plan !== undefined) return;
      stage.onSaved = undefined;
      await stage.put(document);
    };
    const answers = [await stage.ask(node), await stage.ask(node)];
    expect(stage.onSaved).toBeUndefined();
    return { answers, stopped: stage.arraysOf("terminate-accepted").length };
  }

  test("to observe: it is to ask again, and stays", async () => {
    const { answers, stopped } = await marked({ mode: "observe" });
    expect(answers).toEqual([
      expect.stringMatching(/^503 .*the configuration has changed; ask again/),
      expect.stringMatching(/^409 .*observe mode/),
    ]);
    expect(stopped).toBe(0);
  });

  test("to another one that acts: it is to ask again, and stops then", async () => {
    const { answers, stopped } = await marked({ mode: "act", idleTimeout: 400 });
    expect(answers).toEqual([expect.stringMatching(/^503 .*ask again/), expect.stringMatching(/^200 /)]);
    expect(stopped).toBe(1);
  });
});

test("a plan's stops of two arrays are committed, and one of them is observed before they are sent: that one is withdrawn", async () => {
  const { clusters, ...rest } = oneArray("demo");
  const [cluster] = clusters;
  const [array] = cluster?.arrays ?? [];
  if (cluster === undefined || array === undefined) throw new Error("there is an array");
  const arrays = ["execute", "burst"].map((name) => ({ ...array, name }));
  const timings = { ...QUICK, secondsToPrepare: 10_000_000 };
  const simulator = { ...rest, clusters: [{ ...cluster, arrays }], timings };
  const stage = await acting({ bootTimeout: 120 }, { simulator });
  stage.push(1, ["execute", "burst"]);
  const stops: string[] = [];
  stage.onSaved = async ({ record: { intents } }) => {
    stops.push(...intents.flatMap(({ effect }) => (effect.kind === "terminate" ? effect.nodes : [])));
    if (stops.length === 0) return;
    stage.onSaved = undefined;
    await stage.put({ mode: { default: "act", execute: "observe" }, bootTimeout: 120 });
  };
  while (stops.length === 0) await stage.pass(1);
  expect(stops).toHaveLength(2);
  // Before the next plan, which would stop it again.
  await stage.pass(2);
  expect(stage.arraysOf("terminate-accepted")).toEqual(["burst"]);
  expect(await stage.open("terminate")).toBe(0);
});

describe("the mode at the first plan", () => {
  async function begun(options: ConstructorParameters<typeof ChangesStage>[1]) {
    const stage = new ChangesStage(1, { hosts: 1, ...options });
    stage.push(1);
    await stage.pass(60);
    expect(stage.planned.length).toBeGreaterThan(0);
    return stage;
  }

  test("it is written into the configuration; a document without one that is stored later gets none", async () => {
    const stage = await begun({});
    expect(await stage.versions()).toEqual([
      ["written at the beginning", expect.stringContaining('"mode":"act"')],
    ]);
    await stage.put({ idleTimeout: 60 });
    await stage.pass(180);
    expect((await stage.versions()).at(0)).toEqual([undefined, '{"idleTimeout":60}']);
  });

  test.each(["act", "watch"] as const)("a trial (%s) writes none", async (trial) => {
    expect(await (await begun({ trial })).versions()).toEqual([]);
  });
});
