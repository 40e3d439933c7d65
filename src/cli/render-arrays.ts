import type { StateAnswer } from "../client/readers.ts";
import { itemsWhere, withMember } from "./choose.ts";
import type { Column } from "./table.ts";
import { countsText, renderTable, someOf } from "./table.ts";

type ArrayAnswer = StateAnswer["nodearrays"][number];
type GroupedAnswer = StateAnswer["groups"][number];

/** One line of the list: an array of the template, a dynamic one, or a grouped one. */
interface Row {
  readonly name: string | undefined;
  readonly extends: string | undefined;
  readonly mode: string | undefined;
  readonly asked: string;
  readonly by: readonly string[];
  readonly nodes: string;
  readonly why: string | undefined;
}

/** The node arrays, each with what is asked of it. With a name that one alone, and below it its groups. */
export function renderArrays({ nodearrays, groups }: StateAnswer, name: string | undefined): string {
  const isMeant = (one: { readonly name?: string | undefined }): boolean =>
    name === undefined || one.name === name;
  const grouped = groups.filter(isMeant);
  const rows = [...nodearrays.filter(isMeant).map(rowOfArray), ...grouped.map(rowOfGrouped)];
  const table = renderTable(ARRAYS, rows, name === undefined ? "no node arrays" : "no such node array");
  // Of all arrays the groups would be long: `nodearrays NAME` has them.
  const members = name === undefined ? [] : groups.filter((one) => isMeant(one) || one.extends === name);
  const lists = members.map(
    (one) => `${one.name ?? "?"}:\n${renderTable(GROUPS, one.groups, "no groups yet")}`,
  );
  return [table, ...lists].join("\n\n");
}

/** The same part of the answer as it came. */
export function chooseArrays(body: unknown, state: StateAnswer, name: string | undefined): unknown {
  if (name === undefined) return body;
  const arrays = withMember(body, "nodearrays", (all) =>
    itemsWhere(all, state.nodearrays, (one) => one.name === name),
  );
  return withMember(arrays, "groups", (all) =>
    itemsWhere(all, state.groups, (one) => one.name === name || one.extends === name),
  );
}

const ARRAYS: readonly Column<Row>[] = [
  ["NODEARRAY", ({ name }) => name],
  ["OF", (row) => row.extends],
  ["MODE", ({ mode }) => mode],
  ["TARGET", ({ asked }) => asked],
  ["ASKED BY", ({ by }) => (by.length === 0 ? undefined : someOf(by))],
  ["NODES", ({ nodes }) => nodes],
  ["WHY", ({ why }) => why],
];

const GROUPS: readonly Column<GroupedAnswer["groups"][number]>[] = [
  ["GROUP", ({ id }) => id],
  ["SIZE", ({ machineType }) => machineType],
  ["STATE", ({ state }) => state],
  ["READY", ({ nodesReady }) => nodesReady],
  ["NODES", ({ nodes }) => nodes],
  ["OF", ({ nodesWanted }) => nodesWanted],
  ["WHY", ({ why }) => why],
];

function rowOfArray(one: ArrayAnswer): Row {
  const { name, mode, target, askedBy, nodes, inFlight = 0, problem, managed, flaggedForRemoval } = one;
  const { nodes: count = 0, cores = 0 } = target;
  const asked = countsText({ nodes: count, cores }, "none");
  const flagged = flaggedForRemoval === true ? "no request set asks for it any more" : undefined;
  return {
    name,
    extends: one.extends,
    mode: managed === false ? "not ours" : mode,
    asked,
    by: askedBy,
    nodes: countsText({ ...nodes, "in flight": inFlight }, "none"),
    why: problem ?? flagged ?? oldText(one),
  };
}

function oldText({ oldNodes, moreOldNodes = 0 }: ArrayAnswer): string | undefined {
  if (oldNodes === undefined || oldNodes.length === 0) return undefined;
  const count = oldNodes.length + moreOldNodes;
  const nodes = count === 1 ? "1 node has" : `${count} nodes have`;
  return `${nodes} the attributes of before: ${someOf(oldNodes)}`;
}

function rowOfGrouped(one: GroupedAnswer): Row {
  const { name, requestSets, groupsWanted = 0, groupsWhole = 0, nodes = 0, nodesReady = 0, ungrouped } = one;
  return {
    name,
    extends: one.extends,
    mode: undefined,
    asked: `${groupsWanted} ${groupsWanted === 1 ? "group" : "groups"}, ${groupsWhole} whole`,
    by: requestSets,
    nodes: countsText({ ready: nodesReady, coming: nodes - nodesReady }, "none"),
    why: ungrouped,
  };
}
