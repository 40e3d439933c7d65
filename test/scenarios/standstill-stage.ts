import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import { PortError } from "../../src/app/ports/port-error.ts";
import type { VirtualClock } from "../../src/local/play/virtual-clock.ts";
import type { Asked } from "./asking-node.ts";
import { AskingNodes, askUntilOver } from "./asking-node.ts";
import { oneArray, QUICK, target } from "./clusters.ts";
import type { HostsOptions, Told } from "./hosts-stage.ts";
import { HostsStage } from "./hosts-stage.ts";
import type { Send } from "./stage-options.ts";
import { isFields } from "../../src/domain/fields.ts";

/** How a CycleCloud stands still. */
export interface Standstill {
  readonly seconds: number;
  /** What it did not do while it stood still takes effect this long after it goes on. Answers to reads come at once. */
  readonly lateSeconds?: number;
  readonly callLimitSeconds?: number;
  /** How long it takes for each answer while it works. */
  readonly callSeconds?: number;
  /** How long it still answers reads, while the change that it will not have done lies there. */
  readonly answersSeconds?: number;
  /** How long after the questions new demand comes, and with it an observation. Absent: none comes. */
  readonly demandSeconds?: number;
  /** Seconds in the minute at which the questions or the demand come. */
  readonly phase?: number;
}

/**
 * A CycleCloud whose process is paused: it accepts connections and answers nothing. When it goes on it does what lies in its sockets, also
 * for callers that have given up.
 */
class StandingCycleCloud {
  readonly #how: Required<Standstill>;
  #until: number | undefined;
  #from = Number.POSITIVE_INFINITY;
  /** The path of the change before which it stops. */
  stopsBefore: string | undefined;
  /** Whether it has accepted this change before it stops, and does it when it goes on. */
  acceptsFirst = false;

  constructor(how: Required<Standstill>) {
    this.#how = how;
  }

  standStill(clock: VirtualClock): void {
    this.#from = clock.now() + this.#how.answersSeconds * 1000;
    this.#until = this.#from + this.#how.seconds * 1000;
  }

  between(send: Send, clock: VirtualClock): Send {
    return (request) => {
      const { seconds, lateSeconds, callLimitSeconds, callSeconds, answersSeconds } = this.#how;
      const isChange = request.method === "POST";
      let waitsMs = 0;
      if (this.stopsBefore !== undefined && request.path.endsWith(this.stopsBefore)) {
        this.stopsBefore = undefined;
        this.standStill(clock);
        if (this.acceptsFirst) {
          void clock.sleep(1000 * (answersSeconds + seconds + lateSeconds)).then(() => send(request));
          return Promise.resolve(accepted(request));
        }
        waitsMs = answersSeconds * 1000;
      }
      const work = async () => {
        if (waitsMs > 0) await clock.sleep(waitsMs);
        const { stillMs, isHeld } = this.#stillAt(clock.now());
        await clock.sleep(stillMs + 1000 * (isHeld && isChange ? lateSeconds : callSeconds));
        return send(request);
      };
      const limit = clock.sleep(1000 * callLimitSeconds).then(() => {
        throw new PortError("unreachable", request.path, `no full answer within ${callLimitSeconds} s`);
      });
      limit.catch(() => undefined);
      return Promise.race([work(), limit]);
    };
  }

