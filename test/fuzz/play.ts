import { readStopUrl } from "../../src/local/play/stop-url.ts";
import { decodeMessage, MOST_BY_QUEUE } from "../../src/wire/json/decode.ts";
import { Caller } from "./caller.ts";
import type { Fault, Input, Inputs } from "./input.ts";
import { judgeAside, memberOf } from "./judge.ts";
import type { Became } from "./judge-size.ts";
import { becameOf, judgeSize } from "./judge-size.ts";
import type { Sent } from "./send.ts";
import { prepareInput } from "./send.ts";
import type { Stage } from "./stage.ts";
import { openStage } from "./stage.ts";
import type { World } from "./world.ts";
import { openWorld } from "./world.ts";

let stage: Stage | undefined;

/** Plays inputs one after the other on an app of their own; what is wrong with how it met them. */
export async function play(inputs: Inputs, stores: "memory" | "tables"): Promise<readonly Fault[]> {
  const world = openWorld(stores);
  stage ??= await openStage(world);
  stage.show(world);
  const caller = new Caller(world, stage);
  const player = new Player(world, caller);
  await player.begin();
  for (const input of inputs) await player.meet(input);
  await player.end(inputs);
  return caller.faults;
}

class Player {
  readonly #world: World;
  readonly #caller: Caller;
  /** Of a node that is up. */
  #token = "none";

  constructor(world: World, caller: Caller) {
    this.#world = world;
    this.#caller = caller;
    world.simulator.onEvent((event) => {
      if (event.kind === "node-ready")
        this.#token = readStopUrl(event.configuration)?.split("/").at(-1) ?? "none";
    });
  }

  /** Two nodes up, and demand for more. */
  async begin(): Promise<void> {
    await this.#put("config", CONFIG);
    await this.#put("request-sets/base", BASE);
    await this.#caller.minutes(2);
  }

  async meet(input: Input): Promise<void> {
    const { cluster } = this.#world;
    // Nothing is promised for the cluster of a record that was written by hand, but everything for other clusters.
    if (input.door === "rows" && input.how === "damaged") this.#caller.deaf = cluster;
    const sent = await this.#caller.drive(prepareInput(this.#world, input, this.#token));
    const became = await this.#send(sent);
    this.#caller.faults.push(...judgeSize(input, became, this.#world.cluster));
    await this.#follow();
    this.#world.tamper = (_request, answer) => answer;
  }

  /** What other sets and clusters ask for comes, whatever came before. */
  async end(inputs: Inputs): Promise<void> {
    const { cluster, calm } = this.#world;
    const isOurs = this.#caller.deaf === undefined;
    if (inputs.some(({ door, how }) => door === "config" || how === "config"))
      await this.#put("config", CONFIG);
    if (inputs.some(({ door, how }) => door === "cyclecloud" || how === "status"))
      await this.#caller.minutes(MINUTES_TO_RECOVER);
    if (isOurs) await this.#put("request-sets/steady", STEADY);
    await this.#put("request-sets/calm", CALM, calm);
    await this.#caller.minutes(1);
    if (isOurs) this.#expectNodes(cluster, "reserved");
    this.#expectNodes(calm, "execute");
    this.#caller.readLog();
  }

  async #send(sent: Sent): Promise<Became> {
    if (sent.kind === "message") return this.#deliver(sent.queue, sent.text);
    if (sent.kind === "request")
      return becameOf(await this.#caller.request(sent.method, sent.path, sent.body, sent.headers));
    this.#caller.faults.push(...sent.faults);
    return "unknown";
  }

