import { expect, test } from "vitest";
import type { DemandMessage, NodearrayMessage } from "../../src/wire/message/message.ts";
import { AT_ONCE, oneArray } from "./clusters.ts";
import { Stage } from "./stage.ts";

/** Messages that name one node array, and leave the other demand of their set as it is, as jetpack.autoscale.set does. */

const options = oneArray("demo", {}, { timings: AT_ONCE });

function stageOfThree(): Stage {
  const [cluster] = options.clusters;
  const [array] = cluster?.arrays ?? [];
  if (cluster === undefined || array === undefined) throw new Error("one cluster with one array");
  const arrays = ["a", "b", "c"].map((name) => ({ ...array, name }));
  return new Stage({ simulator: { ...options, clusters: [{ ...cluster, arrays }] } });
}

const message = (nodearrays: NodearrayMessage, more: Partial<DemandMessage> = {}): DemandMessage => ({
  version: 1,
  cluster: "demo",
  nodearrays,
  others: "stay",
  ...more,
});

/** What the set asks for, as the last plan has it. */
async function asked(stage: Stage): Promise<readonly string[]> {
  const { outcomes } = await stage.state("demo");
  return outcomes.map(({ id, asked: count }) => `${id.replace("nodearray:", "")} ${count}`).toSorted();
}

test("what is not named stays until it expires, and a later message of its own replaces it", async () => {
  const stage = stageOfThree();
  await stage.during(stage.push(message({ Name: "a", TargetCount: 1 })));
  await stage.pass(120);
  await stage.during(stage.push(message({ Name: "b", TargetCount: 2 })));
  await stage.during(stage.push(message({ Name: "c", TargetCount: 3 }, { expirationInterval: 3600 })));
  await stage.pass(60);
  expect(await asked(stage)).toEqual(["a 1", "b 2", "c 3"]);
  await stage.during(stage.push(message({ Name: "c", TargetCount: 4 }, { expirationInterval: 3600 })));
  // A minute and more after the end of a at 300 s, and before that of b at 420 s.
  await stage.pass(200);
  expect(await asked(stage)).toEqual(["b 2", "c 4"]);
  await stage.pass(120);
  expect(await asked(stage)).toEqual(["c 4"]);
});

test("a message without the key states all of its set", async () => {
  const stage = stageOfThree();
  await stage.during(stage.push(message({ Name: "a", TargetCount: 1 }, { expirationInterval: 3600 })));
  await stage.during(stage.push(message({ Name: "b", TargetCount: 2 })));
  const { others: _others, ...whole } = message({ Name: "c", TargetCount: 3 });
  await stage.during(stage.push(whole));
  await stage.pass(60);
  expect(await asked(stage)).toEqual(["c 3"]);
});

test("jobs of the set stay too, and other sets are not touched", async () => {
  const stage = stageOfThree();
  const jobs = [{ name: "41", constraints: { ncpus: 1 } }];
  await stage.during(stage.push({ version: 1, cluster: "demo", jobs }));
  await stage.during(stage.push(message({ Name: "a", TargetCount: 1 }, { requestSet: "other" })));
  await stage.during(stage.push(message({ Name: "b", TargetCount: 2 })));
  await stage.pass(60);
  expect(await asked(stage)).toEqual(["41 1", "a 1", "b 2"]);
});

test("delivered twice it asks for the same", async () => {
  const stage = stageOfThree();
  await stage.during(stage.push(message({ Name: "a", TargetCount: 1 }, { expirationInterval: 3600 })));
  const twice = message({ Name: "b", TargetCount: 2 }, { revision: Math.floor(stage.clock.now()) + 1000 });
  await stage.during(stage.push(twice));
  await stage.during(stage.push(twice));
  await stage.pass(60);
  expect(await asked(stage)).toEqual(["a 1", "b 2"]);
});
