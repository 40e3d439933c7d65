import type { StopSeries } from "../../client/stop-series.ts";
import { isOver, mayBegin, withAnswer, withQuestion, wordOf } from "../../client/stop-series.ts";
import type { IdleHost } from "../workload/scheduler-events.ts";
import type { SchedulerModel } from "../workload/scheduler-model.ts";
import type { Doors, StopReply } from "./doors.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";

/** The answers to questions of nodes, as the scheduler's side counts them. */
export interface Refusals {
  readonly granted: number;
  /** Number of refusals by reason. */
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

/** Closes idle hosts and asks for each whether it may stop, as the printed scripts on nodes do. */
export class IdleStopper {
  readonly #model: SchedulerModel;
  readonly #doors: Pick<Doors, "askStop">;
  readonly #idleSeconds: Seconds;
  readonly #onReopened: () => void;
  readonly #refused = new Map<string, number>();
  readonly #askers = new Map<string, Asker>();
  /** By host, why its last question was refused. */
  readonly #reasons = new Map<string, string>();
  #granted = 0;

  /** `onReopened` is called when a host was opened again, so that waiting jobs may start there. */
  constructor(
    model: SchedulerModel,
    doors: Pick<Doors, "askStop">,
    idleSeconds: Seconds,
    onReopened: () => void,
  ) {
    this.#model = model;
    this.#doors = doors;
    this.#idleSeconds = idleSeconds;
    this.#onReopened = onReopened;
  }

  get refusals(): Refusals {
    return { granted: this.#granted, refused: this.#refused };
  }

  /** When each next question or idle host is due. Without order. */
  nextMoments(): readonly number[] {
    const idleAt = this.#model.nextIdleAt(this.#idleSeconds);
    const asks = [...this.#askers.values()].map(({ nextAt }) => nextAt);
    return idleAt === undefined ? asks : [idleAt, ...asks];
  }

  /** Whether no question waits for its answer or for its repetition. */
  get isAtRest(): boolean {
    return this.#askers.size === 0;
  }

  /** Time was left out (still.ts), in which each idle host asked each time that it was due, and was refused as before. */
  leaveOut(milliseconds: Milliseconds, now: number): void {
    const times = Math.round(milliseconds / (1000 * this.#idleSeconds));
    for (const { hostname } of this.#model.idleHosts(now, 0)) {
      const reason = this.#reasons.get(hostname);
      if (reason !== undefined) this.#count(reason, times);
    }
  }

  /** An idle host is closed first, so that no job starts between the question and the answer (wire D.2). */
  async stopIdle(now: number): Promise<void> {
    const due = [...this.#askers.values()].filter(({ nextAt }) => nextAt <= now);
    const idle = this.#model.idleHosts(now, this.#idleSeconds);
    for (const { hostname } of idle) this.#model.closeHost(hostname);
    await Promise.all([
      ...due.map(({ host, series }) => this.#ask(host, series, now)),
      ...idle.map((host) => this.#ask(host, undefined, now)),
    ]);
  }

  /** Asks one question of a series. Without an answer the host stays closed and asks again. */
  async #ask(host: IdleHost, before: StopSeries | undefined, now: number): Promise<void> {
    const { hostname, instanceId, stopUrl } = host;
    if (stopUrl === undefined || (before !== undefined && isOver(before, now)))
      return this.#open(hostname, now);
    const begins = mayBegin(before, now);
    const series = withQuestion(before, { begins, now });
    this.#askers.set(hostname, { host, series, nextAt: Number.POSITIVE_INFINITY });
    const query = { instance: instanceId, asked: String(Math.round(now)) };
    const reply = await this.#doors.askStop(stopUrl, begins ? query : { ...query, begin: "no" });
    const { status, undrain, stopUnderWay } = reply;
    const word = wordOf({ status, undrain, isFirst: before === undefined });
    if (word === "stop") {
      this.#granted += 1;
      this.#askers.delete(hostname);
      this.#reasons.delete(hostname);
      return;
    }
    this.#noteRefusal(hostname, reply);
    if (word === "open") return this.#open(hostname, now);
    const held = withAnswer(series, { stopUnderWay });
    this.#askers.set(hostname, { host, series: held, nextAt: now + 1000 * ASK_AGAIN_SECONDS });
  }

  /** Reasons that differ only in the demand that needs the node count as one. */
  #noteRefusal(hostname: string, { status, why }: StopReply): void {
    const reason = `${status}${why === undefined ? "" : ` ${why.replace(/needed by .*/, "needed by demand")}`}`;
    this.#reasons.set(hostname, reason);
    this.#count(reason, 1);
  }

  #count(reason: string, times: number): void {
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + times);
  }

  #open(hostname: string, now: number): void {
    this.#askers.delete(hostname);
    this.#model.openHost(hostname, now);
    this.#onReopened();
  }
}
