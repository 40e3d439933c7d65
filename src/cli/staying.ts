import type { NodeAnswer } from "../client/readers.ts";
import { compareNaturally, someOf } from "./table.ts";

/** Another tool made the node, and no configuration gives its array to us. False if an older app answers, which does not report the ownership. */
export const isNotOurs = ({ ownership }: Pick<NodeAnswer, "ownership">): boolean =>
  ownership?.startsWith("not ours") === true;

/** Whether a node of ours is up, and neither a report nor a callback has told whether it is busy. It is stopped only once one does. */
export const isStaying = (node: NodeAnswer): boolean =>
  node.phase === "ready" && node.busyness === "unknown" && !isNotOurs(node);

/** Which nodes do not go by themselves, and what ends them. */
export function stayingText(nodes: readonly NodeAnswer[]): string {
  const [stay, their, they] = nodes.length === 1 ? ["stays", "its", "it is"] : ["stay", "their", "they are"];
  return `${sizesText(nodes)} ${stay} until ${their} autostop callback asks, a report names ${nodes.length === 1 ? "it" : "them"} idle, or ${they} terminated in CycleCloud: no report and no callback yet`;
}

/** "195 x htc/Standard_F2s_v2, 2 x hpc/Standard_HB120rs_v3", the most frequent first. */
function sizesText(nodes: readonly NodeAnswer[]): string {
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(sizeOf(node), (counts.get(sizeOf(node)) ?? 0) + 1);
  return someOf([...counts].toSorted(([, a], [, b]) => b - a).map(([size, count]) => `${count} x ${size}`));
}

const sizeOf = ({ array = "?", machineType = "?" }: NodeAnswer): string => `${array}/${machineType}`;

/** Nodes that differ in name, host and age alone are one line, named by their number and with the age of the oldest. */
export function groupAlike(nodes: readonly NodeAnswer[]): readonly NodeAnswer[] {
  const groups = new Map<string, NodeAnswer[]>();
  for (const node of nodes) {
    const { array, machineType, placementGroup, phase, busyness, ownership, why } = node;
    const alike = JSON.stringify([array, machineType, placementGroup, phase, busyness, ownership, why]);
    const group = groups.get(alike);
    if (group === undefined) groups.set(alike, [node]);
    else group.push(node);
  }
  return [...groups.values()].flatMap((group) => {
    const [oldest, ...others] = group.toSorted((a, b) => compareNaturally(a.firstSeenAt, b.firstSeenAt));
    if (oldest === undefined || others.length === 0) return group;
    return [{ ...oldest, name: `${group.length} x ${sizeOf(oldest)}`, hostname: undefined }];
  });
}
