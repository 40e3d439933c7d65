import { PortError } from "../../src/app/ports/port-error.ts";
import type { VirtualClock } from "../../src/local/play/virtual-clock.ts";
import type { Asked } from "./asking-node.ts";
import { AskingNodes, askUntilOver } from "./asking-node.ts";
import { oneArray, target } from "./clusters.ts";
import { HostsStage } from "./hosts-stage.ts";
import type { Send } from "./stage-options.ts";

/** How a CycleCloud stands still. */
export interface Standstill {
  readonly seconds: number;
  /** What it did not do while it stood still takes effect this long after it goes on. Answers to reads come at once. */
  readonly lateSeconds?: number;
  readonly callLimitSeconds?: number;
  /** How long it takes for each answer while it works. */
  readonly callSeconds?: number;
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

  constructor(how: Required<Standstill>) {
    this.#how = how;
  }

  between(send: Send, clock: VirtualClock): Send {
    return (request) => {
      const { seconds, lateSeconds, callLimitSeconds, callSeconds } = this.#how;
      const isChange = request.method === "POST";
      if (this.stopsBefore !== undefined && request.path.endsWith(this.stopsBefore)) {
        this.stopsBefore = undefined;
        this.#from = clock.now();
        this.#until = clock.now() + seconds * 1000;
      }
      const work = async () => {
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

const DEFAULTS = { lateSeconds: 12, callLimitSeconds: 60, callSeconds: 0.1, phase: 0 };
const DAY = { expirationInterval: 86_400 };

/** A cluster whose nodes are up, in front of a CycleCloud that will stand still. */
async function clusterOf(count: number, options: Standstill) {
  const how = { ...DEFAULTS, ...options };
  const cyclecloud = new StandingCycleCloud(how);
  const stage = new HostsStage({
    simulator: oneArray("demo", { maxCount: 1000 }),
    policy: { callLimitSeconds: how.callLimitSeconds },
    between: (send, clock) => cyclecloud.between(send, clock),
  });
  await stage.pass(10 + how.phase);
  stage.push(target("demo", count, DAY));
  await stage.pass(400);
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
