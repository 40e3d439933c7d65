import { expect, test } from "vitest";
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

test("two hundred nodes ask to stop at once, through four host processes, when 50 are needed: never more than 150 go, and exactly 150 within two rounds", async () => {
  const system = await startSystem({
    simulator: oneArray("demo", {}, { timings: AT_ONCE }),
    speed: SPEED,
    origin: originAtFullMinute(SPEED),
    onHostLine: () => undefined,
  });
  try {
    await put(system, target("demo", 200, { expirationInterval: DAY }));
    for (let more = 0; more < 3; more += 1) await system.startHost();
    await until("200 nodes are Ready", () => readyNodes(system).length === 200);
    await tick(system, "demo");
    await put(system, target("demo", 50, { expirationInterval: DAY }));
    await untilSettled(system, "demo");
    expect((await stateOf(system, "demo")).nodes.byPhase).toEqual({ ready: 200 });
    expect(countEvents(system, "terminate-accepted")).toBe(0);

    const first = await askAll(system, readyNodes(system));
    const goneFirst = countEvents(system, "terminate-accepted");
    expect(goneFirst).toBeLessThanOrEqual(150);
    expect(first.granted).toBe(goneFirst);

    const second = await askAll(system, first.left);
    process.stdout.write(
      `autostop through 4 hosts: ${first.granted} of 200 go in the first round (${first.milliseconds} ms), ${second.granted} in the second (${second.milliseconds} ms)\n`,
    );
    expect(first.granted + second.granted).toBe(150);
    expect(countEvents(system, "terminate-accepted")).toBe(150);

    const third = await askAll(system, second.left);
    expect(third.granted).toBe(0);
    expect(countEvents(system, "terminate-accepted")).toBe(150);
    expect(countEvents(system, "node-created")).toBe(200);
  } finally {
    await system.close();
  }
});

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
