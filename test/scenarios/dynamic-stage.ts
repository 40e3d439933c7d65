import type { DemandMessage, NodearrayMessage } from "../../src/wire/message/message.ts";
import { AT_ONCE, oneArray } from "./clusters.ts";
import { Stage } from "./stage.ts";
import type { StageOptions } from "./stage-options.ts";

/*
 * A stage with a dynamic node array.
 */

/**
 * A cluster for dynamic node arrays, through queue, functions and simulator. The documentation's own examples are in
 * autoscale-contract.test.ts.
 */

export const DAY = 86_400;

/** A target of this many nodes of a dynamic array that extends "execute". */
export function dynamic(
  Name: string,
  TargetCount: number,
  more: Partial<NodearrayMessage> = {},
): NodearrayMessage {
  return { Name, Extends: "execute", Dynamic: true, TargetCount, ...more };
}

export function from(
  requestSet: string,
  nodearrays: readonly NodearrayMessage[],
  expirationInterval = DAY,
): DemandMessage {
  return { version: 1, cluster: "demo", requestSet, expirationInterval, nodearrays };
}

/** Its record is ten minutes old, because a new record rests before it stops nodes. */
export async function settledStage(options: Partial<StageOptions> = {}): Promise<Stage> {
  const stage = new Stage({ simulator: oneArray("demo", {}, { timings: AT_ONCE }), ...options });
  await stage.pass(600);
  return stage;
}

export async function push(stage: Stage, ...messages: readonly DemandMessage[]): Promise<void> {
  for (const message of messages) await stage.during(stage.push(message));
}

export async function shown(stage: Stage, name: string) {
  const { nodearrays } = await stage.state("demo");
  const array = nodearrays.find((one) => one.name === name);
  if (array === undefined) return undefined;
  const { exists, extends: parent, flaggedForRemoval, count: nodes, target, askedBy, problem } = array;
  return { exists, extends: parent, flaggedForRemoval, nodes, target, askedBy, problem };
}

export const namesReady = async (stage: Stage): Promise<readonly string[]> =>
  (await stage.state("demo")).nodes.list
    .filter(({ phase }) => phase === "ready")
    .map(({ name }) => name)
    .sort();
