import type { Bodies } from "../../domain/bodies.ts";
import type { Node } from "../../domain/cluster.ts";
import { isOurs, type ExclusiveRules } from "../../domain/exclusive.ts";
import type { HeldName } from "../../domain/held-names.ts";
import { heldNames } from "../../domain/held-names.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { stillInFlight } from "../../domain/record.ts";
import { isoTime } from "../../domain/units.ts";
import { nodeNameOf } from "../../decide/intents/named-requests.ts";
import { pendingCreates } from "../../decide/intents/open-intents.ts";
import type { NameShown } from "../../wire/api/request-set-answers.ts";

/** What became of each name that a set asks for, in the order of its demand. Undefined: it names no nodes. */
export function describeNames(
  record: ClusterRecord,
  bodies: Bodies,
  set: SetName,
  rules: ExclusiveRules,
): readonly NameShown[] | undefined {
  const arrays = arraysOfNames(record, bodies, set);
  if (arrays.size === 0) return undefined;
  const held = heldNames(record);
  const nodes = new Map<string, Node>();
  for (const node of bodies.seen?.nodes ?? []) {
    // Of two nodes with one name, the one that is wanted.
    if (arrays.has(node.name) && (!nodes.has(node.name) || isWanted(node))) nodes.set(node.name, node);
  }
  const asked = new Set(
    [...record.inFlight.filter((one) => stillInFlight(one) > 0), ...pendingCreates(record.intents)].map(
      nodeNameOf,
    ),
  );
  return [...arrays].map(([name, array]): NameShown => {
    const one = held.get(name);
    const node = nodes.get(name);
    const known = node === undefined ? undefined : bodies.ledger.get(node.nodeId);
    return {
      name,
      array,
      ...stateOf(one, node, asked.has(name)),
      since: one?.since,
      nodeId: node?.nodeId,
      ours: known === undefined || isOurs(known, rules) ? undefined : false,
    };
  });
}

function arraysOfNames(
  { sets }: ClusterRecord,
  { demands }: Bodies,
  set: SetName,
): ReadonlyMap<string, ArrayName> {
  const entry = sets.get(set);
  const arrays = new Map<string, ArrayName>();
  if (entry?.live !== true) return arrays;
  for (const demand of demands.get(entry.digest)?.demands ?? []) {
    if (demand.kind !== "target") continue;
    for (const name of demand.named?.names ?? []) if (!arrays.has(name)) arrays.set(name, demand.array);
  }
  return arrays;
}

const isWanted = ({ phase }: Node): boolean => phase === "ready" || phase === "coming";

function stateOf(
  held: HeldName | undefined,
  node: Node | undefined,
  isAsked: boolean,
): Pick<NameShown, "state" | "reason" | "from"> {
  if (held === undefined) return { state: "coming", reason: "no plan has seen it yet", from: undefined };
  const { end, told, there, earlier, from } = held;
  if (end !== undefined) return { state: end.state, reason: end.why, from: isoTime(end.at) };
  const since = { from: isoTime(from) };
  if (there === true && earlier === undefined && node?.phase === "ready")
    return { state: "ready", reason: told, ...since };
  const isThere = there === true && node !== undefined;
  const usual = isAsked ? "its node was asked for" : "it is to be asked for";
  return { state: "coming", reason: told ?? (isThere ? `its node is ${node.status}` : usual), ...since };
}