  #stillAt(now: number): { readonly stillMs: number; readonly isHeld: boolean } {
    const isHeld = this.#until !== undefined && now >= this.#from && now < this.#until;
    return { stillMs: isHeld ? (this.#until ?? now) - now : 0, isHeld };
  }
}

/** The answer to a terminate of these nodes. */
function accepted({ body }: TransportRequest): Answer {
  const ids: unknown = isFields(body) ? body["ids"] : undefined;
  const nodes = Array.isArray(ids) ? ids.map((id: unknown) => ({ id, status: "OK" })) : [];
  return { status: 200, headers: {}, body: { operationId: "o-1", nodes } };
}

const DEFAULTS = {
  lateSeconds: 12,
  callLimitSeconds: 60,
  callSeconds: 0.1,
  answersSeconds: 0,
  demandSeconds: 0,
  phase: 0,
};
const DAY = { expirationInterval: 86_400 };

/** A cluster whose nodes are up, in front of a CycleCloud that will stand still. */
async function clusterOf(count: number, options: Standstill) {
  const opened = await demandFor(count, options, { simulator: oneArray("demo", { maxCount: 1000 }) });
  await opened.stage.pass(400);
  return opened;
}

async function demandFor(count: number, options: Standstill, { simulator, policy }: HostsOptions) {
  const how = { ...DEFAULTS, ...options };
  const cyclecloud = new StandingCycleCloud(how);
  const stage = new HostsStage({
    simulator,
    policy: { callLimitSeconds: how.callLimitSeconds, ...policy },
    between: (send, clock) => cyclecloud.between(send, clock),
  });
  await stage.pass(10 + how.phase);
  stage.push(target("demo", count, DAY));
  return { stage, cyclecloud, how };
}

/** What became of two nodes that asked to stop just before CycleCloud stood still. */
export interface Stopped {
  /** Nodes that were stopped after they had opened. */
  readonly open: number;
  /** Nodes that are still closed at the end. */
  readonly closed: number;
}

/** Two idle nodes ask two hosts, and CycleCloud stands still before their stop. */
export async function playStop(options: Standstill): Promise<Stopped> {
  const { stage, cyclecloud, how } = await clusterOf(20, options);
  stage.push(target("demo", 18, { ...DAY, revision: stage.clock.now() }));
  await stage.pass(60);
  const nodes = new AskingNodes(stage);
  cyclecloud.stopsBefore = "/terminate";
  for (const [index, node] of stage.readyNodes.slice(0, 2).entries()) {
    const hostOf = (nth: number) => stage.hosts[(index + nth) % stage.hosts.length];
    const reach = ({ nth, query }: Asked) => stage.ask(node, hostOf(nth), query);
    void askUntilOver(stage, node, { nodes, reach });
  }
  const { demandSeconds } = how;
  if (demandSeconds > 0) {
    await stage.pass(demandSeconds);
    stage.push(target("demo", 17, { ...DAY, revision: stage.clock.now() }));
  }
  await stage.pass(how.seconds + 1500);
  return { open: nodes.stoppedOpen.size, closed: nodes.closed.size };
}

/** CycleCloud stands still before it creates 20 more nodes. Returns how many nodes were made in all. */
export async function playCreate(options: Standstill): Promise<number> {
  const { stage, cyclecloud, how } = await clusterOf(5, options);
  cyclecloud.stopsBefore = "/nodes/create";
  stage.push(target("demo", 25, { ...DAY, revision: stage.clock.now() }));
  await stage.pass(how.seconds + 1200);
  return stage.count("node-created");
}

/**
 * The same, but the instance that asks for the nodes ends while it waits, and the next one starts only when CycleCloud has gone on: no instance
 * has noticed that it stood still. Returns how many nodes were made in all.
 */
export async function playUnseen(options: Standstill): Promise<number> {
  const { stage, cyclecloud, how } = await clusterOf(5, options);
  const [asking, next] = stage.hosts;
  cyclecloud.stopsBefore = "/nodes/create";
  next?.standStill(how.seconds + 1);
  stage.push(target("demo", 25, { ...DAY, revision: stage.clock.now() }), asking);
  await stage.pass(10);
  asking?.die();
  await stage.pass(how.seconds + 1200);
  return stage.count("node-created");
}

/** Nodes boot for 300 s with a timeout of 240 s, and CycleCloud stands still 20 s after they were asked for. Returns how many were made for five. */
export async function playBoot(options: Standstill): Promise<number> {
  const timings = { ...QUICK, secondsToPrepare: 270 };
  const { stage, cyclecloud, how } = await demandFor(5, options, {
    simulator: oneArray("demo", {}, { timings }),
    policy: { bootTimeoutSeconds: 240 },
  });
  await stage.pass(20);
  cyclecloud.standStill(stage.clock);
  await stage.pass(how.seconds + 900);
  return stage.count("node-created");
}

/**
 * CycleCloud accepts the stop of an idle node, stands still, and stops it some time after it has gone on. Demand for the node returns meanwhile.
 * Returns what the node is told if it asks before it is stopped.
 */
export async function playAccepted(options: Standstill): Promise<Told | undefined> {
  const { stage, cyclecloud, how } = await clusterOf(5, options);
  stage.push(target("demo", 4, { ...DAY, revision: stage.clock.now() }));
  await stage.pass(60);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("a node is up");
  cyclecloud.stopsBefore = "/terminate";
  cyclecloud.acceptsFirst = true;
  await stage.told(node);
  stage.push(target("demo", 5, { ...DAY, revision: stage.clock.now() }));
  await stage.pass(how.seconds + how.lateSeconds - 10);
  return stage.told(node);
}

/**
 * CycleCloud has stopped one of two nodes, by its question, when it begins to stand still. The other one is needed, and asks from then on until
 * it has gone on. Returns how many stops arrive in all.
 */
export async function playNeeded(options: Standstill): Promise<number> {
  const { stage, cyclecloud, how } = await clusterOf(2, options);
  stage.push(target("demo", 1, { ...DAY, revision: stage.clock.now() }));
  await stage.pass(60);
  const [idle, needed] = stage.readyNodes;
  if (idle === undefined || needed === undefined) throw new Error("two nodes are up");
  await stage.told(idle);
  cyclecloud.standStill(stage.clock);
  for (let second = 0; second < how.seconds; second += 30) {
    void stage.ask(needed, stage.hosts[(second / 30) % 2], { asked: String(stage.clock.now()) });
    await stage.pass(30);
  }
  await stage.pass(120);
  return stage.count("terminate-accepted");
}