  /** A message is taken, or put aside with what is wrong with it; it never vanishes. */
  async #deliver(name: "demand" | "demand-poison", text: string): Promise<Became> {
    const { faults } = this.#caller;
    const { queue, log } = this.#world;
    const before = await queue.rejected();
    // The timer sweeps the poison queue.
    if (name === "demand-poison") queue.addPoison(text);
    const ended = await (name === "demand"
      ? this.#caller.deliver("demand", text)
      : this.#caller.deliver("snapshot", "{}"));
    // The host gives up after five times, and puts it there.
    if (name === "demand" && ended === "unparsed") return this.#deliver("demand-poison", text);
    const after = await queue.rejected();
    const aside = after.oldest.slice(before.count);
    for (const { problems } of aside) faults.push(...judgeAside(problems));
    const isTaken = log.some((line) => TAKEN.test(line)) || isWake(text);
    if (aside.length > 0) return "refused";
    if (ended === "well" && !isTaken)
      faults.push({ kind: `vanished (${name})`, what: `neither taken nor put aside: ${text.slice(0, 200)}` });
    // Which of its jobs were left out shows only later.
    return isTaken ? "taken, at least in part" : "unknown";
  }

  /** A plan, a tick, and every page that shows what came in. */
  async #follow(): Promise<void> {
    const { cluster, queue } = this.#world;
    for (const item of queue.drain()) {
      const text =
        item.kind === "text"
          ? item.text
          : JSON.stringify({ version: 1, cluster: item.cluster, wake: true, at: item.at, id: item.id });
      await this.#caller.deliver("demand", text);
    }
    await this.#caller.minutes(1);
    for (const path of PAGES) await this.#caller.request("GET", path.replace("@", cluster));
    await this.#caller.request("POST", `/clusters/${cluster}/plan`);
    this.#caller.readLog();
  }

  async #put(what: string, body: object, cluster: string = this.#world.cluster): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(body));
    const { status = 200 } = (await this.#caller.request("PUT", `/clusters/${cluster}/${what}`, bytes)) ?? {};
    if (status < 300) return;
    const fault = { kind: `starved (PUT ${what})`, what: `an honest PUT of ${what} is answered ${status}` };
    this.#caller.faults.push(fault);
  }

  #expectNodes(cluster: string, array: string): void {
    const path = `/clusters/${cluster}/status`;
    const { body } = this.#world.simulator.request({ method: "GET", path, query: { nodes: "true" } });
    const listed = memberOf(body, "nodes");
    const nodes = (Array.isArray(listed) ? listed : []).filter(
      (node) => memberOf(node, "Template") === array,
    );
    if (nodes.length >= 2) return;
    const what = `${cluster} has ${nodes.length} nodes of ${array}, not 2`;
    this.#caller.faults.push({ kind: `starved (${array})`, what });
  }
}

/** A wake message asks for a plan only: nothing of it is kept. */
function isWake(text: string): boolean {
  const decoded = decodeMessage(text, MOST_BY_QUEUE);
  return decoded.kind === "value" && memberOf(decoded.value, "wake") !== undefined;
}

/** Nodes that CycleCloud no longer shows are waited for. */
const MINUTES_TO_RECOVER = 20;

/** What the log says of a message that was not put aside. */
const TAKEN = /"event":"(demand|poison-tried-again)"/;

const PAGES = [
  "/clusters/@",
  "/clusters",
  "/health",
  "/clusters/@/request-sets/hostile",
  "/clusters/@/request-sets/base",
  "/clusters/@/history",
  "/clusters/@/config",
  "/clusters/@/explain?job=j0&set=hostile",
  "/clusters/@/explain?node=execute-1",
];

/** No set but "steady" may take more than six nodes. It says the mode: a hostile document before it may have switched the cluster. */
const CONFIG = {
  mode: "act",
  caps: { requestSets: { steady: { nodes: 1000 }, "*": { nodes: 6 } } },
};

const BASE = {
  version: 1,
  expirationInterval: 86_400,
  nodearrays: [{ Name: "execute", TargetCount: 2 }],
  jobs: [{ name: "base-1", iterations: 6, constraints: [{ ncpus: 2 }] }],
  schedulerNodes: [{ hostname: "workstation", jobs: [] }],
};

const STEADY = { version: 1, expirationInterval: 3600, nodearrays: [{ Name: "reserved", TargetCount: 2 }] };
const CALM = { version: 1, expirationInterval: 3600, nodearrays: [{ Name: "execute", TargetCount: 2 }] };
