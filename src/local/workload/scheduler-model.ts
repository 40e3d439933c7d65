import type { Host, Run } from "./host.ts";
import { HostPool } from "./host-pool.ts";
import { reserveForHead } from "./head-reservation.ts";
import { measureLeastNodeHours, summarizeWaits } from "./job-log.ts";
import type { JobLogEntry, WaitSummary } from "./job-log.ts";
import { MinHeap } from "./min-heap.ts";
import { RunningJobs } from "./running-jobs.ts";
import { oneCore } from "./scheduler-report.ts";
import type { HostReport, JobReport, SchedulerDemandMessage } from "./scheduler-report.ts";
import { WaitingQueue } from "./waiting-queue.ts";
import type { Waiting } from "./waiting-queue.ts";
import type { WorkloadJob } from "./workload-job.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";

export interface SchedulerOptions {
  /** The slots of the whole cluster once every node it may have is there. */
  readonly maxSlots: number;
  /** How long the head of the queue counts on slots that are not there yet. Default 30 minutes. */
  readonly patienceMs?: Milliseconds;
  /** How many jobs behind the head one backfilling pass looks at (Slurm's `bf_max_job_test` is 500 too). Default 500. */
  readonly backfillDepth?: number;
  /** Told at once when a host gets its first job and when its last is over; not when the host itself is lost. */
  readonly observer?: SchedulerObserver;
}

export interface SchedulerObserver {
  readonly hostBusy: (event: HostEvent) => void;
  readonly hostIdle: (event: HostEvent) => void;
}

export interface HostEvent {
  readonly at: number;
  readonly hostname: string;
  readonly instanceId: string;
}

export interface JoiningHost {
  readonly hostname: string;
  readonly instanceId: string;
  readonly cores: number;
  readonly stopUrl?: string;
}

export interface IdleHost {
  readonly hostname: string;
  readonly instanceId: string;
  readonly stopUrl: string | undefined;
  readonly idleSince: number;
}

export type SubmitOutcome =
  | { readonly kind: "queued" }
  /** It could never start, and first come first served it would block everybody behind it. */
  | { readonly kind: "too-wide"; readonly processors: number; readonly maxSlots: number }
  | { readonly kind: "name-taken"; readonly name: string };

/** The events since `advance` was last called. */
export interface Progress {
  readonly started: readonly { readonly name: string; readonly at: number; readonly hostnames: string[] }[];
  readonly ended: readonly JobLogEntry[];
}

export interface SchedulerStatistics extends WaitSummary {
  readonly submitted: number;
  readonly completed: number;
  /** Attempts lost with a host; each of these jobs was queued again. */
  readonly killed: number;
  readonly waiting: number;
  readonly running: number;
  /** Slots of all waiting and running jobs: what the demand message asks for. */
  readonly slotsAsked: number;
  readonly hosts: number;
  readonly freeSlots: number;
}

const defaultPatienceMs = 30 * 60_000;
const defaultBackfillDepth = 500;

/**
 * A batch scheduler for rigid jobs: first come, first served, with EASY backfilling. It has no clock: every method that
 * depends on the time is told it (milliseconds, never going back), so that it serves real, scaled and virtual time.
 * A job of P processors takes P cores, spread over as few hosts as possible (see `HostPool.take`).
 *
 * Rules:
 * 1. The head of the queue starts as soon as enough cores are free. Jobs behind it may overtake it only if that does not
 *    delay it: they are expected to end before its reservation, or fit beside it (head-reservation.ts).
 * 2. A job is expected to last its requested walltime; where none is known, its run time (better than any user can do: such
 *    traces flatter backfilling). Jobs are never ended at their walltime, so that every job of a trace completes.
 * 3. Cores that the cluster may still get (`maxSlots` less the open ones) count as coming at once: otherwise a wide job on
 *    a small cluster would hold up everybody while its nodes boot. After `patienceMs` at the head it stops counting on
 *    them; if the hosts that are there cannot do, nothing overtakes it any more. So it cannot starve.
 * 4. Ends take effect at their own time, starts at the time of the `advance` that finds room.
 */
