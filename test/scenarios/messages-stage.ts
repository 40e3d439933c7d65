import { PortError } from "../../src/app/ports/port-error.ts";
import type { Asked } from "./asking-node.ts";
import { AskingNodes, askAgainAndAgain, askUntilOver } from "./asking-node.ts";
import { oneArray, target } from "./clusters.ts";
import type { Host, Told } from "./hosts-stage.ts";
import { HostsStage } from "./hosts-stage.ts";
import { ORIGIN } from "./stage-options.ts";

/** Messages, questions and requests that wait where a host stands still (docs/protocol.md). */

const DAY = { expirationInterval: 86_400 };
const NO_ANSWER: Told = { status: 0 };

function firstHost({ hosts }: HostsStage): Host {
  const [host] = hosts;
  if (host === undefined) throw new Error("there is a host");
  return host;
}

// ---------------------------------------------------------------- messages of senders

/** A number of nodes that a sender wants, and when it says so, in seconds. */
type Said = readonly [second: number, count: number];

/** A sender, and what it says while the only host stands still. */
export interface Push {
  /** How long the host stands still. */
  readonly seconds: number;
  readonly phase?: number;
  /** Nodes that run, and what is wanted when the host begins to stand still. Ten of the nodes are idle, and ask when it goes on. */
  readonly nodes?: number;
  readonly before?: number;
  /** From when it stands still on. What is said before it goes on waits in front of it. */
  readonly waits?: readonly Said[];
  /** How far apart the host takes what waited, when it goes on. Absent: it takes all at once. */
  readonly takenApartSeconds?: number;
  /** From when it goes on. */
  readonly after?: readonly Said[];
  /** Absent: by PUT. */
  readonly byQueue?: true;
  /**
   * What its revisions are: its time, when its demand changed last, none, or a number that began a day, or an hour, before the beginning and
   * rises by one with each message.
   */
  readonly revision?: "time" | "last-change" | "none" | "counter-of-a-day" | "counter-of-an-hour";
  /** How far its clock is ahead. */
  readonly clockSeconds?: number;
}

export interface Pushed {
  readonly stopped: number;
  readonly madeAgain: number;
  /** From when the host goes on to the first stop. Undefined: there was none. */
  readonly firstStopSeconds: number | undefined;
}

const COUNTERS = { "counter-of-a-day": 86_300_000, "counter-of-an-hour": 3_600_000 };

function openSender(stage: HostsStage, options: Push) {
  const { byQueue, revision = "time", clockSeconds = 0, takenApartSeconds = 0 } = options;
  let [last, changedAt, messages, waited] = [0, 0, 0, 0];
  const put = async (message: ReturnType<typeof target>): Promise<void> => {
    const host = firstHost(stage);
    if (host.standsStill) {
      const laterMs = 1000 * takenApartSeconds * waited;
      waited += 1;
      await host.goesOn();
      if (laterMs > 0) await stage.clock.sleep(laterMs);
    }
    await stage.put(message);
  };
  const revisionOf = (now: number): number => {
    if (revision === "last-change") return changedAt;
    if (revision === "time" || revision === "none") return now;
    return ORIGIN - COUNTERS[revision] + messages;
  };
  return (count: number): void => {
    const now = stage.clock.now() + 1000 * clockSeconds;
    if (count !== last) [last, changedAt] = [count, now];
    messages += 1;
    const message = target("demo", count, {
      ...DAY,
      requestSet: "standard",
      ...(revision === "none" ? {} : { revision: revisionOf(now) }),
    });
    if (byQueue === true) stage.push(message);
    else void put(message);
  };
}

/** The only host stands still while its sender speaks. Ten idle nodes ask from 12 s after it goes on. */
export async function playPush(options: Push): Promise<Pushed> {
  const { seconds, phase = 0, nodes = 20, before = 20, waits = [[5, 10]], after = [[40, 20]] } = options;
  const stage = new HostsStage({ simulator: oneArray("demo"), hosts: 1 });
  const say = openSender(stage, options);
  await stage.pass(10 + phase);
  say(nodes);
  await stage.pass(300);
  say(before);
  await stage.pass(20);
  const at = stage.seconds;
  firstHost(stage).standStill(seconds);
  const asking = new AskingNodes(stage);
  const ask = (): void => {
    for (const node of stage.readyNodes.slice(0, 10))
      void askAgainAndAgain(stage, node, {
        nodes: asking,
        reach: ({ query }) => stage.ask(node, undefined, query),
      });
  };
  const acts: readonly (readonly [number, () => void])[] = [
    ...waits.map(([second, count]) => [second, () => say(count)] as const),
    [seconds + 12, ask],
    ...after.map(([second, count]) => [seconds + second, () => say(count)] as const),
  ];
  for (const [second, act] of acts.toSorted(([a], [b]) => a - b)) {
    await stage.pass(at + second - stage.seconds);
    act();
  }
  await stage.pass(900);
  const first = stage.simulator.log.find(({ kind }) => kind === "terminate-accepted");
  return {
    stopped: stage.count("terminate-accepted"),
    madeAgain: stage.count("node-created") - nodes,
    firstStopSeconds: first === undefined ? undefined : (first.at - ORIGIN) / 1000 - at - seconds,
  };
}

