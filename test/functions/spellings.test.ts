import { afterAll, beforeAll, expect, test } from "vitest";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { patiently, stateOf } from "./api-stage.ts";

/** Names as CycleCloud's documentation and its users spell them. */

let app: LocalApp;
beforeAll(async () => {
  const machineTypes = ["Standard_D4_v3", "Standard_E4_v3", "E4v3"];
  const size = { vcpuCount: 4, memory: 16, family: "standardDv3Family" };
  app = await startLocalApp({
    clusters: ["prod"],
    speed: 20,
    simulator: {
      clusters: [
        { name: "prod", arrays: [{ name: "execute", region: "westeurope", maxCount: 10, machineTypes }] },
      ],
      machineTypes: Object.fromEntries(machineTypes.map((name) => [name, size])),
    },
  });
  // The notes of an answer are those of the last observation.
  await app.call("POST", "/api/clusters/prod/tick");
});
afterAll(() => app.close());

const put = (set: string, message: object) =>
  app.call("PUT", `/api/clusters/prod/request-sets/${set}`, { expirationInterval: 3600, ...message });
const created = (): readonly string[] =>
  app.simulator.log.flatMap((event) => (event.kind === "node-created" ? [event.machineType] : []));
const taken = (pairs: string) => [`VM sizes are taken for those that the cluster offers: ${pairs}`];

test("a size that differs in case, _ and Standard_ only is taken for the offered one, and the answer says so", async () => {
  const target = { Name: "execute", TargetCount: 1, MachineType: "Standard_D4v3" };
  const { status, body } = await put("target", { nodearrays: [target] });
  expect([status, body]).toMatchObject([202, { notes: taken("Standard_D4v3 for Standard_D4_v3") }]);
  await expect.poll(created, patiently).toEqual(["Standard_D4_v3"]);

  const job = (name: string) => ({ name, constraints: { ncpus: 4, not: { "node.vm_size": "d4v3" } } });
  const asks = { name: "is", constraints: { ncpus: 4, "node.vm_size": ["STANDARD_D4_V3", "F*"] } };
  await put("jobs", { jobs: [asks, job("not")] });
  // The first one runs on the node of the target.
  await expect.poll(created, patiently).toEqual(["Standard_D4_v3", "Standard_E4_v3"]);
});

test("a size that may be one of several is not taken for any, and the reason names them", async () => {
  const target = { Name: "execute", TargetCount: 1, MachineType: "standard_e4V3" };
  expect((await put("unclear", { nodearrays: [target] })).body).toMatchObject({ notes: [] });
  await expect
    .poll(async () => (await stateOf(app, "prod")).plan?.unmet, patiently)
    .toMatchObject([
      { reasons: ['node array "execute" offers none of standard_e4V3 (nearest: Standard_E4_v3)'] },
    ]);
});

test("sizes that no array offers are told, also beside one that is offered", async () => {
  const asks = { ncpus: 4, "node.vm_size": ["Standard_D4_v3", "Standard_E32", "Standard_H*"] };
  expect((await put("other", { jobs: [{ name: "1", constraints: asks }] })).body).toMatchObject({
    notes: ["no node array of the cluster offers these VM sizes: Standard_E32"],
  });
  await put("other", { jobs: [] });
});

test("a dynamic array may spell its size so", async () => {
  const before = created().length;
  const target = { Name: "own", Dynamic: true, Extends: "execute", TargetCount: 1, MachineType: "D4V3" };
  await put("dynamic", { nodearrays: [target] });
  await expect.poll(() => created().slice(before), patiently).toEqual(["Standard_D4_v3"]);
});

test("the name of the cluster is dropped, and that of another one refuses the message", async () => {
  const entry = { Name: "execute", TargetCount: 0 };
  expect(await put("named", { nodearrays: [{ ...entry, ClusterName: "prod" }] })).toMatchObject({
    status: 202,
  });
  expect(await put("named", { nodearrays: [{ ...entry, ClusterName: "test" }] })).toMatchObject({
    status: 400,
    body: { problems: [{ path: "nodearrays[0].ClusterName", found: '"test"' }] },
  });
});
