import { setTimeout as pause } from "node:timers/promises";
import { call, sendSet, stateUrl } from "./doors.ts";
import type { Figures } from "./figures.ts";
import type { Parts, Proxies } from "./parts.ts";
import { allProxies } from "./parts.ts";
import type { Traffic } from "./renewing-sets.ts";
import { spreadOf } from "./spread.ts";
import { usageOf } from "./usage.ts";

const SAMPLE_MS = 1000;
const PAGE_MS = 3000;
const LEAST_URGENT_MS = 10_000;
const MORE_URGENT_MS = 5000;
const MINUTE_MS = 60_000;
const MEBIBYTE = 1024 * 1024;

/** Watches a running system for some minutes: each second backlog and memory, every 3 s the state page, every 10 to 15 s a new target. */
export async function watchMinutes(
  parts: Parts,
  traffic: () => Traffic,
  minutes: number,
  uniform: () => number,
): Promise<Figures> {
  const begun = Date.now();
  const end = begun + minutes * MINUTE_MS;
  const heardBefore = parts.lines.length;
  const statusBefore = parts.simulator.events.filter(({ kind }) => kind === "status-read").length;
  for (const proxy of allProxies(parts.proxies)) proxy.reset();
  const pages = watchPage(parts, end);
  const urgent = sendUrgent(parts, end, uniform);
  const usage = watchUsage(parts, end);
  const backlog = watchBacklog(traffic, end);
  const [{ pageMs, pageErrors, bytes }, waits, used, behind] = await Promise.all([
    pages,
    urgent,
    usage,
    backlog,
  ]);
  const { sent, waiting, waits: accepts, failures } = traffic();
  const lines = parts.lines.slice(heardBefore);
  const plans = lines.filter(({ event }) => event === "plan").map(({ heardAt }) => heardAt);
  const gaps = [begun, ...plans, Date.now()].map((at, index, all) => at - (all[index - 1] ?? at)).slice(1);
  const errors = lines.filter(({ level }) => level === "error");
  const statusReads = parts.simulator.events.filter(({ kind }) => kind === "status-read").length;
  return {
    "accept (sent to durable, ms)": spreadOf(accepts),
    "messages sent": sent,
    "not taken by the queue": failures,
    "messages waiting": spreadOf(behind),
    "messages waiting at the end": waiting,
    "state page (ms)": spreadOf(pageMs),
    "state page (MiB)": bytes / MEBIBYTE,
    "state page errors": pageErrors,
    "errors in the log": errors.length,
    "first error": errors[0]?.message.slice(0, 200) ?? "none",
    plans: plans.length,
    "between plans (ms)": spreadOf(gaps),
    "new target to node created (ms)": spreadOf(waits.filter((wait) => wait !== undefined)),
    "new targets without a node": waits.filter((wait) => wait === undefined).length,
    "status calls a minute": (statusReads - statusBefore) / minutes,
    ...used(minutes),
    ...perMinute(parts.proxies, minutes),
  };
}

/** Asks for the state page again and again. */
async function watchPage({ hosts, key }: Parts, end: number) {
  const pageMs: number[] = [];
  let pageErrors = 0;
  let bytes = 0;
  while (Date.now() < end) {
    const begun = Date.now();
    const answer = await call(stateUrl(hosts[0]?.url ?? ""), { headers: { "x-functions-key": key } });
    if (answer.status === 200) pageMs.push(Date.now() - begun);
    else pageErrors += 1;
    bytes = Math.max(bytes, answer.bytes);
    await pause(Math.max(0, Math.min(begun + PAGE_MS, end) - Date.now()));
  }
  return { pageMs, pageErrors, bytes };
}

/** One node more of "urgent" each time; how long until the simulator has created it, in milliseconds. */
async function sendUrgent(parts: Parts, end: number, uniform: () => number) {
  const sentAt: number[] = [];
  for (;;) {
    await pause(Math.max(0, Math.min(LEAST_URGENT_MS + uniform() * MORE_URGENT_MS, end - Date.now())));
    // The last one is given its time, too.
    if (Date.now() > end - LEAST_URGENT_MS) break;
    sentAt.push(Date.now());
    await sendSet(parts, "urgent", {
      revision: Date.now(),
      expirationInterval: 86_400,
      nodearrays: [{ Name: "urgent", TargetCount: sentAt.length }],
    });
  }
  await pause(Math.max(0, end - Date.now()));
  const created = parts.simulator.events.filter(
    (event) => event.kind === "node-created" && event.array === "urgent",
  );
  return sentAt.map((at, index) => {
    const node = created[index];
    return node === undefined ? undefined : Math.max(0, node.at - at);
  });
}

/** The first host's processor time and memory. */
async function watchUsage({ hosts }: Parts, end: number) {
  const pid = hosts[0]?.pid() ?? 0;
  const first = await usageOf(pid);
  let last = first;
  let most = 0;
  while (Date.now() < end) {
    await pause(SAMPLE_MS);
    last = (await usageOf(pid)) ?? last;
    most = Math.max(most, last?.residentMiB ?? 0);
  }
  return (minutes: number): Figures => ({
    "host: processor seconds a minute":
      first === undefined || last === undefined ? undefined : (last.cpuSeconds - first.cpuSeconds) / minutes,
    "host: MiB at the beginning": first?.residentMiB,
    "host: MiB at most": first === undefined ? undefined : most,
    "host: MiB at the end": last?.residentMiB,
  });
}

async function watchBacklog(traffic: () => Traffic, end: number): Promise<readonly number[]> {
  const behind: number[] = [];
  while (Date.now() < end) {
    behind.push(traffic().waiting);
    await pause(SAMPLE_MS);
  }
  return behind;
}

/** What storage was asked for, by kind, most frequent first. */
function perMinute(proxies: Proxies | undefined, minutes: number): Figures {
  if (proxies === undefined) return {};
  const tables = [...proxies.table.counts()].map(([kind, count]) => ({ kind: `table: ${kind}`, ...count }));
  const queues = [...proxies.queue.counts()].map(([kind, count]) => ({ kind: `queue: ${kind}`, ...count }));
  const written = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  const sorted = [...tables, ...queues].toSorted((a, b) => b.calls - a.calls);
  return {
    "tables: MiB written a minute": written / MEBIBYTE / minutes,
    ...Object.fromEntries(sorted.map(({ kind, calls }) => [`${kind}, a minute`, calls / minutes])),
  };
}
