import { expect } from "vitest";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { oneArray } from "./clusters.ts";
import type { StageOptions } from "./stage-options.ts";
import { Stage } from "./stage.ts";

/*
 * A stage with deallocated nodes.
 */

export const DAY = 86_400;

/** A cluster whose first nodes, created by hand, have been shut down and keep their disks, ten minutes later. */
export async function stageWithDeallocated(
  count: number,
  options: StageOptions,
): Promise<readonly [Stage, string[]]> {
  // They were created by hand, so the autoscaler starts them only in an exclusive node array.
  const stage = new Stage({ ...options, policy: { ...options.policy, exclusiveArrays: true } });
  const nodes = { method: "POST", query: {} };
  stage.simulator.request({
    ...nodes,
    path: "/clusters/demo/nodes/create",
    body: { sets: [{ nodearray: "execute", count }] },
  });
  await stage.pass(120);
  const ids = stage.eventsOf("node-created").map(({ nodeId }) => nodeId);
  stage.simulator.request({ ...nodes, path: "/clusters/demo/nodes/shutdown", body: { ids } });
  await stage.pass(480);
  expect(stage.eventsOf("node-deallocated")).toHaveLength(count);
  return [stage, ids];
}

export function demo(
  more: Partial<SimulatorOptions> = {},
  machineTypes = ["Standard_F4s_v2"],
): SimulatorOptions {
  return oneArray("demo", { shutdownPolicy: "Deallocate", machineTypes }, more);
}

export const starts = (stage: Stage) =>
  stage.sent.filter(({ method, path }) => method === "POST" && path.endsWith("/nodes/start"));

export const created = (stage: Stage, before: number) =>
  stage
    .eventsOf("node-created")
    .slice(before)
    .map(({ machineType }) => machineType);

export const started = (stage: Stage) => stage.eventsOf("start-accepted").map(({ nodeId }) => nodeId);

/** Nodes that the last observation showed as Ready. */
export const ready = async (stage: Stage) => (await stage.state("demo")).nodes.byPhase["ready"];

export async function why(stage: Stage, nodeId: string | undefined): Promise<string | undefined> {
  return (await stage.state("demo")).nodes.list.find((node) => node.nodeId === nodeId)?.why;
}
