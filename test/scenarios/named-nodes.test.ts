import { expect, test } from "vitest";
import type { NodeArrayOptions } from "../../src/simulator/options.ts";
import type { NodearrayMessage } from "../../src/wire/message/message.ts";
import { oneArray } from "./clusters.ts";
import { Stage } from "./stage.ts";

/** Targets that name their nodes, from the message to the node and back. */

const DAY = 86_400;
const HTC = "execute";

const ask = (nodearrays: readonly NodearrayMessage[], more: object = {}) => ({
  version: 1 as const,
  cluster: "demo",
  requestSet: "slurm",
  expirationInterval: DAY,
  nodearrays,
  ...more,
});

const names = (NodeNames: string | readonly string[], more: object = {}) =>
  ask([{ Name: HTC, NodeNames, ...more }]);

const stageOf = (array: Partial<NodeArrayOptions> = {}) => new Stage({ simulator: oneArray("demo", array) });

/** The names of all nodes that were ever created, in order. */
const created = (stage: Stage): readonly string[] => stage.eventsOf("node-created").map(({ name }) => name);

const shown = async (stage: Stage) => (await stage.requestSet("demo", "slurm"))?.names ?? [];

/** The names of the nodes that are Ready and not being stopped. */
const ready = (stage: Stage): readonly string[] => {
  const ids = new Map(stage.eventsOf("node-created").map(({ nodeId, name }) => [nodeId, name]));
  return stage.readyNodes.map(({ nodeId }) => ids.get(nodeId) ?? nodeId);
};

const states = async (stage: Stage) => (await shown(stage)).map(({ name, state }) => `${name} ${state}`);

test("exactly the named nodes come, each is ready, and they go without a wait when their names are taken back", async () => {
  const stage = stageOf();
  await stage.during(stage.push(names(["execute-4", "execute-1"])));
  await stage.pass(20);
  expect(await states(stage)).toEqual(["execute-4 coming", "execute-1 coming"]);
  await stage.pass(400);
  expect(created(stage)).toEqual(["execute-4", "execute-1"]);
  expect(await states(stage)).toEqual(["execute-4 ready", "execute-1 ready"]);
  const schedulerNodes = stage.readyNodes.map(({ hostname }) => ({ hostname, jobs: [], state: "closed" }));
  await stage.during(stage.push(names(["execute-4"], {})));
  for (let i = 0; i < 6; i += 1) {
    await stage.during(stage.push({ ...names(["execute-4"]), schedulerNodes }));
    await stage.pass(20);
  }
  expect(ready(stage)).toEqual(["execute-4"]);
  expect(created(stage)).toHaveLength(2);
});
