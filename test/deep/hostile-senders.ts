import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { call, putSet } from "../bench/loop/doors.ts";
import { CLUSTER, type Parts } from "../bench/loop/parts.ts";

/** Senders that want to keep others from their nodes. Each goes on until it is told to stop. Its sets are called evil, evil-1 and so on. */
export type HostileSender = (parts: Parts, signal: AbortSignal) => Promise<void>;

const DAY_SECONDS = 86_400;
const list = <T>(count: number, of: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => of(at));

/** Repeats until the end, with a pause in real milliseconds. */
async function again(
  signal: AbortSignal,
  everyMs: number,
  act: (round: number) => Promise<unknown>,
): Promise<void> {
  for (let round = 0; !signal.aborted; round += 1) {
    await act(round);
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

const hostOf = ({ hosts }: Parts): string => hosts[0]?.url ?? "";

/** Packed before the run, so that what is measured is not the time in which these megabytes are made. */
const pack = (message: object): Buffer =>
  gzipSync(JSON.stringify({ version: 1, expirationInterval: DAY_SECONDS, ...message }));

function putPacked({ hosts, key }: Parts, set: string, body: Buffer | undefined): Promise<unknown> {
  return call(`${hosts[0]?.url ?? ""}/api/clusters/${CLUSTER}/request-sets/${set}`, {
    method: "PUT",
    headers: { "x-functions-key": key },
    body: body ?? "",
  });
}

/** Demand of an array of its own. */
const OWN = { "node.nodearray": "execute" };

/** As many jobs as one message may have, again and again a little different; most of them are refused. */
const fillsJobs: HostileSender = (parts, signal) => {
  const bodies = [199_999, 140_000, 139_000].map((count) =>
    pack({ jobs: list(count, (at) => ({ name: `${count}-${at}`, constraints: { ncpus: 4, ...OWN } })) }),
  );
  return again(signal, 5000, (round) => putPacked(parts, "evil", bodies[round % bodies.length]));
};

/** Thousands of sets that ask for nothing, by the queue. */
const fillsSets: HostileSender = (parts, signal) =>
  again(signal, 1000, (round) =>
    Promise.all(
      list(100, (at) =>
        parts.demandQueue.sendMessage(
          JSON.stringify({
            version: 1,
            cluster: CLUSTER,
            requestSet: `evil-${100 * round + at}`,
            expirationInterval: DAY_SECONDS,
            jobs: [],
          }),
        ),
      ),
    ),
  );

/** Twenty sets of jobs with twenty alternatives each, which no plan can afford. */
const sendsDearPlans: HostileSender = (parts, signal) => {
  const alternatives = (set: number, job: number) =>
    list(20, (at) => ({ ncpus: 1 + at + set, [`r${job % 50}`]: [1, 2, 3], "node.vm_size": `*${at}` }));
  const bodies = list(20, (set) =>
    pack({
      jobs: list(800, (job) => ({
        name: `j${job}`,
        iterations: 3 + job,
        constraints: { or: alternatives(set, job) },
      })),
    }),
  );
  return again(signal, 5000, (round) => putPacked(parts, `evil-${round % 20}`, bodies[round % 20]));
};

/** Texts that look like sizes and are long: what is read of them must not cost their square. */
const sendsLongTexts: HostileSender = (parts, signal) => {
  const digits = "1".repeat(65_500);
  const body = pack({
    jobs: list(31, (at) => ({ name: `j${at}`, constraints: { mem: `memory::${digits}.${digits}!` } })),
  });
  return again(signal, 5000, () => putPacked(parts, "evil", body));
};

/** Says that the licences of others are used up, and defines their node arrays. */
const ownsPools: HostileSender = (parts, signal) => {
  const pools = pack({ pools: [{ name: "licence-x", total: 0, used: 0 }] });
  const array = { Name: "licensed", Dynamic: true, Extends: "urgent", TargetCount: 0 };
  const arrays = pack({ nodearrays: [array] });
  return again(signal, 500, async () => {
    await putPacked(parts, "evil", pools);
    await putPacked(parts, "evil-array", arrays);
  });
};

/** Claims jobs on every node that there is. */
const claimsHosts: HostileSender = (parts, signal) =>
  again(signal, 1000, (round) => {
    const hosts = parts.simulator.events.flatMap((event) =>
      event.kind === "node-ready" ? [event.hostname] : [],
    );
    return putSet(parts, hostOf(parts), `evil-${round % 5}`, {
      revision: Date.now(),
      expirationInterval: DAY_SECONDS,
      jobs: [
        {
          name: "ghost",
          iterations: Math.max(1, hosts.length),
          constraints: { ncpus: 1, ...OWN },
          placed: hosts.map((hostname) => ({ hostname, iterations: 1 })),
        },
      ],
    });
  });

/** Twenty messages a second: some that cannot be read, some that change a set. */
const floodsQueue: HostileSender = (parts, signal) =>
  again(signal, 1000, (round) =>
    Promise.all(
      list(20, (at) =>
        parts.demandQueue.sendMessage(
          at % 2 === 0
            ? "x".repeat(30_000)
            : JSON.stringify({
                version: 1,
                cluster: CLUSTER,
                requestSet: `evil-${at}`,
                revision: Date.now(),
                jobs: [{ name: `j${round}`, constraints: { ncpus: 1 + (round % 4), ...OWN } }],
              }),
        ),
      ),
    ),
  );

export const HOSTILE_SENDERS = {
  "fills jobs": fillsJobs,
  "fills sets": fillsSets,
  "sends dear plans": sendsDearPlans,
  "sends long texts": sendsLongTexts,
  "owns pools": ownsPools,
  "claims hosts": claimsHosts,
  "floods the queue": floodsQueue,
} satisfies Readonly<Record<string, HostileSender>>;

export type HostileKind = keyof typeof HOSTILE_SENDERS;

const isKind = (name: string): name is HostileKind => Object.hasOwn(HOSTILE_SENDERS, name);

export const HOSTILE_KINDS: readonly HostileKind[] = Object.keys(HOSTILE_SENDERS).filter(isKind);
