import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { openDemandQueue } from "../../src/client/push.ts";
import type { LocalSystem } from "../../src/local/system.ts";
import { startSystem } from "../../src/local/system.ts";
import { defaultOptions } from "../../src/simulator/default-options.ts";

/** The two paths of the tick in the local host: a process of its own, real queues, the host's own timer. */

vi.setConfig({ testTimeout: 180_000 });

const SPEED = 20;
const MINUTES = 10;
const APP = fileURLToPath(new URL("../support/crashing-app.ts", import.meta.url));

interface Counted {
  /** Status calls that CycleCloud got. */
  readonly looks: number;
  /** Port calls by name. */
  readonly calls: Readonly<Record<string, number>>;
  /** Wake messages that were sent. */
  readonly wakes: number;
}

test("timer silent, wake messages lost, or both at work: as many observations and the same storage calls", async () => {
  // One after the other would take three times as long; the machine has two cores.
  const [both, silent, lost] = await Promise.all([
    count({}),
    count({ "AzureWebJobs.snapshot.Disabled": "true" }),
    count({ LOSE_TICKS: "1" }),
  ]);
  expect([both.looks, silent.looks, lost.looks]).toEqual([MINUTES, MINUTES, MINUTES]);
  expect(silent.calls).toEqual(lost.calls);
  // A message each time, and one in four minutes.
  expect(silent.wakes).toBe(MINUTES);
  expect(lost.wakes).toBeLessThanOrEqual(MINUTES);
  expect(both.wakes).toBeLessThanOrEqual(4);
  // While the timer runs, a wake message finds nothing to do: it reads the record and the configuration once.
  for (const name of SPENT) expect(both.calls[name], name).toBeLessThanOrEqual((silent.calls[name] ?? 0) + 4);
  expect(without(both.calls)).toEqual(without(silent.calls));
});

const SPENT = ["store.load", "store.save", "policyOf"];

const without = (calls: Counted["calls"]) =>
  Object.fromEntries(Object.entries(calls).filter(([name]) => !SPENT.includes(name)));

/** A cluster that holds one node, for ten minutes once all is settled. */
async function count(settings: Readonly<Record<string, string>>): Promise<Counted> {
  const lines: string[] = [];
  const system = await startSystem({
    app: APP,
    simulator: { ...defaultOptions, keepLog: true },
    speed: SPEED,
    extraSettings: settings,
    onHostLine: (line) => lines.push(line),
  });
  onTestFinished(() => system.close());
  const sent = await openDemandQueue(system.connectionString).push(
    {
      version: 1,
      cluster: "demo",
      nodearrays: [{ Name: "hpc", TargetCount: 1 }],
      expirationInterval: 86_400,
    },
    system.clock.now(),
  );
  expect(sent.kind).toBe("sent");
  await passMinutes(system, 12);
  const [host] = system.hosts;
  if (host !== undefined) process.kill(host.pid, "SIGUSR2");
  const looksBefore = looksOf(system);
  await passMinutes(system, MINUTES);
  const names = lines.flatMap((line) => /^\{"crashing":"call".*"call":"([^"]+)"/.exec(line)?.[1] ?? []);
  const calls = Object.fromEntries(
    [...new Set(names)].toSorted().map((name) => [name, names.filter((one) => one === name).length]),
  );
  const { "queue.wake": wakes = 0, ...others } = calls;
  return { looks: looksOf(system) - looksBefore, calls: others, wakes };
}

const looksOf = ({ simulator }: LocalSystem): number =>
  simulator.log.filter(({ kind }) => kind === "status-read").length;

/** Moves to the middle of a minute, this many minutes later: no tick is near. */
async function passMinutes({ clock }: LocalSystem, minutes: number): Promise<void> {
  const middle = (Math.floor(clock.now() / 60_000) + minutes) * 60_000 + 35_000;
  await clock.sleep(middle - clock.now());
}
