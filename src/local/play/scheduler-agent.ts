import type { StopSeries } from "../../client/stop-series.ts";
import { isOver, mayBegin, withQuestion, wordOf } from "../../client/stop-series.ts";
import type { DemandMessage } from "../../wire/message.ts";
import type { IdleHost, SchedulerModel } from "../workload/scheduler-model.ts";
import type { WorkloadJob } from "../workload/workload-job.ts";
import type { Seconds } from "../../domain/units.ts";

/** The connection from the scheduler to the autoscaler: it pushes demand, and its nodes call the URL in their configuration. */
export interface Doors {
  push(message: DemandMessage): Promise<void>;
  /** GET of the stop URL with these parameters. */
  askStop(url: string, query: StopQuery): Promise<StopReply>;
}

/** The parameters of "may I stop?" (docs/protocol.md, Questions of nodes). */
export type StopQuery = Readonly<Record<"instance" | "asked", string>> & { readonly begin?: "no" };

/** The HTTP status, and the message of a refusal. */
export interface StopReply {
  readonly status: number;
  readonly undrain?: boolean;
  readonly why?: string;
}

/** The reply in an answer of the app: `undrain`, and the reason in `detail`. */
export function readReply(status: number, body: unknown): StopReply {
  const said = typeof body === "object" && body !== null ? body : {};
  return {
    status,
    ...("undrain" in said && typeof said.undrain === "boolean" ? { undrain: said.undrain } : {}),
    ...("detail" in said && typeof said.detail === "string" ? { why: said.detail } : {}),
  };
}

export interface AgentOptions {
  readonly cluster: string;
  readonly requestSet: string;
  /** A set stays valid for this long after its last message. */
  readonly expirationSeconds: Seconds;
  /** Interval of renewals of unchanged demand. */
  readonly renewSeconds: Seconds;
  /** Minimum interval between pushes of changed demand. */
  readonly pushApartSeconds: Seconds;
  /** A host without a job for this long is closed and asks to stop. A host that was re-opened asks again after the same time. */
  readonly idleSeconds: Seconds;
}

/** A refusal of the autoscaler as the scheduler's side counts it. */
export interface Refusals {
  readonly granted: number;
  readonly refused: ReadonlyMap<string, number>;
}

/** A closed host without an answer asks again after this time. */
const ASK_AGAIN_SECONDS: Seconds = 30;

/** A closed host that waits for an answer. */
interface Asker {
  readonly host: IdleHost;
  readonly series: StopSeries;
  /** Infinity while its question is in progress. */
  readonly nextAt: number;
}

/** Simulates the people and programs around the autoscaler: submits the workload, runs jobs, pushes demand, closes idle hosts. */
export class SchedulerAgent {
  readonly #model: SchedulerModel;
  readonly #jobs: readonly WorkloadJob[];
  readonly #doors: Doors;
  readonly #options: AgentOptions;
  readonly #onPush: (at: number, slots: number, expiresAt: number) => void;
  readonly #refused = new Map<string, number>();
  readonly #askers = new Map<string, Asker>();
  #origin: number;
  #next = 0;
  #dirty = true;
  #touched = true;
  #pushedAt = Number.NEGATIVE_INFINITY;
  #granted = 0;
  #tooWide = 0;

  constructor(
    model: SchedulerModel,
    jobs: readonly WorkloadJob[],
    doors: Doors,
    options: AgentOptions,
    origin: number,
    onPush: (at: number, slots: number, expiresAt: number) => void,
  ) {
    this.#model = model;
    this.#jobs = jobs;
    this.#doors = doors;
    this.#options = options;
    this.#origin = origin;
    this.#onPush = onPush;
  }