// ---------------------------------------------------------------- a host that stands still

export interface Frozen {
  /** How long it stands still. */
  readonly seconds: number;
  readonly phase?: number;
}

/** A host stands still between its look at the clock and the write of a stop. Two nodes that asked it ask another one. */
export async function playLateStop({ seconds, phase = 0 }: Frozen): Promise<{ readonly open: number }> {
  const stage = await clusterOf({ up: 20, wanted: 18, phase });
  const [a, b] = stage.hosts;
  let isArmed = true;
  stage.interference = {
    terminate: async (host, send) => {
      if (!isArmed || host !== a) return send();
      isArmed = false;
      host.standStill(seconds);
      await host.goesOn();
      return send();
    },
  };
  const nodes = new AskingNodes(stage);
  for (const node of stage.readyNodes.slice(0, 2)) {
    const reach = ({ nth, query }: Asked) => stage.ask(node, nth === 0 ? a : b, query);
    void askUntilOver(stage, node, { nodes, reach });
  }
  await stage.pass(seconds + 500);
  return { open: nodes.stoppedOpen.size };
}

/**
 * A host stands still between its look at the clock and the write of a create. What the other host sends of it is lost on its way, so it asks
 * for the nodes again when the first request cannot arrive any more. Returns how many nodes were made for the 25 that are wanted.
 */
export async function playLateCreate({ seconds, phase = 0 }: Frozen): Promise<number> {
  const stage = await clusterOf({ up: 5, wanted: 5, phase });
  const [a] = stage.hosts;
  const since = stage.seconds;
  let isArmed = true;
  stage.interference = {
    create: async (host, send) => {
      if (isArmed && host === a) {
        isArmed = false;
        host.standStill(seconds);
        await host.goesOn();
        return send();
      }
      if (stage.seconds < since + 200) throw new PortError("unreachable", "create", "lost on its way");
      return send();
    },
  };
  stage.push(target("demo", 25, { ...DAY, revision: stage.clock.now() }));
  await stage.pass(seconds + 1200);
  return stage.count("node-created");
}

/** A host stands still for 40 s between its look at the clock and the write of a stop. Returns what the node is told soon after that. */
export async function playUnsentStop(): Promise<Told | undefined> {
  const stage = await clusterOf({ up: 2, wanted: 1, phase: 0 });
  const [a, b] = stage.hosts;
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("a node is up");
  stage.interference = {
    terminate: async (host, send) => {
      host.standStill(40);
      await host.goesOn();
      return send();
    },
  };
  void stage.ask(node, a, { asked: String(stage.clock.now()) });
  await stage.pass(45);
  return stage.told(node, b, { asked: String(stage.clock.now()), begin: "no" });
}

/** A cluster with nodes that are up, some more than are wanted. */
async function clusterOf({
  up,
  wanted,
  phase,
}: {
  readonly up: number;
  readonly wanted: number;
  readonly phase: number;
}): Promise<HostsStage> {
  const stage = new HostsStage({ simulator: oneArray("demo") });
  await stage.pass(10 + phase);
  stage.push(target("demo", up, DAY));
  await stage.pass(300);
  if (wanted < up) stage.push(target("demo", wanted, { ...DAY, revision: stage.clock.now() }));
  await stage.pass(60);
  return stage;
}

