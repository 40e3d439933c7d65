import type { Host, Share } from "./host.ts";
import { MinHeap } from "./min-heap.ts";

/**
 * The hosts of a scheduler and their free cores. Only open hosts count as free. Open hosts are filed by their number of free cores, so that
 * placing a job takes time only for the hosts that it uses.
 */
export class HostPool {
  readonly #hosts = new Map<string, Host>();
  readonly #filed: FreeHosts[] = [];
  #freeSlots = 0;
  #openSlots = 0;
  #joined = 0;

  /** Free cores of open hosts. */
  get freeSlots(): number {
    return this.#freeSlots;
  }

  /** All cores of open hosts, free or not. */
  get openSlots(): number {
    return this.#openSlots;
  }

  get size(): number {
    return this.#hosts.size;
  }

  /** All hosts, in the order in which they joined. */
  hosts(): IterableIterator<Host> {
    return this.#hosts.values();
  }

  find(hostname: string): Host | undefined {
    return this.#hosts.get(hostname);
  }

  /** Adds an open, empty host. The name must not be in the pool. */
  add(joining: Pick<Host, "hostname" | "instanceId" | "stopUrl" | "cores">, now: number): Host {
    const host: Host = {
      ...joining,
      order: this.#joined++,
      free: joining.cores,
      open: true,
      present: true,
      idleSince: now,
      occupants: new Map(),
      report: undefined,
    };
    this.#hosts.set(host.hostname, host);
    this.#countIn(host);
    return host;
  }

  /** Removes a host, even with jobs on it. */
  remove(host: Host): void {
    if (host.open) this.#countOut(host);
    host.present = false;
    this.#hosts.delete(host.hostname);
  }

  close(host: Host): void {
    this.#countOut(host);
    host.open = false;
  }

  reopen(host: Host): void {
    host.open = true;
    this.#countIn(host);
  }

  /**
   * Occupies this many slots on as few hosts as possible, and among equally few on the fullest. While no host has room for all of the rest,
   * the host with the most free cores is filled. The rest goes to the host with the least sufficient room. Of equal hosts, the one that
   * joined first is used. `slots` must be at most `freeSlots`.
   */
  take(slots: number): readonly Share[] {
    const shares: Share[] = [];
    let left = slots;
    let roomiest = this.#filed.length - 1;
    while (left > 0) {
      let host = this.#findTightest(left);
      while (host === undefined && roomiest > 0) {
        host = this.#filed[roomiest]?.first();
        if (host === undefined) roomiest -= 1;
      }
      if (host === undefined) throw new RangeError(`the pool has fewer than ${slots} free slots`);
      const share = { host, slots: Math.min(left, host.free) };
      this.#occupy(share);
      shares.push(share);
      left -= share.slots;
    }
    return shares;
  }

  /** Frees the slots of a job that has ended. The host may be closed or gone by then. */
  release({ host, slots }: Share): void {
    host.free += slots;
    if (!host.present || !host.open) return;
    this.#freeSlots += slots;
    this.#file(host);
  }

  #findTightest(slots: number): Host | undefined {
    for (let free = slots; free < this.#filed.length; free++) {
      const host = this.#filed[free]?.first();
      if (host !== undefined) return host;
    }
    return undefined;
  }

  #occupy({ host, slots }: Share): void {
    host.free -= slots;
    this.#freeSlots -= slots;
    this.#file(host);
  }

  #countIn(host: Host): void {
    this.#freeSlots += host.free;
    this.#openSlots += host.cores;
    this.#file(host);
  }

  #countOut(host: Host): void {
    this.#freeSlots -= host.free;
    this.#openSlots -= host.cores;
  }

  #file(host: Host): void {
    if (host.free === 0) return;
    for (let free = this.#filed.length; free <= host.free; free++) this.#filed.push(new FreeHosts(free));
    this.#filed[host.free]?.file(host);
  }
}

/**
 * Hosts with exactly this number of free cores, in the order in which they joined. A host that has changed since it was filed is removed
 * only when it becomes the first. Each host is filed at most once.
 */
class FreeHosts {
  readonly #free: number;
  readonly #heap = new MinHeap<Host>((a, b) => a.order < b.order);
  readonly #filed = new Set<Host>();

  constructor(free: number) {
    this.#free = free;
  }

  file(host: Host): void {
    if (this.#filed.has(host)) return;
    this.#filed.add(host);
    this.#heap.push(host);
  }

  first(): Host | undefined {
    for (;;) {
      const host = this.#heap.peek();
      if (host === undefined) return undefined;
      if (host.present && host.open && host.free === this.#free) return host;
      this.#heap.pop();
      this.#filed.delete(host);
    }
  }
}
