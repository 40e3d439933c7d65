import type { NodeArrayOptions, SimulatorOptions } from "../../src/simulator/options.ts";
import { oneArray } from "./clusters.ts";
import { Stage } from "./stage.ts";

/*
 * Demand for groups, and the groups that a stage shows.
 */

export const DAY = 86_400;
export const F4 = "Standard_F4s_v2";
export const D4 = "Standard_D4s_v5";
export const BOTH = [F4, D4];

/** A target of this many groups of 64 cores: 16 nodes each. */
export function groupsOf64(count: number, more: object = {}, requestSet = "standard") {
  const asked = { Name: "execute", TargetGroupCount: count, GroupCoreCount: 64, ...more };
  return { version: 1, cluster: "demo", requestSet, nodearrays: [asked], expirationInterval: DAY } as const;
}

export const demo = (more: Partial<NodeArrayOptions> = {}): SimulatorOptions =>
  oneArray("demo", { maxPlacementGroupSize: 16, ...more });

/** Nodes created so far, by placement group. */
export function createdByGroup(stage: Stage): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { machineType, placementGroup = "none" } of stage.eventsOf("node-created")) {
    const key = `${machineType}/${placementGroup}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

export const groupsOf = async (stage: Stage) => (await stage.state("demo")).groups;

/** The groups of the only grouped array: id, state, and its nodes of those wanted. */
export async function shownGroups(stage: Stage): Promise<readonly string[]> {
  const [array] = await groupsOf(stage);
  return (array?.groups ?? []).map(
    ({ id = "none", state, nodes, nodesWanted }) => `${id}: ${state}, ${nodes} of ${nodesWanted}`,
  );
}