export class SchedulerModel {
  readonly #options: SchedulerOptions;
  readonly #pool = new HostPool();
  readonly #queue = new WaitingQueue();
  readonly #running = new RunningJobs();
  readonly #due = new MinHeap<Run>(
    (a, b) => a.endsAt < b.endsAt || (a.endsAt === b.endsAt && a.sequence < b.sequence),
  );
  readonly #idle = new Set<Host>();
  readonly #names = new Set<string>();
  readonly #log: JobLogEntry[] = [];
  #started: Progress["started"][number][] = [];
  #ended: JobLogEntry[] = [];
  #completed = 0;
  #slotsAsked = 0;
  #head: { readonly sequence: number; readonly since: number } | undefined;
  /** Whether anything has changed that could let a job start. Time alone never does. */
  #changed = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Queues a job. It starts at the next `advance` that finds room for it. */
  submit(job: WorkloadJob, now: number): SubmitOutcome {
    const { maxSlots } = this.#options;
    if (job.processors > maxSlots) return { kind: "too-wide", processors: job.processors, maxSlots };
    if (this.#names.has(job.name)) return { kind: "name-taken", name: job.name };
    const report = { name: job.name, constraints: oneCore, iterations: job.processors };
    this.#queue.add({ job, sequence: this.#names.size, submittedAt: now, report });
    this.#names.add(job.name);
    this.#slotsAsked += job.processors;
    this.#changed = true;
    return { kind: "queued" };
  }

  /**
   * Adds an open host. A repeated call for the same instance has no effect. A call for another instance means that the old host is gone.
   */
  hostUp(joining: JoiningHost, now: number): void {
    const known = this.#pool.find(joining.hostname);
    if (known?.instanceId === joining.instanceId) return;
    if (known !== undefined) this.hostGone(joining.hostname, now);
    this.#finishDue(now);
    this.#idle.add(this.#pool.add({ ...joining, stopUrl: joining.stopUrl }, now));
    this.#changed = true;
  }

  /** Takes a host out. Jobs on it are lost: counted as killed and queued again in their old place, to run from the start. */
  hostGone(hostname: string, now: number): { readonly killed: readonly string[] } {
    this.#finishDue(now);
    const host = this.#pool.find(hostname);
    if (host === undefined) return { killed: [] };
    this.#pool.remove(host);
    this.#idle.delete(host);
    const lost = [...host.occupants.keys()];
    for (const run of lost) {
      this.#end(run, now, "killed");
      this.#queue.add({
        job: run.job,
        sequence: run.sequence,
        submittedAt: run.submittedAt,
        report: { name: run.job.name, constraints: oneCore, iterations: run.job.processors },
      });
      this.#slotsAsked += run.job.processors;
    }
    this.#changed = true;
    return { killed: lost.map((run) => run.job.name) };
  }

  /** Accepts no new jobs on this host; running ones continue. Unknown and closed hosts stay unchanged. */
  closeHost(hostname: string): void {
    const host = this.#pool.find(hostname);
    if (host === undefined || !host.open) return;
    this.#pool.close(host);
    this.#idle.delete(host);
    host.report = undefined;
    for (const [run, slots] of host.occupants) run.openSlots -= slots;
    this.#changed = true;
  }

  /** Lets a closed host accept jobs again. With `idleFrom` its idle time starts from then (it was told to stay). */
  openHost(hostname: string, idleFrom?: number): void {
    const host = this.#pool.find(hostname);
    if (host === undefined || host.open) return;
    this.#pool.reopen(host);
    host.report = undefined;
    for (const [run, slots] of host.occupants) run.openSlots += slots;
    if (idleFrom !== undefined) host.idleSince = idleFrom;
    if (host.occupants.size === 0) this.#idle.add(host);
    this.#changed = true;
  }

  /** Ends the jobs that are due, starts jobs that can start, and returns both (since the last call). */
  advance(now: number): Progress {
    this.#finishDue(now);
    if (this.#changed) this.#startJobs(now);
    this.#changed = false;
    const progress = { started: this.#started, ended: this.#ended };
    this.#started = [];
    this.#ended = [];
    return progress;
  }

  /** When the next job ends; `undefined` while none runs. */
  nextEventAt(): number | undefined {
    this.#dropOver();
    return this.#due.peek()?.endsAt;
  }

  /** Open hosts that have had no job for that long, counted from their last job's end or from when they came up. */
  idleHosts(now: number, idleSeconds: Seconds): readonly IdleHost[] {
    return [...this.#idle]
      .filter((host) => now - host.idleSince >= idleSeconds * 1000)
      .map(({ hostname, instanceId, stopUrl, idleSince }) => ({ hostname, instanceId, stopUrl, idleSince }));
  }

  /** When the next open host will have been idle that long if nothing happens; `undefined` while all are busy. */
  nextIdleAt(idleSeconds: Seconds): number | undefined {
    let earliest: number | undefined;
    for (const { idleSince } of this.#idle)
      if (earliest === undefined || idleSince < earliest) earliest = idleSince;
    return earliest === undefined ? undefined : earliest + idleSeconds * 1000;
  }

  /**
   * The demand message for the state after the last `advance` (docs/demand.md): all jobs that have not ended, and every
   * host. What has not changed since the last message is the same object again. The revision is `now` in whole
   * milliseconds: two messages with different content must not share one.
   */
  demandMessage(
    now: number,
    to: { readonly cluster: string; readonly requestSet: string; readonly expirationInterval: number },
  ): SchedulerDemandMessage {
    const jobs: JobReport[] = [];
    for (const run of this.#running) jobs.push(run.report);
    for (const waiting of this.#queue) jobs.push(waiting.report);
    const schedulerNodes: HostReport[] = [];
    for (const host of this.#pool.hosts()) schedulerNodes.push((host.report ??= reportHost(host)));
    return {
      version: 1,
      cluster: to.cluster,
      requestSet: to.requestSet,
      revision: Math.floor(now),
      expirationInterval: to.expirationInterval,
      jobs,
      schedulerNodes,
    };
  }

  statistics(): SchedulerStatistics {
    return {
      submitted: this.#names.size,
      completed: this.#completed,
      killed: this.#log.length - this.#completed,
      waiting: this.#queue.size,
      running: this.#running.size,
      slotsAsked: this.#slotsAsked,
      hosts: this.#pool.size,
      freeSlots: this.#pool.freeSlots,
      ...summarizeWaits(this.#log),
    };
  }

  /** Slots of all waiting and running jobs; unlike `statistics` it costs nothing to ask at every event. */
  get slotsAsked(): number {
    return this.#slotsAsked;
  }

  get waitingJobs(): number {
    return this.#queue.size;
  }

  /** Every ended attempt, in the order of the ends. */
  get log(): readonly JobLogEntry[] {
    return this.#log;
  }

  leastNodeHours(coresPerNode: number): number {
    return measureLeastNodeHours(this.#log, coresPerNode);
  }

  #finishDue(now: number): void {
    for (;;) {
      this.#dropOver();
      const run = this.#due.peek();
      if (run === undefined || run.endsAt > now) return;
      this.#due.pop();
      this.#end(run, run.endsAt, "completed");
      this.#completed += 1;
      this.#changed = true;
    }
  }

  /** Killed attempts stay in the heap until they come up. */
  #dropOver(): void {
    while (this.#due.peek()?.over === true) this.#due.pop();
  }

  #startJobs(now: number): void {
    for (;;) {
      const head = this.#queue.head;
      if (head === undefined) return;
      if (head.job.processors > this.#pool.freeSlots) {
        this.#backfill(head, now);
        return;
      }
      this.#start(head, now);
    }
  }

  #backfill(head: Waiting, now: number): void {
    if (this.#head?.sequence !== head.sequence) this.#head = { sequence: head.sequence, since: now };
    if (this.#pool.freeSlots === 0) return;
    const patient = now - this.#head.since < (this.#options.patienceMs ?? defaultPatienceMs);
    const reservation = reserveForHead({
      now,
      wanted: head.job.processors,
      freeSlots: this.#pool.freeSlots,
      comingSlots: patient ? Math.max(0, this.#options.maxSlots - this.#pool.openSlots) : 0,
      running: this.#running.byExpectedEnd(),
    });
    if (reservation.kind === "out-of-reach") return;
    let spare = reservation.spareSlots;
    let lookedAt = 0;
    for (const waiting of this.#queue) {
      if (waiting === head) continue;
      if (this.#pool.freeSlots === 0 || lookedAt === (this.#options.backfillDepth ?? defaultBackfillDepth))
        return;
      lookedAt += 1;
      const { processors } = waiting.job;
      if (processors > this.#pool.freeSlots) continue;
      const endsInTime = now + estimate(waiting.job) <= reservation.shadowAt;
      if (!endsInTime && processors > spare) continue;
      if (!endsInTime) spare -= processors;
      this.#start(waiting, now);
    }
  }

  #start(waiting: Waiting, now: number): void {
    const { job, sequence, submittedAt } = waiting;
    this.#queue.remove(waiting);
    const shares = this.#pool.take(job.processors);
    const placed = shares.map(({ host, slots }) => ({ hostname: host.hostname, iterations: slots }));
    const run: Run = {
      job,
      sequence,
      submittedAt,
      startedAt: now,
      endsAt: now + job.runMs,
      expectedEnd: now + estimate(job),
      shares,
      openSlots: job.processors,
      over: false,
      report: { ...waiting.report, placed },
    };
    for (const { host, slots } of shares) this.#occupy(host, run, slots);
    this.#running.add(run);
    this.#due.push(run);
    this.#started.push({ name: job.name, at: now, hostnames: placed.map(({ hostname }) => hostname) });
  }

  #occupy(host: Host, run: Run, slots: number): void {
    host.occupants.set(run, slots);
    host.report = undefined;
    if (!this.#idle.delete(host)) return;
    const { hostname, instanceId } = host;
    this.#options.observer?.hostBusy({ at: run.startedAt, hostname, instanceId });
  }

  #end(run: Run, at: number, outcome: JobLogEntry["outcome"]): void {
    run.over = true;
    this.#running.remove(run);
    for (const share of run.shares) {
      this.#pool.release(share);
      this.#vacate(share.host, run, at);
    }
    this.#slotsAsked -= run.job.processors;
    const entry: JobLogEntry = {
      name: run.job.name,
      processors: run.job.processors,
      hosts: run.shares.length,
      submittedAt: run.submittedAt,
      startedAt: run.startedAt,
      endedAt: at,
      outcome,
    };
    this.#log.push(entry);
    this.#ended.push(entry);
  }

  #vacate(host: Host, run: Run, at: number): void {
    host.occupants.delete(run);
    host.report = undefined;
    // A host that was lost with its jobs on it was never idle: who watches must not take the loss for the end of the jobs.
    if (host.occupants.size > 0 || !host.present) return;
    host.idleSince = at;
    if (host.open) this.#idle.add(host);
    const { hostname, instanceId } = host;
    this.#options.observer?.hostIdle({ at, hostname, instanceId });
  }
}

/** How long the scheduler expects a job to last (rule 2). */
function estimate(job: WorkloadJob): number {
  return job.walltimeMs ?? job.runMs;
}

function reportHost(host: Host): HostReport {
  return {
    hostname: host.hostname,
    resources: { ncpus: host.cores },
    available: { ncpus: host.free },
    jobs: Array.from(host.occupants.keys(), (run) => run.job.name),
    state: host.open ? "open" : "closed",
  };
}
