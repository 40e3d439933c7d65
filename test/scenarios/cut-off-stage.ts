import { PortError } from "../../src/app/ports/port-error.ts";
import { openSite } from "../../src/compose/open-site.ts";
import { readSites } from "../../src/config.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { Dice } from "../simulation/dice.ts";
import type { Asked } from "./asking-node.ts";
import { AskingNodes, askUntilOver } from "./asking-node.ts";
import { oneArray, target } from "./clusters.ts";
import type { Host, Interference } from "./hosts-stage.ts";
import { HostsStage } from "./hosts-stage.ts";

/** What keeps the first hosts from CycleCloud, or from storage. The first of them has the timer. */
export interface CutOff {
  /** Their calls hang until their limit, get no connection, or are refused because of the password. */
  readonly how: "hangs" | "refused" | "old password" | "no storage";
  readonly seed: number;
  readonly hosts?: number;
  /** How many hosts are cut off. */
  readonly cut?: number;
  readonly seconds?: number;
}

export const DAY = { expirationInterval: 86_400 };
const LIMIT_SECONDS = 60;
const CALL_MS = 100;

/** How a host names its credentials, by its password. */
function credentialOf(password: string): string {
  const url = "https://cyclecloud.invalid";
  const cluster = { name: "demo", url, username: "autoscaler", passwordSetting: "CC_PASSWORD" };
  const [read] = readSites({ AUTOSCALER_CLUSTERS: JSON.stringify([cluster]), CC_PASSWORD: password });
  if (read === undefined) throw new Error("the settings have a cluster");
  return openSite(read, {}, () => undefined).credential;
}

/** Hosts of which the first ones are cut off between `begin` and `end`. */
export class CutOffStage extends HostsStage {
  /** When hosts called that were cut off, in seconds since the beginning. */
  readonly calls: number[] = [];
  /** When the hosts were cut off, in seconds since the beginning. */
  cutAt = 0;
  readonly #how: CutOff["how"];
  readonly #cut: ReadonlySet<Host>;

  constructor({ how, seed, hosts = 2, cut = 1 }: CutOff) {
    const passwordOf = (index: number) => (how === "old password" && index < cut ? "the old one" : "new");
    super({
      simulator: oneArray("demo"),
      hosts,
      seed,
      credentials: Array.from({ length: hosts }, (_, index) => credentialOf(passwordOf(index))),
      between: (send, clock) => async (request) => {
        await clock.sleep(CALL_MS);
        return send(request);
      },
    });
    this.#how = how;
    this.#cut = new Set(this.hosts.slice(0, cut));
  }

