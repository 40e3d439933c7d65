import { expect, test } from "vitest";
import type { NodearrayMessage } from "../../src/wire/message/message.ts";
import { AT_ONCE, oneArray } from "./clusters.ts";
import { Stage } from "./stage.ts";

/** Spot nodes of an array that is not spot. Other nodes use the whole family quota, and 12 cores of spot quota are left. */

const quotas = {
  regional: { westeurope: 1000 },
  spot: { westeurope: 12 },
  family: { standardFSv2Family: 100 },
  usedByOthers: { family: { standardFSv2Family: 100 } },
};

async function play(entry: NodearrayMessage) {
  const stage = new Stage({ simulator: oneArray("demo", {}, { timings: AT_ONCE, quotas }) });
  await stage.during(
    stage.push({ version: 1, cluster: "demo", requestSet: "standard", nodearrays: [entry] }),
  );
  await stage.pass(130);
  const { nodes } = await stage.state("demo");
  return nodes.list.filter(({ phase }) => phase === "ready").length;
}

test.each<{ name: string; entry: NodearrayMessage; ready: number }>([
  { name: "a target", entry: { Name: "execute", TargetCount: 3, Interruptible: true }, ready: 3 },
  {
    name: "a target, its attribute as text",
    entry: { Name: "execute", TargetCount: 3, interruptible: "true" },
    ready: 3,
  },
  {
    name: "a dynamic array",
    entry: { Name: "cheap", Extends: "execute", Dynamic: true, TargetCount: 3, Interruptible: true },
    ready: 3,
  },
  {
    name: "groups",
    entry: {
      Name: "execute",
      TargetGroupCount: 1,
      GroupInstanceCount: 2,
      Interruptible: true,
    },
    ready: 2,
  },
  {
    name: "more than the spot quota",
    entry: { Name: "execute", TargetCount: 5, Interruptible: true },
    ready: 3,
  },
  { name: "on demand there is nothing", entry: { Name: "execute", TargetCount: 3 }, ready: 0 },
])("$name: $ready nodes come up", async ({ entry, ready }) => {
  expect(await play(entry)).toBe(ready);
});
