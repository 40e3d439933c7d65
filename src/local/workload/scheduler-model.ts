import { Backfill } from "./backfill.ts";
import type { Run, Host } from "./host.ts";
import type { JobLogEntry } from "./job-log.ts";
import { JobLog } from "./job-log.ts";
import { RunningJobs } from "./running-jobs.ts";
import type {
  IdleHost,
  JoiningHost,
  Progress,
  SchedulerOptions,
  SchedulerStatistics,
  SubmitOutcome,
} from "./scheduler-events.ts";
import { SchedulerHosts } from "./scheduler-hosts.ts";
import type { SchedulerDemandMessage, HostReport, JobReport } from "./scheduler-report.ts";
import type { Waiting } from "./waiting-queue.ts";
import { queueJob, WaitingQueue } from "./waiting-queue.ts";
import type { WorkloadJob } from "./workload-job.ts";
import { expectedRunMs } from "./workload-job.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";

// Long: the whole interface of one scheduler, with its rules.

/**
 * A batch scheduler for rigid jobs: first come, first served, with EASY backfilling. It has no clock. Each method that depends on the time
 * gets it as a parameter (milliseconds, never going back), so that it works in real, scaled and virtual time. A job of P processors takes P
 * cores on as few hosts as possible (see `HostPool.take`).
 *
 * Rules:
 * 1. The head of the queue starts as soon as enough cores are free. A job behind it may start earlier only if that does not delay the head:
 *    it is expected to end before the head's reservation, or it fits beside the head (backfill.ts).
 * 2. A job is expected to run for its requested walltime, or for its run time if no walltime is known. No user can estimate that well, so
 *    backfilling looks better with such traces. Jobs are never ended at their walltime, so that every job of a trace completes.
 * 3. Cores that the cluster may still get (`maxSlots` less the open ones) count as available at once. Otherwise a wide job on a small
 *    cluster would block all others while its nodes boot. After `patienceMs` as the head, a job no longer counts on them. If the existing
 *    hosts are too few for it, no job may overtake it any more, so it cannot starve.
 * 4. A job ends at its own time. It starts at the time of the `advance` that finds room for it.
 */
export class SchedulerModel {
  readonly #maxSlots: number;
  readonly #hosts: SchedulerHosts;
  readonly #backfill: Backfill;
  readonly #queue = new WaitingQueue();
  readonly #running = new RunningJobs();
  readonly #names = new Set<string>();
  readonly #log = new JobLog();
  #started: Progress["started"][number][] = [];
  #slotsAsked = 0;
  /** Whether anything has changed that could let a job start. Time alone never does. */
  #changed = false;

  constructor(options: SchedulerOptions) {
    this.#maxSlots = options.maxSlots;
    this.#hosts = new SchedulerHosts(options.observer);
    this.#backfill = new Backfill(options);
  }