  begin(): void {
    this.cutAt = this.seconds;
    if (this.#how === "no storage") this.takesMessages = (host) => !this.#cut.has(host);
    this.interference = this.#how === "no storage" ? this.#noStorage() : this.#noCycleCloud();
  }

  end(): void {
    this.takesMessages = () => true;
    this.interference = {};
  }

  /** When CycleCloud answered a status, in seconds since the beginning. */
  get observed(): readonly number[] {
    return this.simulator.log.flatMap(({ kind, at }) => (kind === "status-read" ? [this.secondsAt(at)] : []));
  }

  /** The longest time without an observation since the hosts were cut off, in seconds. */
  get longestGap(): number {
    const before = this.observed.filter((at) => at <= this.cutAt).at(-1) ?? this.cutAt;
    const times = [before, ...this.observed.filter((at) => at > this.cutAt), this.seconds];
    return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
  }

  #noCycleCloud(): Interference {
    const fail = async (): Promise<never> => {
      this.calls.push(this.seconds);
      if (this.#how === "old password") throw new PortError("denied", "a call", "HTTP 401", 401);
      const notSent = this.#how === "refused";
      await this.clock.sleep(notSent ? 1500 : 1000 * LIMIT_SECONDS);
      throw new PortError("unreachable", "a call", "no answer", undefined, { notSent });
    };
    return { call: (host, send) => (this.#cut.has(host) ? fail() : send()) };
  }

  #noStorage(): Interference {
    const fail = () => Promise.reject(new PortError("unreachable", "a call", "no answer"));
    return {
      load: (host) => (this.#cut.has(host) ? fail() : undefined),
      save: (host, _changes, save) => (this.#cut.has(host) ? fail() : save()),
    };
  }
}

/** A stage with this many nodes that are up. */
export async function stageOf(count: number, options: CutOff): Promise<CutOffStage> {
  const stage = new CutOffStage(options);
  stage.push(target("demo", count, DAY), stage.hosts[0]);
  await stage.pass(300);
  return stage;
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

export interface Served {
  /** From each demand to the create that serves it, in seconds, the shortest first. */
  readonly waits: readonly number[];
  /** The longest time between two observations. */
  readonly gap: number;
  /** The most nodes beyond the demand. */
  readonly beyond: number;
  /** How often hosts called that were cut off. */
  readonly calls: number;
  /** From the end of the cut to the next observation. */
  readonly recovered: number;
}

/** Demand rises every 30 to 90 s while hosts are cut off. It comes by PUT to all hosts in turn, or by messages of the queue. */
export async function playDemand(
  options: CutOff,
  { by = "put" }: { readonly by?: "put" | "queue" } = {},
): Promise<Served> {
  const stage = await stageOf(4, options);
  const dice = new Dice(options.seed);
  const waits: number[] = [];
  let open: number[] = [];
  stage.simulator.onEvent((event) => {
    if (event.kind !== "create-accepted") return;
    waits.push(...open.map((at) => stage.seconds - at));
    open = [];
  });
  await stage.pass(60 * dice.fraction());
  stage.begin();
  const until = stage.cutAt + (options.seconds ?? 600);
  let beyond = 0;
  for (let turn = 1; stage.seconds < until; turn += 1) {
    const wanted = 4 + 2 * turn;
    open.push(stage.seconds);
    const message = target("demo", wanted, { ...DAY, revision: stage.clock.now() });
    if (by === "queue") stage.push(message);
    else await putInTurn(stage, message, turn);
    const next = stage.seconds + 30 + 60 * dice.fraction();
    while (stage.seconds < Math.min(next, until)) {
      await stage.pass(1);
      beyond = Math.max(beyond, stage.alive - wanted);
    }
  }
  const [gap, ended] = [stage.longestGap, stage.seconds];
  stage.end();
  await stage.pass(300);
  const recovered = (stage.observed.find((at) => at > ended) ?? Infinity) - ended;
  waits.push(...open.map((at) => stage.seconds - at));
  return { waits: waits.toSorted((a, b) => a - b), gap, beyond, calls: stage.calls.length, recovered };
}

export interface Idled {
  /** How many of the six nodes were stopped while the hosts were cut off. */
  readonly stopped: number;
  /** How many were stopped after they had opened. */
  readonly open: number;
  /** The longest time between two observations. */
  readonly gap: number;
}

/** Six of ten nodes are idle while hosts are cut off. They ask all hosts in turn, as their script does, and no demand comes. */
export async function playIdle(options: CutOff): Promise<Idled> {
  const stage = await stageOf(10, options);
  stage.push(target("demo", 4, { ...DAY, revision: stage.clock.now() }), stage.hosts.at(-1));
  await stage.pass(60 + 60 * new Dice(options.seed).fraction());
  stage.begin();
  const until = stage.cutAt + (options.seconds ?? 600);
  const nodes = new AskingNodes(stage);
  for (const [index, node] of stage.readyNodes.slice(0, 6).entries()) {
    const reach = ({ nth, query }: Asked) =>
      stage.ask(node, stage.hosts[(index + nth) % stage.hosts.length], query);
    const ask = async (): Promise<void> => {
      await stage.clock.sleep(20_000 * index);
      while (stage.stoppedAt(node.nodeId) === undefined && stage.seconds < until) {
        await askUntilOver(stage, node, { nodes, reach });
        await stage.clock.sleep(120_000);
      }
    };
    void ask();
  }
  await stage.pass(until - stage.seconds);
  const { longestGap: gap } = stage;
  const stopped = stage.count("terminate-accepted");
  stage.end();
  await stage.pass(900);
  return { stopped, open: nodes.stoppedOpen.size, gap };
}

/** Of two hosts the one that reaches CycleCloud dies, and wake messages are lost. Soon the other one could. From then to its observation, in seconds. */
export async function playLeft(options: CutOff): Promise<number> {
  const stage = await stageOf(2, options);
  stage.begin();
  // A tick fails at the next full minute, and the other host observes.
  await stage.pass(80);
  stage.hosts[1]?.die();
  stage.wakesArrive = false;
  stage.end();
  const from = stage.seconds;
  await stage.pass(600);
  return (stage.observed.find((at) => at > from) ?? Infinity) - from;
}