/** One of two hosts stands still while idle nodes ask both, and demand moves by the other. Nodes that opened have jobs, and others end theirs. */
export async function playFrozenHost({ seconds, phase = 0 }: Frozen): Promise<{ readonly busy: number }> {
  const stage = await clusterOf({ up: 20, wanted: 10, phase });
  const [a, b] = stage.hosts;
  const nodes = stage.readyNodes;
  const asking = new AskingNodes(stage);
  a?.standStill(seconds);
  await stage.pass(5);
  for (const [index, node] of nodes.slice(10).entries()) {
    const host = index < 5 ? a : b;
    void askUntilOver(stage, node, { nodes: asking, reach: ({ query }) => stage.ask(node, host, query) });
  }
  // As soon as the nodes that ask the host that stands still have opened, jobs are on them, and three others have ended.
  let isMoved = false;
  stage.every(10, () => {
    if (isMoved || !nodes.slice(10, 15).every(({ nodeId }) => asking.open.has(nodeId))) return;
    isMoved = true;
    stage.push(target("demo", 12, { ...DAY, revision: stage.clock.now() }), b);
  });
  await stage.pass(seconds + 900);
  const busyFromTheBeginning = nodes
    .slice(3, 10)
    .filter(({ nodeId }) => stage.stoppedAt(nodeId) !== undefined);
  return { busy: asking.stoppedOpen.size + busyFromTheBeginning.length };
}

// ---------------------------------------------------------------- questions that wait

export interface LateQuestions {
  /** From the first question to the moment at which the waiting ones arrive. */
  readonly seconds: number;
  /** Which questions of the series wait. The others reach no host. */
  readonly waiting: readonly number[];
  /** By how much the node's clock is set forward after its app has come to know it. Absent: the app does not know it. */
  readonly setForwardSeconds?: number;
  /** By how much the node's clock is ahead of the app's from the beginning. */
  readonly aheadSeconds?: number;
  /** How often this happens. Absent: once. */
  readonly times?: number;
}

export interface LateStops {
  readonly open: number;
  readonly stopped: number;
}

/** Some questions of three idle nodes wait in front of a host, all to the same moment. A node without an answer takes work again. */
export async function playLateQuestions(options: LateQuestions): Promise<LateStops> {
  const { seconds, waiting, setForwardSeconds, aheadSeconds, times = 1 } = options;
  const { stage, nodes, clock } = await knownNodes(setForwardSeconds, aheadSeconds);
  const asking = new AskingNodes(stage);
  for (let time = 0; time < times; time += 1) {
    const arriveAt = stage.clock.now() + 1000 * seconds;
    for (const node of nodes) {
      const reach = async ({ nth, query }: Asked): Promise<Told> => {
        if (!waiting.includes(nth)) return NO_ANSWER;
        await stage.clock.sleep(Math.max(0, arriveAt - stage.clock.now()));
        return stage.ask(node, undefined, query);
      };
      void askUntilOver(stage, node, { nodes: asking, reach, clock });
    }
    await stage.pass(seconds + (time + 1 < times ? 90 : 900));
  }
  return { open: asking.stoppedOpen.size, stopped: stage.count("terminate-accepted") };
}

/** Three idle nodes whose clocks are set ask again and again. Returns after how many seconds the last of them is stopped. */
export async function playSetClocks(setForwardSeconds: number): Promise<number> {
  const { stage, nodes, clock } = await knownNodes(setForwardSeconds);
  const since = stage.seconds;
  const asking = new AskingNodes(stage);
  for (const node of nodes) {
    const reach = ({ query }: Asked) => stage.ask(node, undefined, query);
    void askAgainAndAgain(stage, node, { nodes: asking, reach, clock });
  }
  await stage.pass(1800);
  return Math.max(...nodes.map(({ nodeId }) => stage.stoppedAt(nodeId) ?? Number.POSITIVE_INFINITY)) - since;
}

/** Three of six nodes are idle. If their clocks are set, the app knew them before. */
async function knownNodes(setForwardSeconds: number | undefined, aheadSeconds = 0) {
  const stage = await clusterOf({ up: 6, wanted: 6, phase: 0 });
  const nodes = stage.readyNodes.slice(0, 3);
  let aheadMs = 1000 * aheadSeconds;
  const clock = (): number => stage.clock.now() + aheadMs;
  if (setForwardSeconds !== undefined) {
    for (const node of nodes) await stage.told(node, undefined, { asked: String(clock()) });
    await stage.pass(40);
    for (const node of nodes) await stage.told(node, undefined, { asked: String(clock()) });
    aheadMs += 1000 * setForwardSeconds;
  }
  stage.push(target("demo", 3, { ...DAY, revision: stage.clock.now() }));
  await stage.pass(60);
  return { stage, nodes, clock };
}
