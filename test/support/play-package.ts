import { execFileSync } from "node:child_process";
import { expect } from "vitest";
import { openDemandQueue } from "../../src/client/push.ts";
import { startSystem } from "../../src/local/system.ts";
import { defaultOptions } from "../../src/simulator/default-options.ts";
import { paced } from "./patience.ts";

/** The results of running a package in the local host. */
export interface Played {
  /** The version of the Node that ran it. */
  readonly node: string;
  readonly functions: readonly string[];
  /** The status of an answer to a call with a key. */
  readonly http: number;
  /** The status of the script of the page, and whether it is one. */
  readonly page: readonly [status: number, isScript: boolean];
  /** Whether the timer's function has run a tick. */
  readonly ticked: boolean;
  /** How often a process said that it has begun, with its machine and the size of its heap. */
  readonly begun: number;
  /** The node arrays of the nodes that were created for the demand in the queue. */
  readonly created: readonly string[];
}

/** Runs the package in `folder` and invokes each of its triggers. `node`: the path of the Node that runs it. Default: this one. */
export async function playPackage(folder: string, node: string = process.execPath): Promise<Played> {
  let ticked = false;
  let begun = 0;
  const system = await startSystem({
    app: folder,
    node,
    simulator: { ...defaultOptions, keepLog: true },
    // Fast enough for a tick within three seconds, slow enough for a busy machine: demand lives for five minutes.
    speed: paced(20),
    onHostLine: (line) => {
      ticked ||= line.includes('"event":"tick"');
      if (/"event":"started","instance":"[^"]+","node":"v[^"]+","heapMiB":\d+/.test(line)) begun += 1;
    },
  });
  try {
    const answer = await fetch(`${system.url}/api/clusters`, {
      headers: { "x-functions-key": system.keys.host },
    });
    const script = await fetch(`${system.url}/api/page/page.js`);
    const page = [script.status, (await script.text()).includes("x-functions-key")] as const;
    const pushed = await openDemandQueue(system.connectionString).push(
      { version: 1, cluster: "demo", nodearrays: [{ Name: "hpc", TargetCount: 1 }] },
      system.clock.now(),
    );
    expect(pushed.kind).toBe("sent");
    const created = () =>
      system.simulator.log.flatMap((event) => (event.kind === "node-created" ? [event.array] : []));
    const patience = { interval: 50 };
    await expect.poll(created, patience).toEqual(["hpc"]);
    await expect.poll(() => ticked, patience).toBe(true);
    return {
      node: execFileSync(node, ["--version"], { encoding: "utf8" }).trim(),
      functions: (system.hosts[0]?.functions ?? []).map(({ name, trigger }) => `${name} ${trigger}`),
      http: answer.status,
      page,
      ticked,
      begun,
      created: created(),
    };
  } finally {
    await system.close();
  }
}
