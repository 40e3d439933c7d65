import { readStopUrl } from "../../src/local/play/stop-url.ts";
import type { Outcome } from "./outcome.ts";
import type { Scene, SceneOptions } from "./scene.ts";
import { CLUSTER } from "./scene.ts";
import { paced } from "../support/patience.ts";

/** A use case in which the process is to die, and the world around it. */
export interface UseCase {
  readonly name: string;
  readonly scene: Pick<SceneOptions, "speed" | "still"> & { readonly origin: (now: number) => number };
  /**
   * Brings the world to the moment before the use case. Returns the node that will ask to stop, if one will. May freeze what the
   * simulator shows: it thaws some time after the restart.
   */
  prepare(scene: Scene): Promise<Asker | undefined>;
  /** Resolves when the use case has ended; may hang or reject when the process dies. */
  act(scene: Scene, asker: Asker | undefined): Promise<void>;
  /** What the world does by itself after the restart. */
  recover(scene: Scene, asker: Asker | undefined): Promise<void>;
  /** What the world does before the use case is tried again. */
  meanwhile(scene: Scene): Promise<void>;
  /** How it ends, worked out by hand. */
  readonly outcome: Outcome;
}

/** A node, and the address that it asks. */
export interface Asker {
  readonly nodeId: string;
  readonly url: string;
}

const HOURS = 3_600;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const NOTHING_OPEN = { unmet: 0, intents: 0, inFlight: 0, messagesLeft: 0, messagesPutAside: 0 };
/** The timer keeps house (collects bodies, prunes history) in each tenth minute. */
const HOUSEKEEPING = 10 * MINUTE;
/** An observation is acted on for 5 s, a callback is waited for for 20 s: at a higher speed a busy machine would miss that. */
const SPEED = paced(30);

/**
 * Five nodes are asked for by one message to a cluster that has no record yet; none shows until long after the restart. A message in
 * dead hands is hidden for 10 minutes.
 */
export const demandMessage: UseCase = {
  name: "a demand message",
  scene: { speed: paced(60), still: ["snapshot"], origin: (now) => now },
  async prepare(scene) {
    scene.system.simulator.faults.freezeLag();
    return undefined;
  },
  async act(scene) {
    const nodearrays = [{ Name: "execute", TargetCount: 5 }];
    await scene.sendMessage({ version: 1, cluster: CLUSTER, expirationInterval: 6 * HOURS, nodearrays });
    // Its plan has sent the wake message of the next tick, which stays.
    await scene.until(
      "the message is acknowledged",
      async () => (await scene.state()).plan !== undefined && (await scene.messages("demand")) <= 1,
    );
  },
  recover: async () => undefined,
  meanwhile: async () => undefined,
  outcome: {
    created: { execute: 5 },
    alive: { execute: 5 },
    stopped: [],
    demand: [{ requestSet: "standard", state: "live", demands: 1 }],
    ...NOTHING_OPEN,
  },
};

/**
 * A tick with much to do: a set has lapsed, one of its nodes never boots and is past its boot timeout, the other is Ready and reported
 * idle for longer than the idle timeout; two creates were lost, one of which took effect, and its nodes do not show yet; and it is a
 * minute of housekeeping.
 */
const tick: UseCase = {
  name: "a tick",
  scene: {
    speed: SPEED,
    still: ["snapshot", "demand"],
    origin: beginBeforeHousekeeping,
  },
  async prepare(scene) {
    await scene.putSet("old", {
      expirationInterval: 100,
      nodearrays: [
        { Name: "stuck", TargetCount: 1 },
        { Name: "idle", TargetCount: 1 },
      ],
    });
    const lapsed = scene.now() + 100 * SECOND;
    await putKeep(scene, [{ Name: "execute", TargetCount: 2 }]);
    await tickUntil(scene, "all but the stuck node are Ready", () => scene.ready().length === 3);
    await scene.tick();
    const due = nextTickDue(Math.max(lapsed, scene.now() + 65 * SECOND));
    await scene.sleepUntil(due - 60 * SECOND);
    await reportIdle(scene);
    await loseCreates(scene);
    await putTimeouts(scene);
    await scene.sleepUntil(due + SECOND);
    return undefined;
  },
  act: (scene) => scene.runTimer(),
  // The scheduler reports every minute; it asks for nothing, so that what was asked for must have lasted.
  recover: (scene) =>
    scene.until("the idle node is stopped", async () => {
      await reportIdle(scene);
      await scene.sleepUntil(scene.now() + MINUTE);
      return scene.stopped().some((event) => event.array === "idle");
    }),
  meanwhile: async () => undefined,
  outcome: {
    created: { stuck: 1, idle: 1, execute: 4, burst: 2 },
    alive: { execute: 4, burst: 2 },
    stopped: ["idle", "stuck"],
    demand: [
      { requestSet: "keep", state: "live", demands: 2 },
      { requestSet: "old", state: "lapsed", demands: 0 },
      { requestSet: "scheduler", state: "empty", demands: 0 },
    ],
    ...NOTHING_OPEN,
  },
};

