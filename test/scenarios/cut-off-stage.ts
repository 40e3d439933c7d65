import { PortError } from "../../src/app/ports/port-error.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { Dice } from "../simulation/dice.ts";
import type { Asked } from "./asking-node.ts";
import { AskingNodes, askUntilOver } from "./asking-node.ts";
import { oneArray, target } from "./clusters.ts";
import type { Host } from "./hosts-stage.ts";
import { HostsStage } from "./hosts-stage.ts";

/** What keeps some hosts from CycleCloud, or from storage. The first of them has the timer. */
export interface CutOff {
  readonly how: "hangs" | "refused" | "old password" | "no storage" | "nothing";
  readonly seed: number;
  readonly hosts?: number;
  /** How many hosts are cut off. */
  readonly cut?: number;
  readonly seconds?: number;
  /** Demand comes by PUT to all hosts in turn, or as messages of the queue. */
  readonly by?: "put" | "queue";
}

const DEFAULTS = { hosts: 2, cut: 1, seconds: 600, by: "put" } as const;
const DAY = { expirationInterval: 86_400 };
const LIMIT_SECONDS = 60;

/** Hosts of which some will be cut off, with nodes that are up. */
async function clusterOf(count: number, options: CutOff) {
  const how = { ...DEFAULTS, ...options };
  const credentials = Array.from({ length: how.hosts }, (_, index) =>
    how.how === "old password" && index < how.cut ? "old" : "new",
  );
  const stage = new HostsStage({
    simulator: oneArray("demo"),
    hosts: how.hosts,
    seed: how.seed,
    credentials,
    between: (send, clock) => async (request) => {
      await clock.sleep(100);
      return send(request);
    },
  });
  stage.push(target("demo", count, DAY), stage.hosts[0]);
  await stage.pass(300);
  const cut = new Set<Host>(stage.hosts.slice(0, how.cut));
  /** Calls of the hosts that are cut off, in seconds since the beginning. */
  const calls: number[] = [];
  const fail = async (): Promise<never> => {
    calls.push(stage.seconds);
    if (how.how === "old password") throw new PortError("denied", "status", "HTTP 401", 401);
    const notSent = how.how === "refused";
    await stage.clock.sleep(notSent ? 1500 : 1000 * LIMIT_SECONDS);
    throw new PortError("unreachable", "status", "no answer", undefined, { notSent });
  };
  const noStorage = () => Promise.reject(new PortError("unreachable", "storage", "no answer"));
  return {
    stage,
    calls,
    begin: () => {
      if (how.how === "nothing") return;
      if (how.how === "no storage") {
        stage.takesMessages = (host) => !cut.has(host);
        stage.interference = {
          load: (host) => (cut.has(host) ? noStorage() : undefined),
          save: (host, _changes, save) => (cut.has(host) ? noStorage() : save()),
        };
      } else stage.interference = { call: (host, send) => (cut.has(host) ? fail() : send()) };
    },
    end: () => {
      stage.takesMessages = () => true;
      stage.interference = {};
    },
    how,
  };
}

export interface Observed {
  /** Times between good observations, in seconds. */
  readonly gaps: readonly number[];
  /** Calls of the hosts that were cut off. */
  readonly calls: readonly number[];
}

export interface Served extends Observed {
  /** From each demand to the create that serves it, in seconds. */
  readonly waits: readonly number[];
  /** The most nodes beyond the demand. */
  readonly beyond: number;
}

function gapsOf(stage: HostsStage, from: number, until: number): readonly number[] {
  const reads = stage.simulator.log
    .filter(({ kind }) => kind === "status-read")
    .map(({ at }) => stage.secondsAt(at));
  const before = reads.filter((at) => at <= from).at(-1) ?? from;
  const times = [before, ...reads.filter((at) => at > from && at < until), until];
  return times.slice(1).map((at, index) => at - (times[index] ?? at));
}

/** A sender that gets no answer tries the next host. */
async function putInTurn(stage: HostsStage, message: DemandMessage, turn: number): Promise<void> {
  const host = stage.hosts[turn % stage.hosts.length];
  if (host === undefined) return;
  try {
    await stage.put(message, host);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    await putInTurn(stage, message, turn + 1);
  }
}

/** Demand rises every 30 to 90 s while some hosts are cut off. */
export async function playDemand(options: CutOff): Promise<Served> {
  const { stage, begin, end, how, calls } = await clusterOf(4, options);
  const dice = new Dice(how.seed);
  const waits: number[] = [];
  let open: number[] = [];
  stage.simulator.onEvent((event) => {
    if (event.kind !== "create-accepted") return;
    waits.push(...open.map((at) => stage.seconds - at));
    open = [];
  });
  await stage.pass(60 * dice.fraction());
  const from = stage.seconds;
  begin();
  let wanted = 4;
  let beyond = 0;
  let turn = 0;
  while (stage.seconds < from + how.seconds - 60) {
    wanted += 2;
    open.push(stage.seconds);
    const message = target("demo", wanted, { ...DAY, revision: stage.clock.now() });
    if (how.by === "queue") stage.push(message);
    else await putInTurn(stage, message, (turn += 1));
    const until = stage.seconds + 30 + 60 * dice.fraction();
    while (stage.seconds < until) {
      await stage.pass(1);
      beyond = Math.max(beyond, stage.alive - wanted);
    }
  }
  await stage.pass(Math.max(0, from + how.seconds - stage.seconds));
  const gaps = gapsOf(stage, from, stage.seconds);
  end();
  await stage.pass(300);
  waits.push(...open.map((at) => stage.seconds - at));
  return { waits, gaps, beyond, calls };
}

export interface Idled extends Observed {
  /** When the nodes that are not needed were stopped, in seconds after the cut. */
  readonly stopped: readonly number[];
  /** Of them, those that had opened before. */
  readonly open: number;
}

/** Six of ten nodes become idle while some hosts are cut off. They ask all hosts in turn, and no demand comes. */
export async function playIdle(options: CutOff): Promise<Idled> {
  const { stage, begin, end, how, calls } = await clusterOf(10, options);
  const dice = new Dice(how.seed);
  stage.push(target("demo", 4, { ...DAY, revision: stage.clock.now() }), stage.hosts.at(-1));
  await stage.pass(60 + 60 * dice.fraction());
  const from = stage.seconds;
  begin();
  const nodes = new AskingNodes(stage);
  for (const [index, node] of stage.readyNodes.slice(0, 6).entries()) {
    const reach = ({ nth, query }: Asked) =>
      stage.ask(node, stage.hosts[(index + nth) % stage.hosts.length], query);
    const asks = async (): Promise<void> => {
      await stage.clock.sleep(20_000 * index);
      while (stage.stoppedAt(node.nodeId) === undefined && stage.seconds < from + how.seconds) {
        await askUntilOver(stage, node, { nodes, reach });
        await stage.clock.sleep(120_000);
      }
    };
    void asks();
  }
  await stage.pass(how.seconds);
  const gaps = gapsOf(stage, from, stage.seconds);
  end();
  await stage.pass(900);
  const stopped = stage.simulator.log.flatMap((event) =>
    event.kind === "terminate-accepted" ? [stage.secondsAt(event.at) - from] : [],
  );
  return { gaps, stopped, open: nodes.stoppedOpen.size, calls };
}
