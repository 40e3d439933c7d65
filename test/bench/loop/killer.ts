import { setTimeout as pause } from "node:timers/promises";
import type { HostSlot } from "./host-slot.ts";

export interface Kills {
  /** How many there were. */
  readonly count: number;
  /** When the last one was, in real milliseconds since 1970; undefined: there was none. */
  readonly lastAt: number | undefined;
}

/** A killed host is away for up to so long (real). */
const MOST_AWAY_MS = 1500;

/**
 * Kills hosts with SIGKILL until `endAt` (real), a host drawn from all, `meanSeconds` (real) apart on average, and starts each again. When
 * it resolves all hosts run.
 */
export async function killHosts(
  hosts: readonly HostSlot[],
  meanSeconds: number,
  endAt: number,
  uniform: () => number,
): Promise<Kills> {
  let count = 0;
  let lastAt: number | undefined;
  const restarts: Promise<void>[] = [];
  for (;;) {
    // Times between events that know nothing of each other.
    await pause(Math.min(-Math.log(1 - uniform()) * meanSeconds * 1000, endAt - Date.now() + 1));
    if (Date.now() >= endAt) break;
    const host = hosts[Math.floor(uniform() * hosts.length)];
    if (host?.pid() === undefined) continue;
    count += 1;
    lastAt = Date.now();
    restarts.push(killAndStart(host, uniform() * MOST_AWAY_MS));
  }
  await Promise.all(restarts);
  return { count, lastAt };
}

/**
 * Lets hosts stand still with SIGSTOP, one after the other, a host drawn from all, each for a time (real) drawn from the range. Ends after
 * `endAt` (real); then all go on. Returns how often.
 */
export async function freezeHosts(
  hosts: readonly HostSlot[],
  seconds: { readonly least: number; readonly most: number },
  endAt: number,
  uniform: () => number,
): Promise<number> {
  let count = 0;
  while (Date.now() < endAt) {
    const pid = hosts[Math.floor(uniform() * hosts.length)]?.pid();
    if (pid === undefined) throw new Error("a host has ended");
    count += 1;
    process.kill(pid, "SIGSTOP");
    await pause(1000 * (seconds.least + uniform() * (seconds.most - seconds.least)));
    process.kill(pid, "SIGCONT");
    await pause(1000 * seconds.least);
  }
  return count;
}

async function killAndStart(host: HostSlot, awayMs: number): Promise<void> {
  await host.kill();
  await pause(awayMs);
  await host.start();
}