/** An origin in the past, such that simulated time begins four minutes before a minute of housekeeping. */
function beginBeforeHousekeeping(now: number): number {
  const ahead = (2 * HOUSEKEEPING - (now % HOUSEKEEPING) - 4 * MINUTE) % HOUSEKEEPING;
  return now - Math.round(ahead / (SPEED - 1));
}

/** The coming minute of housekeeping, if it is not before `earliest`; on a machine too slow for that, any other moment will do. */
function nextTickDue(earliest: number): number {
  const housekeeping = Math.ceil(earliest / HOUSEKEEPING) * HOUSEKEEPING;
  return housekeeping - earliest < 2 * MINUTE ? housekeeping : earliest;
}

/** On a busy machine, the create of a plan may be too late to be sent: then the next tick asks for it. */
function tickUntil(scene: Scene, what: string, holds: () => boolean): Promise<void> {
  return scene.until(what, async () => {
    if (!holds()) await scene.tick();
    return holds();
  });
}

function putKeep(scene: Scene, nodearrays: readonly object[]): Promise<void> {
  return scene.putSet("keep", { expirationInterval: 6 * HOURS, nodearrays });
}

/** The scheduler knows one host; nothing runs there, and nothing will. */
function reportIdle(scene: Scene): Promise<void> {
  const hosts = scene.ready().filter((event) => event.array === "idle");
  const schedulerNodes = hosts.map(({ hostname }) => ({ hostname, jobs: [], state: "closed" }));
  return scene.putSet("scheduler", { expirationInterval: 6 * HOURS, schedulerNodes });
}

/** The answer to the first create and the whole second one are lost. Nothing shows what became of them, and the created nodes do not show. */
async function loseCreates(scene: Scene): Promise<void> {
  const execute = { Name: "execute", TargetCount: 4 };
  scene.system.simulator.faults.freezeLag();
  await loseCreate(scene, [execute], { dropAnswer: true });
  await loseCreate(scene, [execute, { Name: "burst", TargetCount: 2 }], { dropRequest: true });
}

async function loseCreate(scene: Scene, nodearrays: readonly object[], how: Loss): Promise<void> {
  const { faults } = scene.system.simulator;
  // The push itself begins a plan, and each later one sends what is open again.
  faults.failNext({ method: "POST", pathIncludes: "/nodes/create" }, 20, how);
  faults.failNext({ method: "GET", pathIncludes: "/operations" }, 20, { status: 500 });
  faults.failNext({ method: "GET", pathIncludes: "/nodes" }, 20, { status: 500 });
  await putKeep(scene, nodearrays);
  await scene.tick();
  faults.clear();
}

/**
 * Only now, so that the plans up to here have found nothing to stop, however slow they were. The change itself begins a plan: CycleCloud
 * shows it nothing, so that all that is due is left to the tick.
 */
async function putTimeouts(scene: Scene): Promise<void> {
  const { faults } = scene.system.simulator;
  faults.failNext({ method: "GET", pathIncludes: "/clusters/" }, 1000, { status: 500 });
  faults.failNext({ method: "POST", pathIncludes: "/nodes/create" }, 1000, { dropRequest: true });
  await scene.sleepUntil(scene.now() + 10 * SECOND);
  await scene.putConfig({ bootTimeout: 30, idleTimeout: 20 });
  await scene.tick();
  faults.clear();
}

type Loss = { readonly dropAnswer: true } | { readonly dropRequest: true };

/** One of three nodes asks to stop when two are needed. */
export const callback: UseCase = {
  name: "a callback",
  scene: { speed: SPEED, still: ["snapshot", "demand"], origin: (now) => now },
  async prepare(scene) {
    await putKeep(scene, [{ Name: "execute", TargetCount: 3 }]);
    await tickUntil(scene, "three nodes are Ready", () => scene.ready().length === 3);
    await putKeep(scene, [{ Name: "execute", TargetCount: 2 }]);
    await scene.tick();
    return askerAmong(scene);
  },
  async act(_scene, asker) {
    await ask(asker);
  },
  // A node asks until it is let go, also where a connection breaks: it may be one to the process that died.
  recover: (scene, asker) =>
    scene.until("the node is let go", async () => (await ask(asker).catch(() => undefined)) === 200),
  meanwhile: (scene) => scene.tick(),
  outcome: {
    created: { execute: 3 },
    alive: { execute: 2 },
    stopped: ["the asker"],
    demand: [{ requestSet: "keep", state: "live", demands: 1 }],
    ...NOTHING_OPEN,
  },
};

function askerAmong(scene: Scene): Asker {
  const node = scene.ready()[1];
  const url = node === undefined ? undefined : readStopUrl(node.configuration);
  if (node === undefined || url === undefined) throw new Error("no node with an autostop URL is Ready");
  return { nodeId: node.nodeId, url: `${url}?instance=${encodeURIComponent(node.instanceId)}` };
}

async function ask(asker: Asker | undefined): Promise<number> {
  if (asker === undefined) throw new Error("there is no node to ask");
  const response = await fetch(asker.url, { method: "POST" });
  await response.text();
  return response.status;
}

export const useCases: readonly UseCase[] = [demandMessage, tick, callback];
