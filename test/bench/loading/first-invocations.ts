import { EventEmitter, once } from "node:events";
import { startSystem } from "../../../src/local/system.ts";
import { defaultOptions } from "../../../src/simulator/default-options.ts";

/** Real milliseconds of the first and the second invocation in a fresh host process. */
export interface Invocations {
  readonly first: number;
  /** Absent for the timer: within a minute no other tick is due. */
  readonly second?: number;
}

/** In the order of their measurement: a tick waits where demand has just made nodes. */
export const TRIGGERS = ["http", "timer", "queue"] as const;
export type Trigger = (typeof TRIGGERS)[number];

export interface Invoker {
  /** Starts a host of its own for the app, invokes the function twice, and stops the host. */
  measure(app: string, trigger: Trigger): Promise<Invocations>;
  close(): Promise<void>;
}

/** Functions are invoked by hand, so that no polling and no schedule is measured. */
const BY_HAND = { "AzureWebJobs.demand.Disabled": "true", "AzureWebJobs.snapshot.Disabled": "true" };

/** An idle cluster is looked at each quarter of an hour. */
const APART_MS = 20 * 60_000;
/** Faster than real time by a thousandth, so that a clock can be ahead by any time. */
const SPEED = 1.001;

/** Each host lives later than the one before, so that its first tick is due. */
function clockAhead(hosts: number): Readonly<Record<string, string>> {
  const origin = Date.now() - Math.round((hosts * APART_MS) / (SPEED - 1));
  return { AUTOSCALER_LOCAL_CLOCK: `${origin}@${SPEED}` };
}

/** Emulator and simulator for all measurements. */
export async function openInvoker(): Promise<Invoker> {
  const lines = new EventEmitter();
  const system = await startSystem({
    simulator: defaultOptions,
    speed: 1,
    extraSettings: BY_HAND,
    onHostLine: (line) => lines.emit(/"event":"(demand|tick)"/.exec(line)?.[1] ?? "other"),
  });
  const call = async (url: string, key: string, body?: object) => {
    const answer = await fetch(url, {
      headers: { "x-functions-key": key, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    await answer.text();
    if (!answer.ok) throw new Error(`${url} was answered ${answer.status}`);
  };
  const invoke = async (url: string, trigger: Trigger): Promise<number> => {
    const began = performance.now();
    const { host, master } = system.keys;
    switch (trigger) {
      case "http":
        await call(`${url}/api/clusters/demo/config`, host);
        break;
      case "queue": {
        const said = once(lines, "demand");
        const demand = { version: 1, cluster: "demo", nodearrays: [{ Name: "hpc", TargetCount: 1 }] };
        await call(`${url}/admin/functions/demand`, master, { input: JSON.stringify(demand) });
        await said;
        break;
      }
      case "timer": {
        const said = once(lines, "tick");
        await call(`${url}/admin/functions/snapshot`, master, { input: "" });
        await said;
      }
    }
    return performance.now() - began;
  };
  let started = 0;
  return {
    async measure(app, trigger) {
      const host = await system.startHost({ app, settings: clockAhead((started += 1)) });
      try {
        const first = await invoke(host.url, trigger);
        return trigger === "timer" ? { first } : { first, second: await invoke(host.url, trigger) };
      } finally {
        await host.stop();
      }
    },
    close: () => system.close(),
  };
}
