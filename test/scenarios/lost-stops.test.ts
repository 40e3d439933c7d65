import { describe, expect, test } from "vitest";
import { PortError } from "../../src/app/ports/port-error.ts";
import { oneArray, QUICK, target } from "./clusters.ts";
import type { Interference, Told } from "./hosts-stage.ts";
import type { Send } from "./stage-options.ts";
import { HostsStage } from "./hosts-stage.ts";

const DAY = { expirationInterval: 86_400 };

/** Ten nodes that are up and no longer needed. */
async function idleCluster(
  nodes: number,
  between?: (send: Send) => Send,
  simulator: Parameters<typeof oneArray>[2] = {},
): Promise<HostsStage> {
  const stage = new HostsStage({
    simulator: oneArray("demo", {}, simulator),
    ...(between === undefined ? {} : { between }),
  });
  await stage.pass(10);
  stage.push(target("demo", nodes, DAY));
  await stage.pass(300);
  expect(stage.readyNodes).toHaveLength(nodes);
  stage.push(target("demo", 0, DAY));
  await stage.pass(60);
  return stage;
}

const cut = (): Promise<never> => Promise.reject(new PortError("unreachable", "terminate", "cut"));

describe("the stop of all nodes never arrives, and demand comes back 20 s later: nothing is made twice", () => {
  const cases: readonly { how: string; interference: () => Interference; between?: (send: Send) => Send }[] =
    [
      { how: "the connection is cut before the request arrives", interference: () => ({ terminate: cut }) },
      {
        how: "CycleCloud answers 503",
        interference: () => ({}),
        between: (send) => {
          let refused = false;
          return (request) => {
            if (refused || !request.path.endsWith("/terminate")) return send(request);
            refused = true;
            return Promise.resolve({ status: 503, headers: {}, body: undefined });
          };
        },
      },
      {
        how: "the host dies between commit and send",
        interference: () => ({
          terminate: (host) => {
            host.die();
            return new Promise(() => undefined);
          },
        }),
      },
    ];
  test.each(cases)("$how", async ({ interference, between }) => {
    const stage = await idleCluster(100, between);
    const once = interference();
    stage.interference = {
      ...once,
      ...(once.terminate === undefined
        ? {}
        : {
            terminate: (host, send) => {
              const first = once.terminate?.(host, send) ?? send();
              stage.interference = {};
              return first;
            },
          }),
    };
    const told: Told[] = [];
    for (const node of stage.readyNodes)
      void stage.ask(node, stage.hosts[0]).then((answer) => told.push(answer));
    await stage.pass(20);
    for (const { status, undrain } of told) expect([status, undrain]).toEqual([503, false]);
    stage.push(target("demo", 100, DAY));
    await stage.pass(360);
    expect(stage.count("node-created")).toBe(100);
    expect(stage.count("terminate-accepted")).toBe(0);
    expect((await stage.record())?.intents).toEqual([]);
    // The stop is known to be lost, so the next question gets a verdict again.
    const [node] = stage.readyNodes;
    if (node !== undefined) expect(await stage.told(node)).toMatchObject({ status: 409, undrain: true });
  });

  test("later demand for more nodes than there are is served at once, also while the stops are unknown", async () => {
    const stage = await idleCluster(10);
    stage.interference = { terminate: cut };
    for (const node of stage.readyNodes) void stage.ask(node, stage.hosts[0]);
    await stage.pass(20);
    stage.push(target("demo", 14, DAY));
    await stage.pass(10);
    expect(stage.count("node-created")).toBe(14);
  });
});

