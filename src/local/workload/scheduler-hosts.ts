import type { Host, Run, Share } from "./host.ts";
import { HostPool } from "./host-pool.ts";
import type { IdleHost, JoiningHost, SchedulerObserver } from "./scheduler-events.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";

/** The hosts of the scheduler model: which jobs run on each, and since when open hosts have none. Reports changes to the observer. */
export class SchedulerHosts {
  readonly #observer: SchedulerObserver | undefined;
  readonly #pool = new HostPool();
  readonly #idle = new Set<Host>();

  constructor(observer: SchedulerObserver | undefined) {
    this.#observer = observer;
  }

  /** Slots that jobs can take, and the slots of all open hosts. */
  get pool(): Pick<HostPool, "freeSlots" | "openSlots" | "size"> {
    return this.#pool;
  }

  /** All hosts, in the order in which they joined. */
  all(): Iterable<Host> {
    return this.#pool.hosts();
  }

  find(hostname: string): Host | undefined {
    return this.#pool.find(hostname);
  }

  /** Adds an open, empty host. No host may have its name. */
  add(joining: JoiningHost, now: number): void {
    this.#idle.add(this.#pool.add({ ...joining, stopUrl: joining.stopUrl }, now));
  }

  /** Removes a host, and returns the jobs that it had. */
  remove(host: Host): readonly Run[] {
    this.#pool.remove(host);
    this.#idle.delete(host);
    return [...host.occupants.keys()];
  }

  /** Gives the host no new jobs. Returns false if it is closed already. */
  close(host: Host): boolean {
    if (!host.open) return false;
    this.#pool.close(host);
    this.#idle.delete(host);
    host.report = undefined;
    for (const [run, slots] of host.occupants) run.openSlots -= slots;
    return true;
  }

  /** Returns false if the host is open already. Undefined `idleFrom`: its idle time goes on from before it was closed. */
  reopen(host: Host, idleFrom: number | undefined): boolean {
    if (host.open) return false;
    this.#pool.reopen(host);
    host.report = undefined;
    for (const [run, slots] of host.occupants) run.openSlots += slots;
    if (idleFrom !== undefined) host.idleSince = idleFrom;
    if (host.occupants.size === 0) this.#idle.add(host);
    return true;
  }

  take(slots: number): readonly Share[] {
    return this.#pool.take(slots);
  }

  /** The job begins on the slots that were taken for it. */
  occupy(run: Run): void {
    for (const { host, slots } of run.shares) {
      host.occupants.set(run, slots);
      host.report = undefined;
      const { hostname, instanceId } = host;
      if (this.#idle.delete(host)) this.#observer?.hostBusy({ at: run.startedAt, hostname, instanceId });
    }
  }

  /** The job has ended, or was lost with one of its hosts. */
  release(run: Run, at: number): void {
    for (const share of run.shares) {
      this.#pool.release(share);
      this.#vacate(share.host, run, at);
    }
  }

  /** Open hosts that have had no job for at least this long, since their last job ended or since they joined. */
  idleHosts(now: number, idleSeconds: Seconds): readonly IdleHost[] {
    return [...this.#idle]
      .filter((host) => now - host.idleSince >= idleSeconds * 1000)
      .map(({ hostname, instanceId, stopUrl, idleSince }) => ({ hostname, instanceId, stopUrl, idleSince }));
  }

  /** When the next open host will have been idle for this long, if nothing changes. Undefined while all are busy. */
  nextIdleAt(idleSeconds: Seconds): number | undefined {
    let earliest: number | undefined;
    for (const { idleSince } of this.#idle)
      if (earliest === undefined || idleSince < earliest) earliest = idleSince;
    return earliest === undefined ? undefined : earliest + idleSeconds * 1000;
  }

  /** All idle times begin so much later. */
  leaveOut(milliseconds: Milliseconds): void {
    for (const host of this.#idle) host.idleSince += milliseconds;
  }

  /** A host that was lost with its jobs never becomes idle: the observer must not take the loss for the end of the jobs. */
  #vacate(host: Host, run: Run, at: number): void {
    host.occupants.delete(run);
    host.report = undefined;
    if (host.occupants.size > 0 || !host.present) return;
    host.idleSince = at;
    if (host.open) this.#idle.add(host);
    const { hostname, instanceId } = host;
    this.#observer?.hostIdle({ at, hostname, instanceId });
  }
}
