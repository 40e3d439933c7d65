import type { Bodies } from "../../domain/bodies.ts";
import type { Node } from "../../domain/cluster.ts";
import { isOurs, type ExclusiveRules } from "../../domain/exclusive.ts";
import type { HeldName } from "../../domain/held-names.ts";
import { heldNames } from "../../domain/held-names.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { NameCause } from "../../domain/name-cause.ts";
import { holdsFor, nameSentence } from "../../domain/name-cause.ts";
import type { Policy } from "../../domain/policy.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { stillInFlight } from "../../domain/record.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import { showText } from "../../domain/shown.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime } from "../../domain/units.ts";
import { ruleOf } from "../../decide/senders/sender-rule.ts";
import { nodeNameOf } from "../../decide/intents/named-requests.ts";
import { pendingCreates } from "../../decide/intents/create-requests.ts";
import type { NameShown } from "../../wire/api/request-set-answers.ts";

/** What became of each name that a set asks for, in the order of its demand. Undefined: it names no nodes. */
export function describeNames(
  record: ClusterRecord,
  bodies: Bodies,
  set: SetName,
  rules: ExclusiveRules & Pick<Policy, "senders">,
  now: Instant,
): readonly NameShown[] | undefined {
  const arrays = arraysOfNames(record, bodies, set);
  if (arrays.size === 0) return undefined;
  const held = heldNames(record);
  const { senders = NO_SENDER_RULES } = rules;
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
  const isSeen = record.observedGeneration === record.generation;
  const outcomes = new Map(
    (isSeen ? (bodies.plan?.demands ?? []) : []).flatMap((one) => (one.set === set ? [[one.id, one]] : [])),
  );
  return [...arrays].map(([name, { array, demand }]): NameShown => {
    const one = held.get(name);
    if (one?.by !== undefined && ruleOf(senders, one.by) !== ruleOf(senders, set))
      return heldByOthers(name, array);
    const node = nodes.get(name);
    const known = node === undefined ? undefined : bodies.ledger.get(node.nodeId);
    const outcome = outcomes.get(demand);
    return {
      name,
      array,
      ...(one === undefined ? unseen(outcome) : stateOf(one, node, asked.has(name))),
      ...causeShown(one?.end?.cause ?? one?.cause, set, outcome, now),
      earlier: one?.earlier !== undefined && one.earlier === node?.nodeId ? true : undefined,
      since: one?.since,
      nodeId: node?.nodeId,
      ours: known === undefined || isOurs(known, rules) ? undefined : false,
    };
  });
}

/** The first demand that names a node. */
interface Asked {
  readonly array: ArrayName;
  readonly demand: string;
}

function arraysOfNames(
  { sets }: ClusterRecord,
  { demands }: Bodies,
  set: SetName,
): ReadonlyMap<string, Asked> {
  const entry = sets.get(set);
  const arrays = new Map<string, Asked>();
  if (entry?.live !== true) return arrays;
  for (const demand of demands.get(entry.digest)?.demands ?? []) {
    if (demand.kind !== "target") continue;
    const asked = { array: demand.array, demand: demand.id };
    for (const name of demand.named?.names ?? []) if (!arrays.has(name)) arrays.set(name, asked);
  }
  return arrays;
}

const isWanted = ({ phase }: Node): boolean => phase === "ready" || phase === "coming";

type StateShown = Pick<NameShown, "state" | "reason" | "from">;

/** A name of which no plan remembers anything: it is new, or the configuration forbids its demand. */
function unseen(outcome: DemandOutcome | undefined): StateShown {
  const [forbidden] = outcome?.reasons.filter(({ code }) => code === "sender-refused") ?? [];
  return forbidden === undefined
    ? { state: "coming", reason: "no plan has seen it yet", from: undefined }
    : { state: "refused", reason: told(nameSentence(forbidden)), from: undefined };
}

/** What may be said of a name beside its state. */
const NOTHING = {
  from: undefined,
  since: undefined,
  holdsFor: undefined,
  room: undefined,
  until: undefined,
  earlier: undefined,
  nodeId: undefined,
  ours: undefined,
};

/** What is said of a name that is not the set's: nothing of its node. */
function heldByOthers(name: string, array: ArrayName): NameShown {
  const reason = nameSentence({ code: "name-held", names: [name], count: 1 });
  return { ...NOTHING, name, array, state: "refused", reason: told(reason), cause: "request" };
}

/** Characters of a reason: it is told to schedulers and jobs. */
const MOST_CHARACTERS = 200;

/** A reason in one line. CycleCloud's own words may be long, and odd. */
function told(reason: string): string {
  const text = showText(reason);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
}

function causeShown(
  cause: NameCause | undefined,
  set: SetName,
  outcome: DemandOutcome | undefined,
  now: Instant,
): Pick<NameShown, "cause" | "holdsFor" | "room" | "until"> {
  const holds = cause === undefined ? undefined : holdsFor(cause, set);
  const { nodes, until } = (holds === "everyone" ? outcome?.room : undefined) ?? {};
  const ends = until !== undefined && until > now ? until : undefined;
  return { cause: cause?.kind, holdsFor: holds, room: nodes, until: isoTime(ends) };
}

function stateOf(held: HeldName, node: Node | undefined, isAsked: boolean): StateShown {
  const { end, there, earlier, from } = held;
  const said = held.told === undefined ? undefined : told(held.told);
  if (end !== undefined) return { state: end.state, reason: told(end.why), from: isoTime(end.at) };
  const since = { from: isoTime(from) };
  if (there === true && earlier === undefined && node?.phase === "ready")
    return { state: "ready", reason: said, ...since };
  const isThere = there === true && node !== undefined;
  const usual = isAsked ? "its node was asked for" : "it is to be asked for";
  return { state: "coming", reason: said ?? (isThere ? `its node is ${node.status}` : usual), ...since };
}
