import type { DemandMessage } from "../../wire/message.ts";
import type { SchedulerModel } from "../workload/scheduler-model.ts";
import type { WorkloadJob } from "../workload/workload-job.ts";

/** How the scheduler reaches the autoscaler: it pushes demand, and its nodes call the URL that they find in their configuration. */
export interface Doors {
  push(message: DemandMessage): Promise<void>;
  /** GET of the stop URL with `?instance=`: the HTTP status, and the words of a refusal. */
  askStop(url: string, instanceId: string): Promise<{ readonly status: number; readonly why?: string }>;
}

export interface AgentOptions {
  readonly cluster: string;
  readonly requestSet: string;
  /** A set lives so long after its last message. */
  readonly expirationSeconds: number;
  /** Unchanged demand is renewed so often. */
  readonly renewSeconds: number;
  /** Changed demand is pushed at most so often. */
  readonly pushApartSeconds: number;
  /** A host without a job for so long is closed and asks to stop; a refused one asks again after another such time. */
  readonly idleSeconds: number;
}

/** A refusal of the autoscaler as the scheduler's side counts it. */
export interface Refusals {
  readonly granted: number;
  readonly refused: ReadonlyMap<string, number>;
}

/** Plays the people and programs around the autoscaler: submits the workload, runs jobs, pushes demand, closes idle hosts. */
export class SchedulerAgent {
  readonly #model: SchedulerModel;
  readonly #jobs: readonly WorkloadJob[];
  readonly #doors: Doors;
  readonly #options: AgentOptions;
  readonly #onPush: (at: number, slots: number, expiresAt: number) => void;
  readonly #refused = new Map<string, number>();
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

  /** Jobs that no cluster of this size can ever run; left out of the workload. */
  get tooWide(): number {
    return this.#tooWide;
  }

  /** Every job was submitted and has ended. */
  get finished(): boolean {
    return this.#next >= this.#jobs.length && this.#model.slotsAsked === 0;
  }

  /** A host joined or left: what it can run has changed. */
  touch(): void {
    this.#dirty = true;
    this.#touched = true;
  }

  /** Something is to be done by {@link step} now. */
  isDue(now: number): boolean {
    return this.#touched || this.nextEventAt(now) <= now;
  }

  /** When there is next something to do; `undefined` if nothing but renewals ever will be. */
  nextEventAt(now: number): number {
    const next = this.#jobs[this.#next];
    const pushAt =
      this.#pushedAt + 1000 * (this.#dirty ? this.#options.pushApartSeconds : this.#options.renewSeconds);
    const moments = [
      next === undefined ? undefined : this.#origin + next.submitMs,
      this.#model.nextEventAt(),
      this.#model.nextIdleAt(this.#options.idleSeconds),
      pushAt,
    ].filter((at) => at !== undefined);
    return Math.max(now, Math.min(...moments));
  }

  /** Does all that is due; resolves when the autoscaler has answered. */
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

  /** An idle host is closed first, so that no job starts between the question and the answer, and opened again if it is to stay (wire D.2). */
  async #stopIdle(now: number): Promise<void> {
    const idle = this.#model.idleHosts(now, this.#options.idleSeconds);
    await Promise.all(
      idle.map(async ({ hostname, instanceId, stopUrl }) => {
        if (stopUrl === undefined) return this.#open(hostname, now);
        this.#model.closeHost(hostname);
        const { status, why } = await this.#doors.askStop(stopUrl, instanceId);
        if (status === 200) {
          this.#granted += 1;
        } else {
          const reason = `${status}${why === undefined ? "" : ` ${why.replace(/needed by .*/, "needed by demand")}`}`;
          this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1);
          this.#open(hostname, now);
        }
      }),
    );
  }

  /** Jobs that waited for the host may start there at once. */
  #open(hostname: string, now: number): void {
    this.#model.openHost(hostname, now);
    this.#touched = true;
  }
}
