import { expect, test } from "vitest";
import type { NodearrayMessage } from "../../src/wire/message/message.ts";
import { oneArray } from "./clusters.ts";
import { Stage } from "./stage.ts";

/** Targets are floors: nodes by name count for other targets and jobs, whichever demand comes first. */

const ARRAY = "execute";
const NAMES = ["execute-7", "execute-8"];

const push = (stage: Stage, requestSet: string, nodearrays: readonly NodearrayMessage[], more: object = {}) =>
  stage.during(
    stage.push({ version: 1, cluster: "demo", requestSet, expirationInterval: 3600, nodearrays, ...more }),
  );

const stageOf = () => new Stage({ simulator: oneArray("demo") });

const created = (stage: Stage): readonly string[] => stage.eventsOf("node-created").map(({ name }) => name);

test.each([
  { what: "a target", nodearrays: [{ Name: ARRAY, TargetCount: 2 }], more: {} },
  { what: "a job", nodearrays: [], more: { jobs: [{ name: "j", constraints: { ncpus: 1 } }] } },
])("$what of a set before that of the names makes no other nodes", async ({ nodearrays, more }) => {
  const stage = stageOf();
  await stage.during(
    Promise.all([
      push(stage, "a", nodearrays, more),
      push(stage, "slurm", [{ Name: ARRAY, NodeNames: NAMES }]),
    ]),
  );
  await stage.pass(400);
  expect(created(stage)).toEqual(NAMES);
});

test("a target that is met by named nodes keeps no other node, though its set comes first", async () => {
  const stage = stageOf();
  await push(stage, "a", [{ Name: ARRAY, TargetCount: 2 }]);
  await stage.pass(200);
  await push(stage, "slurm", [{ Name: ARRAY, NodeNames: NAMES }]);
  await stage.pass(200);
  const answers = await stage.during(
    Promise.all(
      stage.eventsOf("node-created").map(async ({ nodeId, name }) => {
        const node = stage.readyNodes.find((one) => one.nodeId === nodeId);
        return `${name} ${node === undefined ? "is not Ready" : await stage.ask(node)}`;
      }),
    ),
  );
  expect(answers).toEqual(["execute-1 200", "execute-2 200", "execute-7 409", "execute-8 409"]);
});

test("the first that names a node says where it is made, though a plan in another order has as much", async () => {
  const [first, second] = ["Standard_F4s_v2", "Standard_D4s_v5"];
  const stage = new Stage({
    simulator: oneArray("demo", { machineTypes: [first, second], maxCount: 3 }),
  });
  await push(stage, "slurm", [
    { Name: ARRAY, TargetCount: 3 },
    { Name: ARRAY, NodeNames: ["n-1"], MachineType: first },
    { Name: ARRAY, NodeNames: ["n-1", "n-2"], MachineType: second },
  ]);
  await stage.pass(60);
  const made = stage.eventsOf("node-created").map(({ name, machineType }) => `${name} ${machineType}`);
  expect(made.toSorted()).toEqual([`execute-1 ${first}`, `n-1 ${first}`, `n-2 ${second}`]);
});