  get refusals(): Refusals {
    return { granted: this.#granted, refused: this.#refused };
  }

  /** Jobs that no cluster of this size can ever run. They are left out of the workload. */
  get tooWide(): number {
    return this.#tooWide;
  }

  /** Every job was submitted and has ended. */
  get finished(): boolean {
    return this.#next >= this.#jobs.length && this.#model.slotsAsked === 0;
  }

  /** A host joined or left, which may change what it can run. */
  touch(): void {
    this.#dirty = true;
    this.#touched = true;
  }

  /** Whether {@link step} has work to do now. */
  isDue(now: number): boolean {
    return this.#touched || this.nextEventAt(now) <= now;
  }

  /** When the next work is due. Undefined if only renewals remain. */
  nextEventAt(now: number): number {
    const next = this.#jobs[this.#next];
    const pushAt =
      this.#pushedAt + 1000 * (this.#dirty ? this.#options.pushApartSeconds : this.#options.renewSeconds);
    const moments = [
      next === undefined ? undefined : this.#origin + next.submitMs,
      this.#model.nextEventAt(),
      this.#model.nextIdleAt(this.#options.idleSeconds),
      ...[...this.#askers.values()].map(({ nextAt: at }) => at),
      pushAt,
    ].filter((at) => at !== undefined);
    return Math.max(now, Math.min(...moments));
  }

  /** Does all work that is due. Resolves when the autoscaler has answered. */
  async step(now: number): Promise<void> {
    this.#touched = false;
    this.#submitDue(now);
    const { started, ended } = this.#model.advance(now);
    if (started.length + ended.length > 0) this.#dirty = true;
    await Promise.all([this.#pushIfDue(now), this.#stopIdle(now)]);
  }

  #submitDue(now: number): void {
    for (
      let job = this.#jobs[this.#next];
      job !== undefined && this.#origin + job.submitMs <= now;
      job = this.#jobs[this.#next]
    ) {
      this.#next += 1;
      this.#dirty = true;
      if (this.#model.submit(job, now).kind !== "queued") this.#tooWide += 1;
    }
  }

  async #pushIfDue(now: number): Promise<void> {
    const { pushApartSeconds, renewSeconds, cluster, requestSet, expirationSeconds } = this.#options;
    if (now - this.#pushedAt < 1000 * (this.#dirty ? pushApartSeconds : renewSeconds)) return;
    this.#pushedAt = now;
    this.#dirty = false;
    const message = this.#model.demandMessage(now, {
      cluster,
      requestSet,
      expirationInterval: expirationSeconds,
    });
    this.#onPush(now, this.#model.slotsAsked, now + 1000 * expirationSeconds);
    await this.#doors.push(message);
  }

  /** An idle host is closed first, so that no job starts between the question and the answer (wire D.2). */
  async #stopIdle(now: number): Promise<void> {
    const due = [...this.#askers.values()].filter(({ nextAt }) => nextAt <= now);
    const idle = this.#model.idleHosts(now, this.#options.idleSeconds);
    for (const { hostname } of idle) this.#model.closeHost(hostname);
    await Promise.all([
      ...due.map(({ host, series }) => this.#ask(host, series, now)),
      ...idle.map((host) => this.#ask(host, undefined, now)),
    ]);
  }

  /** One question of a series, asked as the printed scripts do. Without an answer the host stays closed and asks again. */
  async #ask(host: IdleHost, before: StopSeries | undefined, now: number): Promise<void> {
    const { hostname, instanceId, stopUrl } = host;
    if (stopUrl === undefined || (before !== undefined && isOver(before, now)))
      return this.#open(hostname, now);
    const begins = mayBegin(before, now);
    const series = withQuestion(before, { begins, now });
    this.#askers.set(hostname, { host, series, nextAt: Number.POSITIVE_INFINITY });
    const query = { instance: instanceId, asked: String(Math.round(now)) };
    const reply = await this.#doors.askStop(stopUrl, begins ? query : { ...query, begin: "no" });
    const { status, undrain } = reply;
    const word = wordOf({ status, undrain, isFirst: before === undefined });
    if (word === "stop") {
      this.#granted += 1;
      this.#askers.delete(hostname);
      return;
    }
    this.#noteRefusal(reply);
    if (word === "open") return this.#open(hostname, now);
    this.#askers.set(hostname, { host, series, nextAt: now + 1000 * ASK_AGAIN_SECONDS });
  }

  /** Reasons that differ only in the demand which needs the node count as one. */
  #noteRefusal({ status, why }: StopReply): void {
    const reason = `${status}${why === undefined ? "" : ` ${why.replace(/needed by .*/, "needed by demand")}`}`;
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1);
  }

  /** Jobs that waited for the host may start there at once. */
  #open(hostname: string, now: number): void {
    this.#askers.delete(hostname);
    this.#model.openHost(hostname, now);
    this.#touched = true;
  }
}