  /** Queues a job. It starts at the next `advance` that finds room for it. */
  submit(job: WorkloadJob, now: number): SubmitOutcome {
    const maxSlots = this.#maxSlots;
    if (job.processors > maxSlots) return { kind: "too-wide", processors: job.processors, maxSlots };
    if (this.#names.has(job.name)) return { kind: "name-taken", name: job.name };
    this.#enqueue({ job, sequence: this.#names.size, submittedAt: now });
    this.#names.add(job.name);
    return { kind: "queued" };
  }

  /** Adds an open host. A repeated call for the same instance has no effect. A call for another instance means that the old host is gone. */
  hostUp(joining: JoiningHost, now: number): void {
    const known = this.#hosts.find(joining.hostname);
    if (known?.instanceId === joining.instanceId) return;
    if (known !== undefined) this.hostGone(joining.hostname, now);
    this.#finishDue(now);
    this.#hosts.add(joining, now);
    this.#changed = true;
  }

  /** Removes a host. Its jobs count as killed. They are queued again in their old place and run from the start. */
  hostGone(hostname: string, now: number): { readonly killed: readonly string[] } {
    this.#finishDue(now);
    const host = this.#hosts.find(hostname);
    if (host === undefined) return { killed: [] };
    const lost = this.#hosts.remove(host);
    for (const run of lost) {
      this.#end(run, now, "killed");
      this.#enqueue(run);
    }
    this.#changed = true;
    return { killed: lost.map((run) => run.job.name) };
  }

  /** Accepts no new jobs on this host; running ones continue. Unknown and closed hosts stay unchanged. */
  closeHost(hostname: string): void {
    const host = this.#hosts.find(hostname);
    if (host !== undefined && this.#hosts.close(host)) this.#changed = true;
  }

  /** Lets a closed host accept jobs again. With `idleFrom` its idle time starts then, because its stop was refused. */
  openHost(hostname: string, idleFrom?: number): void {
    const host = this.#hosts.find(hostname);
    if (host !== undefined && this.#hosts.reopen(host, idleFrom)) this.#changed = true;
  }

  /** Ends the jobs that are due and starts those that can start. Returns all starts and ends since the last call. */
  advance(now: number): Progress {
    this.#finishDue(now);
    if (this.#changed) this.#startJobs(now);
    this.#changed = false;
    const started = this.#started;
    this.#started = [];
    return { started, ended: this.#log.takeNew() };
  }

  /** When the next job ends. Undefined while none runs. */
  nextEventAt(): number | undefined {
    return this.#running.nextToEnd()?.endsAt;
  }

  /** When time alone may next let a job start, once a host is opened again. Infinity if it never does. */
  nextRuleAt(now: number): number {
    const overdueAt = this.#running.byExpectedEnd().find(({ expectedEnd }) => expectedEnd > now)?.expectedEnd;
    return Math.min(overdueAt ?? Infinity, this.#backfill.patientUntil(now));
  }

  idleHosts(now: number, idleSeconds: Seconds): readonly IdleHost[] {
    return this.#hosts.idleHosts(now, idleSeconds);
  }

  nextIdleAt(idleSeconds: Seconds): number | undefined {
    return this.#hosts.nextIdleAt(idleSeconds);
  }

  /** The idle times of all hosts begin so much later: time was left out (still.ts). */
  leaveOut(milliseconds: Milliseconds): void {
    this.#hosts.leaveOut(milliseconds);
  }

  /** The demand message for the state after the last `advance`. */
  demandMessage(now: number, to: DemandAddress): SchedulerDemandMessage {
    return reportDemand({ running: this.#running, waiting: this.#queue, hosts: this.#hosts.all() }, to, now);
  }

  statistics(): SchedulerStatistics {
    return {
      submitted: this.#names.size,
      ...this.#log.counts,
      waiting: this.#queue.size,
      running: this.#running.size,
      slotsAsked: this.#slotsAsked,
      hosts: this.#hosts.pool.size,
      freeSlots: this.#hosts.pool.freeSlots,
      ...this.#log.waits(),
    };
  }

  /** Slots of all waiting and running jobs. Unlike `statistics`, it takes no time and can be read at every event. */
  get slotsAsked(): number {
    return this.#slotsAsked;
  }

  get hosts(): number {
    return this.#hosts.pool.size;
  }

  get waitingJobs(): number {
    return this.#queue.size;
  }

  leastNodeHours(coresPerNode: number): number {
    return this.#log.leastNodeHours(coresPerNode);
  }

  #enqueue(entry: Omit<Waiting, "report">): void {
    this.#queue.add(queueJob(entry));
    this.#slotsAsked += entry.job.processors;
    this.#changed = true;
  }

  #finishDue(now: number): void {
    for (;;) {
      const run = this.#running.nextToEnd();
      if (run === undefined || run.endsAt > now) return;
      this.#end(run, run.endsAt, "completed");
      this.#changed = true;
    }
  }

  #startJobs(now: number): void {
    const { pool } = this.#hosts;
    for (;;) {
      const head = this.#queue.head;
      if (head === undefined) return;
      if (head.job.processors > pool.freeSlots) {
        const scheduler = { pool, queue: this.#queue, running: this.#running };
        for (const waiting of this.#backfill.choose(head, scheduler, now)) this.#start(waiting, now);
        return;
      }
      this.#start(head, now);
    }
  }

  #start(waiting: Waiting, now: number): void {
    const { job } = waiting;
    this.#queue.remove(waiting);
    const shares = this.#hosts.take(job.processors);
    const placed = shares.map(({ host, slots }) => ({ hostname: host.hostname, iterations: slots }));
    const run: Run = {
      ...waiting,
      startedAt: now,
      endsAt: now + job.runMs,
      expectedEnd: now + expectedRunMs(job),
      shares,
      openSlots: job.processors,
      over: false,
      report: { ...waiting.report, placed },
    };
    this.#hosts.occupy(run);
    this.#running.add(run);
    this.#started.push({ name: job.name, at: now, hostnames: placed.map(({ hostname }) => hostname) });
  }

  #end(run: Run, at: number, outcome: JobLogEntry["outcome"]): void {
    this.#running.remove(run);
    this.#hosts.release(run, at);
    this.#slotsAsked -= run.job.processors;
    this.#log.add(run, at, outcome);
  }
}

/** Where a demand message goes, and for how long it is valid (seconds). */
type DemandAddress = Pick<SchedulerDemandMessage, "cluster" | "requestSet" | "expirationInterval">;

/**
 * The demand of all jobs that have not ended, and a report of every host. A job or host that has not changed since the last message is the
 * same object again. The revision is `now` in whole milliseconds: two messages with different content must not have the same.
 */
function reportDemand(
  state: {
    readonly running: Iterable<Run>;
    readonly waiting: Iterable<Waiting>;
    readonly hosts: Iterable<Host>;
  },
  { cluster, requestSet, expirationInterval }: DemandAddress,
  now: number,
): SchedulerDemandMessage {
  const jobs: JobReport[] = [];
  for (const { report } of state.running) jobs.push(report);
  for (const { report } of state.waiting) jobs.push(report);
  const schedulerNodes: HostReport[] = [];
  for (const host of state.hosts) schedulerNodes.push((host.report ??= reportHost(host)));
  const revision = Math.floor(now);
  return { version: 1, cluster, requestSet, revision, expirationInterval, jobs, schedulerNodes };
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
