import { expect } from "vitest";
import type { LocalSystem } from "../../src/local/system.ts";
import { startSystem } from "../../src/local/system.ts";
import { AT_ONCE, oneArray, target } from "./clusters.ts";
import {
  askStop,
  countEvents,
  originAtFullMinute,
  put,
  readyNodes,
  stateOf,
  tick,
  until,
  untilSettled,
} from "./real.ts";
import type { ReadyNode } from "./ready-nodes.ts";
import { paced } from "../support/patience.ts";

const DAY = 86_400;
/** Slow enough that a callback's time limit of 20 s is several real seconds, for a busy machine. */
const SPEED = paced(3);

/** The result of three rounds of questions. */
export interface StoppedThroughHosts {
  /** Nodes whose stop was granted, per round. */
  readonly rounds: readonly number[];
  /** Nodes whose stop the simulator has accepted, after each round. */
  readonly terminated: readonly number[];
  readonly created: number;
}

/** All nodes ask to stop at once, three times, through several host processes of one app, when `needed` of them are needed. */
export async function stopThroughHosts(plan: {
  readonly hosts: number;
  readonly nodes: number;
  readonly needed: number;
}): Promise<StoppedThroughHosts> {
  const system = await startSystem({
    simulator: oneArray("demo", {}, { timings: AT_ONCE }),
    speed: SPEED,
    origin: originAtFullMinute(SPEED),
    onHostLine: () => undefined,
  });
  try {
    await put(system, target("demo", plan.nodes, { expirationInterval: DAY }));
    for (let more = 1; more < plan.hosts; more += 1) await system.startHost();
    await until("all nodes are Ready", () => readyNodes(system).length === plan.nodes);
    await tick(system, "demo");
    await put(system, target("demo", plan.needed, { expirationInterval: DAY }));
    await untilSettled(system, "demo");
    expect((await stateOf(system, "demo")).nodes.byPhase).toEqual({ ready: plan.nodes });
    expect(countEvents(system, "terminate-accepted")).toBe(0);

    const rounds: number[] = [];
    const terminated: number[] = [];
    let left: readonly ReadyNode[] = readyNodes(system);
    for (let round = 0; round < 3; round += 1) {
      const asked = await askAll(system, left);
      process.stdout.write(
        `autostop through ${plan.hosts} hosts: ${asked.granted} of ${left.length} go (${asked.milliseconds} ms)\n`,
      );
      rounds.push(asked.granted);
      terminated.push(countEvents(system, "terminate-accepted"));
      ({ left } = asked);
    }
    return { rounds, terminated, created: countEvents(system, "node-created") };
  } finally {
    await system.close();
  }
}

interface Round {
  readonly granted: number;
  readonly left: readonly ReadyNode[];
  readonly milliseconds: number;
}

/** All nodes ask at once, each at the next of the hosts. */
async function askAll(system: LocalSystem, nodes: readonly ReadyNode[]): Promise<Round> {
  const begin = performance.now();
  const answers = await Promise.all(
    nodes.map((node, index) => askStop(node, system.hosts[index % system.hosts.length]?.url)),
  );
  return {
    granted: answers.filter((status) => status === 200).length,
    left: nodes.filter((_, index) => answers[index] !== 200),
    milliseconds: Math.round(performance.now() - begin),
  };
}
