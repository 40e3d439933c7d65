import { readStopUrl } from "../../../src/local/play/stop-url.ts";
import { runCommand } from "../../cli/run-command.ts";
import type { Question } from "./judge-stops.ts";
import type { Work, WorkChange } from "./judge-work.ts";
import type { Parts } from "./parts.ts";
import type { CycleCloudEvent } from "./simulator-process.ts";

/** A scheduler with its jobs and nodes. A job takes one node. A node without a job asks whether it may stop, by its own command. */
export interface WorkingNodes {
  readonly scheduler: Scheduler;
  readonly questions: readonly Told[];
  /** From now on a node's questions go to these addresses. Undefined: each goes to a host that is drawn, as behind a load balancer. */
  setRoute(route: Route | undefined): void;
  /** Resolves when the questions that are open have ended; no new ones begin. */
  stop(): Promise<void>;
}

/** The address of a host for the next question of a node. */
export type Route = (nodeId: string) => string;

/** A question, and the last words of the node's command. */
export interface Told extends Question {
  readonly host: string;
  readonly said: string;
}

interface Node {
  readonly nodeId: string;
  readonly instanceId: string;
  readonly stopUrl: string;
  work: Work;
  /** When its work changed last. */
  since: number;
}

/** Jobs are placed on open nodes only, and at once. */
export class Scheduler {
  /** Every change of a node, oldest first. */
  readonly changes: WorkChange[] = [];
  readonly #now: () => number;
  readonly #uniform: () => number;
  readonly #nodes = new Map<string, Node>();
  #jobs = 0;

  constructor(now: () => number, uniform: () => number) {
    this.#now = now;
    this.#uniform = uniform;
  }

  get jobs(): number {
    return this.#jobs;
  }

  /** Jobs that have no node. */
  get waiting(): number {
    return this.#jobs - this.count("busy");
  }

  count(work: Work): number {
    return this.#of(work).length;
  }

  /** From now on there are this many jobs. If there were more, those end whose nodes are drawn. */
  setJobs(count: number): void {
    this.#jobs = count;
    for (let left = this.count("busy") - count; left > 0; left -= 1) {
      const busy = this.#of("busy");
      const node = busy[Math.floor(this.#uniform() * busy.length)];
      if (node !== undefined) this.change(node, "open");
    }
    this.#place();
  }

  add(node: Node): void {
    this.#nodes.set(node.nodeId, node);
    this.change(node, "open");
  }

  /** Its job waits again. */
  remove(nodeId: string): void {
    this.#nodes.delete(nodeId);
    this.#place();
  }

  has(node: Node): boolean {
    return this.#nodes.has(node.nodeId);
  }

  change(node: Node, work: Work): void {
    node.work = work;
    node.since = this.#now();
    this.changes.push({ nodeId: node.nodeId, at: node.since, work });
    if (work === "open") this.#place();
  }

  #of(work: Work): readonly Node[] {
    return [...this.#nodes.values()].filter((node) => node.work === work);
  }

  #place(): void {
    for (const node of this.#of("open").slice(0, Math.max(0, this.waiting))) this.change(node, "busy");
  }
}

/** A node without a job asks after so long. */
const LEAST_IDLE_MS = 5000;
const MORE_IDLE_MS = 20_000;
/** How often a node runs its command, as the help of `autostop` says: until it is told something, and while it is being stopped. */
const ASK_AGAIN_MS = 30_000;
const ASK_WHILE_STOPPING_MS = 60_000;
const LOOK_MS = 500;

/** Lets every node work that is Ready or becomes it. */
export function letNodesWork(parts: Parts, uniform: () => number): WorkingNodes {
  const { simulator, clock, hosts } = parts;
  const scheduler = new Scheduler(() => clock.now(), uniform);
  const questions: Told[] = [];
  const lives: Promise<void>[] = [];
  const stopping = new AbortController();
  const toAny: Route = () => hosts[Math.floor(uniform() * hosts.length)]?.url ?? "";
  let route = toAny;
  const isThere = (node: Node): boolean => scheduler.has(node) && !stopping.signal.aborted;

  /** Resolves when it holds, or the node has gone. */
  const wait = async (node: Node, holds: () => boolean): Promise<void> => {
    while (isThere(node) && !holds()) await clock.sleep(LOOK_MS, stopping.signal);
  };
  const live = async (node: Node): Promise<void> => {
    const ask = openCommand(node, () => clock.now());
    while (isThere(node)) {
      const idleMs = LEAST_IDLE_MS + uniform() * MORE_IDLE_MS;
      await wait(node, () => node.work === "open" && clock.now() - node.since >= idleMs);
      if (!isThere(node)) return;
      scheduler.change(node, "closed");
      while (isThere(node) && node.work === "closed") {
        const told = await ask(route(node.nodeId));
        questions.push(told);
        if (told.undrain === true && isThere(node)) scheduler.change(node, "open");
        const again = told.askedAt + (told.status === 200 ? ASK_WHILE_STOPPING_MS : ASK_AGAIN_MS);
        await wait(node, () => node.work !== "closed" || clock.now() >= again);
      }
    }
  };
  const hear = (event: CycleCloudEvent): void => {
    if (event.kind === "node-gone") scheduler.remove(event.nodeId);
    if (event.kind !== "node-ready") return;
    const { nodeId, instanceId, configuration } = event;
    const node: Node = {
      nodeId,
      instanceId,
      stopUrl: readStopUrl(configuration) ?? "",
      work: "open",
      since: 0,
    };
    scheduler.add(node);
    lives.push(live(node));
  };

  const end = simulator.onEvent(hear);
  for (const event of simulator.events) hear(event);
  return {
    scheduler,
    questions,
    setRoute: (next) => (route = next ?? toAny),
    async stop() {
      end();
      stopping.abort();
      await Promise.all(lives);
    },
  };
}

/** The command of one node, `autostop`, with what it keeps from run to run. It asks this host. */
function openCommand(
  { nodeId, instanceId, stopUrl }: Node,
  now: () => number,
): (host: string) => Promise<Told> {
  let kept: string | undefined;
  return async (host) => {
    const askedAt = now();
    const callback = new URL(new URL(stopUrl).pathname, host).href;
    const words = ["autostop", "--callback", callback, "--instance", instanceId];
    const { code, out, err } = await runCommand(
      words,
      {},
      {
        now,
        alone: async (_name, work) => work(kept, async (text) => void (kept = text)),
      },
    );
    const question = { nodeId, host, askedAt, said: `${code} ${out}${err}`.replaceAll("\n", "; ") };
    // The command says no more than that: open the node, or keep it closed.
    if (code === 0) return { ...question, status: 200, answeredAt: now() };
    return code === 1 ? { ...question, status: 409, undrain: true, answeredAt: now() } : question;
  };
}
