import type { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { Actor } from "./stage-options.ts";
import type { Stage } from "./stage.ts";

/** Another autoscaler and its scheduler, with rules of their own. Ours only observes. */

const MINUTE_MS = 60_000;
const CALL = { method: "POST", query: {} };

/** A wave of one-node jobs: this many at this minute, each for this time. */
export interface Wave {
  readonly atMinute: number;
  readonly jobs: number;
  readonly minutes: number;
}

export interface Job {
  readonly name: string;
  readonly minutes: number;
  readonly submittedAt: number;
  startedAt: number | undefined;
  endsAt: number | undefined;
  hostname: string | undefined;
}

/** The scheduler's statement at one moment: how many jobs wait, and the host of each job that runs. */
export interface Statement {
  readonly at: number;
  readonly waiting: number;
  readonly hosts: readonly string[];
}

interface Host {
  readonly nodeId: string;
  hostname: string | undefined;
  idleSince: number;
}

/**
 * Acts every minute. Jobs end and start, a node is created for each job that waits, and a node that has been idle for `keepMinutes` is
 * stopped. Then the scheduler states its jobs and hosts to our app.
 */
export class OtherAutoscaler implements Actor {
  readonly #stage: Stage;
  readonly #simulator: Simulator;
  readonly #origin: number;
  readonly #waves: readonly Wave[];
  readonly #array: string;
  readonly #set: string;
  readonly #keepMs: number;
  readonly #hosts = new Map<string, Host>();
  /** All jobs so far. */
  readonly log: Job[] = [];
  readonly statements: Statement[] = [];
  #jobs: Job[] = [];
  #nextAt: number;
  #asked = 0;
  #isOver = false;

  constructor(
    stage: Stage,
    rules: {
      readonly array: string;
      readonly set: string;
      readonly waves: readonly Wave[];
      readonly keepMinutes: number;
    },
  ) {
    this.#stage = stage;
    this.#simulator = stage.simulator;
    this.#origin = stage.clock.now();
    this.#nextAt = this.#origin + 30_000;
    this.#array = rules.array;
    this.#set = rules.set;
    this.#waves = rules.waves;
    this.#keepMs = rules.keepMinutes * MINUTE_MS;
    this.#simulator.onEvent((event) => this.#note(event));
  }

  /** From now on it creates and stops no nodes. Its scheduler goes on. */
  retire(): void {
    this.#isOver = true;
  }

  nextEventAt(): number {
    return this.#nextAt;
  }

  async step(now: number): Promise<void> {
    if (now < this.#nextAt) return;
    this.#nextAt += MINUTE_MS;
    const minute = Math.floor((now - this.#origin) / MINUTE_MS);
    for (const { atMinute, jobs, minutes } of this.#waves)
      if (atMinute === minute)
        for (let i = 0; i < jobs; i += 1) this.#submit(`${this.#set}-${minute}-${i}`, minutes, now);
    this.#schedule(now);
    if (!this.#isOver) this.#scale(now);
    const hosts = this.#jobs.flatMap(({ hostname }) => hostname ?? []);
    this.statements.push({ at: now, waiting: this.#jobs.length - hosts.length, hosts });
    this.#stage.send(this.#message());
  }

  #submit(name: string, minutes: number, now: number): void {
    const job = {
      name,
      minutes,
      submittedAt: now,
      startedAt: undefined,
      endsAt: undefined,
      hostname: undefined,
    };
    this.log.push(job);
    this.#jobs.push(job);
  }

  #schedule(now: number): void {
    for (const job of this.#jobs)
      if (job.endsAt !== undefined && job.endsAt <= now) {
        const host = [...this.#hosts.values()].find(({ hostname }) => hostname === job.hostname);
        if (host !== undefined) host.idleSince = now;
      }
    this.#jobs = this.#jobs.filter(({ endsAt }) => endsAt === undefined || endsAt > now);
    const busy = new Set(this.#jobs.map(({ hostname }) => hostname));
    const free = [...this.#hosts.values()].filter(
      ({ hostname }) => hostname !== undefined && !busy.has(hostname),
    );
    for (const job of this.#jobs) {
      if (job.hostname !== undefined) continue;
      const host = free.shift();
      if (host === undefined) break;
      job.hostname = host.hostname;
      job.startedAt = now;
      job.endsAt = now + job.minutes * MINUTE_MS;
    }
  }

  #scale(now: number): void {
    const waiting = this.#jobs.filter(({ hostname }) => hostname === undefined).length;
    const coming = [...this.#hosts.values()].filter(({ hostname }) => hostname === undefined).length;
    const count = waiting - coming;
    if (count > 0) {
      const sets = [{ nodearray: this.#array, count }];
      this.#simulator.request({
        ...CALL,
        path: "/clusters/demo/nodes/create",
        body: { sets, requestId: `${this.#set}-${(this.#asked += 1)}` },
      });
    }
    const busy = new Set(this.#jobs.map(({ hostname }) => hostname));
    const ids = [...this.#hosts.values()]
      .filter(
        ({ hostname, idleSince }) =>
          hostname !== undefined && !busy.has(hostname) && now - idleSince >= this.#keepMs,
      )
      .map(({ nodeId }) => nodeId);
    if (ids.length > 0)
      this.#simulator.request({ ...CALL, path: "/clusters/demo/nodes/terminate", body: { ids } });
    for (const id of ids) this.#hosts.delete(id);
  }

  #message() {
    const placedOn = (hostname: string) => ({ placed: [{ hostname, iterations: 1 }] });
    return {
      version: 1 as const,
      cluster: "demo",
      requestSet: this.#set,
      expirationInterval: 600,
      jobs: this.#jobs.map(({ name, hostname }) => ({
        name,
        iterations: 1,
        constraints: [{ ncpus: 4 }, { "node.nodearray": this.#array }],
        ...(hostname === undefined ? {} : placedOn(hostname)),
      })),
      schedulerNodes: [...this.#hosts.values()].flatMap(({ hostname }) =>
        hostname === undefined
          ? []
          : [
              {
                hostname,
                jobs: this.#jobs.filter((job) => job.hostname === hostname).map(({ name }) => name),
              },
            ],
      ),
    };
  }

  #note(event: SimulatorEvent): void {
    if (!("nodeId" in event) || event.array !== this.#array) return;
    switch (event.kind) {
      case "node-created":
        this.#hosts.set(event.nodeId, { nodeId: event.nodeId, hostname: undefined, idleSince: event.at });
        return;
      case "node-ready": {
        const host = this.#hosts.get(event.nodeId);
        if (host === undefined) return;
        host.hostname = event.hostname;
        host.idleSince = event.at;
        return;
      }
      case "terminate-accepted":
      case "node-gone":
        this.#hosts.delete(event.nodeId);
        return;
      default:
    }
  }
}
