import type { SchedulerModel } from "../workload/scheduler-model.ts";
import type { WorkloadJob } from "../workload/workload-job.ts";
import type { Doors } from "./doors.ts";
import type { Refusals } from "./idle-stopper.ts";
import { IdleStopper } from "./idle-stopper.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";

/** A rest of the scheduler's side of a run. */
interface AgentRest {
  /** The last change. */
  readonly since: number;
  /** When the next one comes. */
  readonly until: number;
  /** There is no host. */
  readonly isEmpty: boolean;
  /** Whether the next renewal would come later on the app's clock if so much time were left out now. */
  readonly delaysRenewal: (milliseconds: Milliseconds) => boolean;
  /** Hosts without a job. Absent: there are none. */
  readonly idle?: {
    /** When the next of them asks whether it may stop. */
    readonly askAt: number;
    /** Each was refused since the last change, and is refused again as long as nothing changes: before this moment. Absent: not each was. */
    readonly refusedUntil?: number;
  };
}

interface AgentOptions {
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

/** Simulates users and programs around the autoscaler: submits the workload, runs jobs, pushes demand, and stops idle hosts. */
export class SchedulerAgent {
  readonly #model: SchedulerModel;
  readonly #jobs: readonly WorkloadJob[];
  readonly #doors: Doors;
  readonly #options: AgentOptions;
  readonly #onPush: (at: number, slots: number, expiresAt: number) => void;
  readonly #stopper: IdleStopper;
  #origin: number;
  #next = 0;
  #dirty = true;
  #touched = true;
  #pushedAt = Number.NEGATIVE_INFINITY;
  #hasChanged = true;
  #changedAt: number;
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
    this.#changedAt = origin;
    this.#onPush = onPush;
    this.#stopper = new IdleStopper(model, doors, options.idleSeconds, () => (this.#touched = true));
  }

  get refusals(): Refusals {
    return this.#stopper.refusals;
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
    this.#noteChange();
    this.#touched = true;
  }

  /** The rest of users, jobs and hosts, in which only renewals and refused questions repeat. Undefined: something is under way. */
  rest(now: number): AgentRest | undefined {
    if (this.#touched || this.#dirty || this.#hasChanged || !this.#stopper.isAtRest) return undefined;
    const { idleSeconds } = this.#options;
    const askAt = this.#model.nextIdleAt(idleSeconds);
    const next = this.#jobs[this.#next];
    const submitAt = next === undefined ? Infinity : this.#origin + next.submitMs;
    const until = Math.min(submitAt, this.#model.nextEventAt() ?? Infinity);
    return {
      since: this.#changedAt,
      until,
      isEmpty: this.#model.hosts === 0,
      delaysRenewal: (milliseconds) => this.#renewedBy(now + milliseconds) > this.#pushedAt + milliseconds,
      ...(askAt === undefined ? {} : { idle: this.#idleRest(askAt, now) }),
    };
  }

  /** Only a host that is opened again makes the scheduler look for jobs that may start, so its rules count where hosts ask. */
  #idleRest(askAt: number, now: number): NonNullable<AgentRest["idle"]> {
    const isRefused = askAt - 1000 * this.#options.idleSeconds > this.#changedAt;
    return { askAt, ...(isRefused ? { refusedUntil: this.#model.nextRuleAt(now) } : {}) };
  }

  /** Time was left out from `now` on (still.ts): demand was renewed each time that it was due, and with `asks` idle hosts were refused. */
  leaveOut(milliseconds: Milliseconds, { asks }: { readonly asks: boolean }, now: number): void {
    const { renewSeconds, expirationSeconds } = this.#options;
    const last = this.#renewedBy(now + milliseconds);
    for (let at = this.#pushedAt + 1000 * renewSeconds; at <= last; at += 1000 * renewSeconds)
      this.#onPush(at, this.#model.slotsAsked, at + 1000 * expirationSeconds);
    this.#pushedAt = last;
    if (!asks) return;
    this.#stopper.leaveOut(milliseconds, now);
    this.#model.leaveOut(milliseconds);
  }

  /** When demand was last pushed until then, if it is only renewed. */
  #renewedBy(then: number): number {
    const interval = 1000 * this.#options.renewSeconds;
    return this.#pushedAt + interval * Math.floor((then - this.#pushedAt) / interval);
  }

  /** Whether {@link step} has work to do now. */
  isDue(now: number): boolean {
    return this.#touched || this.nextEventAt(now) <= now;
  }

  /** When the next work is due: a job, a push or renewal of demand, or a question of a node. */
  nextEventAt(now: number): number {
    const next = this.#jobs[this.#next];
    const pushAt =
      this.#pushedAt + 1000 * (this.#dirty ? this.#options.pushApartSeconds : this.#options.renewSeconds);
    const moments = [
      next === undefined ? undefined : this.#origin + next.submitMs,
      this.#model.nextEventAt(),
      ...this.#stopper.nextMoments(),
      pushAt,
    ].filter((at) => at !== undefined);
    return Math.max(now, Math.min(...moments));
  }

  /** Does all work that is due. Resolves when the autoscaler has answered. */
  async step(now: number): Promise<void> {
    this.#touched = false;
    this.#submitDue(now);
    const { started, ended } = this.#model.advance(now);
    if (started.length + ended.length > 0) this.#noteChange();
    if (this.#hasChanged) this.#changedAt = now;
    this.#hasChanged = false;
    await Promise.all([this.#pushIfDue(now), this.#stopper.stopIdle(now)]);
  }

  #noteChange(): void {
    this.#dirty = true;
    this.#hasChanged = true;
  }

  #submitDue(now: number): void {
    for (
      let job = this.#jobs[this.#next];
      job !== undefined && this.#origin + job.submitMs <= now;
      job = this.#jobs[this.#next]
    ) {
      this.#next += 1;
      this.#noteChange();
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
}
