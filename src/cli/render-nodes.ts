import type { NodeAnswer, StateAnswer } from "../client/state.ts";
import { ageBetween } from "./age.ts";
import { groupAlike, isNotOurs } from "./staying.ts";
import { compareNaturally, renderTable } from "./table.ts";

/** The nodes that are shown, and their order. Absent: all, in the app's order. */
export interface NodeChoice {
  readonly nodearray?: string;
  readonly phase?: string;
  /** Only nodes that are up and that no demand needs. */
  readonly unneeded?: true;
  /** Only nodes whose WHY contains this text, ignoring case. */
  readonly why?: string;
  readonly sort?: NodeOrder;
}

export const NODE_ORDERS = ["name", "nodearray", "size", "phase", "age"] as const;
export type NodeOrder = (typeof NODE_ORDERS)[number];

/** Every selected node, with the reason why it stays or is stopped. No line is longer than `columns`. */
export function renderNodes({ nodes, now }: StateAnswer, choice: NodeChoice = {}, columns?: number): string {
  const chosen = nodes.list.filter((node) => isChosen(node, choice));
  const rows = inOrder(chosen, choice.sort);
  const hasOthers = chosen.some(isNotOurs);
  const table = renderTable(
    [
      ["NODE", ({ name }) => name],
      ["NODEARRAY", ({ array }) => array],
      ["SIZE", ({ machineType }) => machineType],
      ["GROUP", ({ placementGroup }) => placementGroup],
      ["PHASE", ({ phase }) => phase],
      ["AGE", ({ firstSeenAt }) => ageBetween(firstSeenAt, now)],
      ["READY IN", ({ expectedReadyAt }) => readyIn(now, expectedReadyAt)],
      ["HOST", ({ hostname }) => hostname],
      ["BUSY", ({ busyness }) => busyness],
      ["WHOSE", (node) => (hasOthers ? whose(node) : undefined)],
      ["WHY", ({ why }) => why],
    ],
    choice.unneeded === true ? groupAlike(rows) : rows,
    nodes.list.length === 0 ? "no nodes" : "no such nodes",
    columns,
  );
  const more = (nodes.count ?? nodes.list.length) - nodes.list.length;
  return more > 0 ? `${table}\nand ${more} more` : table;
}

const whose = (node: NodeAnswer): string => (isNotOurs(node) ? "not ours: made by another tool" : "ours");

export function isChosen(node: NodeAnswer, { nodearray, phase, unneeded, why }: NodeChoice): boolean {
  if (nodearray !== undefined && node.array !== nodearray && node.countsFor !== nodearray) return false;
  if (phase !== undefined && node.phase !== phase) return false;
  if (unneeded === true && (node.phase !== "ready" || NEEDED.has(node.verdict))) return false;
  return why === undefined || node.why?.toLowerCase().includes(why.toLowerCase()) === true;
}

/** Verdicts on nodes that are in use, or whose state is unknown. */
const NEEDED: ReadonlySet<string | undefined> = new Set([
  "needed",
  "busy",
  "coming",
  "not-judged",
  "not-managed",
  undefined,
]);

function inOrder(nodes: readonly NodeAnswer[], sort: NodeOrder | undefined): readonly NodeAnswer[] {
  if (sort === undefined) return nodes;
  const key = KEYS[sort];
  return nodes.toSorted((a, b) => compareNaturally(key(a), key(b)));
}

/** By age: the oldest first. */
const KEYS: Readonly<Record<NodeOrder, (node: NodeAnswer) => string | undefined>> = {
  name: ({ name }) => name,
  nodearray: ({ array }) => array,
  size: ({ machineType }) => machineType,
  phase: ({ phase }) => phase,
  age: ({ firstSeenAt }) => firstSeenAt,
};

function readyIn(now: string | undefined, expected: string | undefined): string | undefined {
  if (now === undefined || expected === undefined) return undefined;
  return Date.parse(expected) <= Date.parse(now) ? "overdue" : ageBetween(now, expected);
}