describe("a node is told to stay only if no stop of it can be under way", () => {
  const answerLost = (): { between: (send: Send) => Send } => {
    let lost = false;
    return {
      between: (send) => async (request) => {
        const answer = await send(request);
        if (lost || !request.path.endsWith("/terminate")) return answer;
        lost = true;
        return cut();
      },
    };
  };

  test.each([
    ["the operation tells", {}],
    ["only nodes?request_id= tells", { quirks: { operationsKnowCreatesOnly: true } }],
  ])("the answer of the terminate is lost; %s: 200", async (_, simulator) => {
    const stage = await idleCluster(3, answerLost().between, simulator);
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("no node");
    expect(await stage.told(node)).toEqual({ status: 200 });
    expect(stage.count("terminate-accepted")).toBe(1);
  });

  test("the host dies once CycleCloud has accepted: another host says 503 and undrain false, and 200 after its next look", async () => {
    const timings = { ...QUICK, secondsToTerminate: 120 };
    const stage = await idleCluster(3, undefined, { timings });
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("no node");
    stage.interference = {
      terminate: (host, send) => {
        void send();
        host.die();
        return new Promise(() => undefined);
      },
    };
    expect(await stage.told(node, stage.hosts[0], {}, 2)).toBeUndefined();
    expect(stage.count("terminate-accepted")).toBe(1);
    expect(await stage.told(node, stage.hosts[1])).toMatchObject({
      status: 503,
      undrain: false,
      retryAfter: "30",
    });
    await stage.pass(60);
    expect(await stage.told(node, stage.hosts[1])).toEqual({ status: 200 });
  });

  test.each(["load", "save"] as const)(
    "storage does not answer a %s: 503 within 15 s, undrain false",
    async (call) => {
      const stage = await idleCluster(2);
      const [node] = stage.readyNodes;
      if (node === undefined) throw new Error("no node");
      const begun = stage.seconds;
      stage.interference = { [call]: () => new Promise(() => undefined) };
      expect(await stage.told(node)).toMatchObject({ status: 503, undrain: false, retryAfter: "30" });
      expect(stage.seconds - begun).toBeLessThanOrEqual(16);
    },
  );

  test("a host stands still once the node is marked, and another tells the node to stay: the mark does not stop it when demand has gone again", async () => {
    const stage = await idleCluster(1);
    const [node] = stage.readyNodes;
    const [first, second] = stage.hosts;
    if (node === undefined || first === undefined || second === undefined) throw new Error("no node");
    stage.interference = {
      save: async (host, _, save) => {
        const saved = await save();
        if (host === first) first.standStill(10);
        return saved;
      },
    };
    const late = stage.ask(node, first);
    await stage.pass(2);
    stage.interference = {};
    await stage.accept(target("demo", 1, DAY), second);
    // The node takes work again.
    expect(await stage.told(node, second, {}, 2)).toMatchObject({ status: 409, undrain: true });
    await stage.accept(target("demo", 0, DAY), second);
    await stage.pass(60);
    expect(await late).toMatchObject({ status: 503 });
    expect(stage.count("terminate-accepted")).toBe(0);
  });

  test("storage refuses: 503 at once, undrain false", async () => {
    const stage = await idleCluster(2);
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("no node");
    stage.interference = { save: () => Promise.reject(new PortError("unreachable", "save", "cut")) };
    expect(await stage.told(node, stage.hosts[0], {}, 2)).toMatchObject({ status: 503, undrain: false });
  });

  test.each([
    [
      { asked: "soon" },
      'parameter asked: found "soon", expected the node\'s time as a whole number that rises',
    ],
    [{ begin: "maybe" }, 'parameter begin: found "maybe", expected yes or no'],
  ])("%o is refused with what was expected", async (query, why) => {
    const stage = await idleCluster(1);
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("no node");
    expect(await stage.told(node, stage.hosts[0], query)).toEqual({ status: 400, why });
  });

  test("a terminate that takes longer than the node waits: 503 within 15 s, and 200 once it is accepted", async () => {
    const stage = await idleCluster(3);
    const [node, other] = stage.readyNodes;
    if (node === undefined || other === undefined) throw new Error("no nodes");
    stage.interference = {
      terminate: async (_, send) => {
        const answer = await send();
        await stage.clock.sleep(25_000);
        return answer;
      },
    };
    const begun = stage.seconds;
    expect(await stage.told(node)).toMatchObject({ status: 503, undrain: false });
    expect(stage.seconds - begun).toBeLessThanOrEqual(16);
    // No other node waits behind the slow stop: a node that the demand needs gets its answer at once.
    stage.push(target("demo", 3, DAY));
    await stage.pass(1);
    expect(await stage.told(other, stage.hosts[0], {}, 1)).toMatchObject({ status: 409, undrain: true });
    await stage.pass(15);
    expect(await stage.told(node)).toEqual({ status: 200 });
  });
});
