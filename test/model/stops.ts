import type { Stock, Usable } from "./floors.ts";
import { settleWants } from "./orders.ts";
import type { BookedNode } from "./node-book.ts";
import type { ClusterShape } from "./shape.ts";
import type { Closed, Word } from "./unhealthy-book.ts";
import type { Want } from "./wants.ts";

/** A node that can serve a want, with its id. */
type Server = Usable & { readonly id: string };

/** A stock in which no node may be created and no group is waited for. */
const NOTHING_NEW = {
  blocked: new Set<string>(),
  isShut: () => true,
  isInvalid: () => false,
  fills: new Map(),
  patientSince: Number.NEGATIVE_INFINITY,
} as const;

/**
 * Whether all these nodes may be stopped at once: no want gets less. This must hold if all existing and coming nodes count, and if only
 * Ready nodes do (architecture.md, Stopping: only Ready nodes count as substitutes for a Ready node).
 */
function mayAllGo(
  shape: ClusterShape,
  wants: readonly Want[],
  servers: readonly Server[],
  keyOfGroup: Stock["keyOfGroup"],
  going: ReadonlySet<string>,
): boolean {
  const placedBy = (usable: readonly Server[]): readonly number[] => {
    const stock: Stock = { usable, holding: usable, keyOfGroup, ...NOTHING_NEW };
    const { placed } = settleWants(shape, wants, stock);
    return wants.map((want) => placed.get(want) ?? 0);
  };
  return [servers, servers.filter(({ ready }) => ready)].every((view) => {
    const now = placedBy(view);
    const then = placedBy(view.filter(({ id }) => !going.has(id)));
    return now.every((count, index) => (then[index] ?? 0) >= count);
  });
}

/**
 * Everything that the questions of nodes are judged by, at the moment of the questions. The app may observe the cluster again before it
 * answers.
 */
export interface Moment {
  readonly shape: ClusterShape;
  readonly wants: readonly Want[];
  /** The nodes that the app may believe in. */
  readonly believed: readonly BookedNode[];
  readonly keyOfGroup: Stock["keyOfGroup"];
  /** Nodes that were Ready before the resume that their names wait for. */
  readonly earlier: ReadonlySet<string>;
  /** Unhealthy nodes that count for no want. None of those that ask. */
  readonly closed: Closed;
  readonly isBlind: boolean;
  /** The last observation is too old to say that a node does not exist. */
  readonly isStale: boolean;
  readonly isResting: boolean;
}

/** A node that asked, and its answer. */
export interface Told {
  readonly node: BookedNode;
  readonly answer: string;
}

/** Where the answers to nodes that asked at one moment differ from the rules (architecture.md, Autostop). */
export function judgeStops(
  moment: Moment,
  told: readonly Told[],
  unhealthy: Word | undefined,
): readonly string[] {
  const differences: string[] = [];
  const judged: Told[] = [];
  for (const one of told) {
    const { node, answer } = one;
    const certain = certainAnswer(moment, node, unhealthy);
    if (certain === undefined) judged.push(one);
    else if (answer !== certain && !(certain === "either" && (answer === "stop" || answer === "stay")))
      differences.push(`${node.id} is told ${answer}, the model says ${certain}`);
    if ((answer === "stop") !== (node.phase === "stopping"))
      differences.push(`${node.id} is told ${answer}, and CycleCloud has it ${node.phase}`);
  }
  const isOpen = judged.length === 0 || !moment.closed.isSure;
  return isOpen ? differences : [...differences, ...judgeChosen(moment, judged)];
}

/** The answer to a node that does not depend on demand. Undefined if it does. */
function certainAnswer(
  { believed, isBlind, isStale, isResting }: Moment,
  { id, instance }: BookedNode,
  unhealthy: Word | undefined,
): string | undefined {
  const isKnown = believed.find((node) => node.id === id)?.seen?.instance === instance;
  if (!isKnown) return isBlind || isStale ? "cannot-tell" : "unknown-instance";
  if (unhealthy !== undefined) return unhealthy;
  return isBlind || isResting ? "cannot-tell" : undefined;
}

/** Checks the number of nodes that may stop, whichever they are: no want gets less, and no further node could stop. */
function judgeChosen(
  { shape, wants, believed, keyOfGroup, earlier, closed }: Moment,
  judged: readonly Told[],
): readonly string[] {
  const up = new Set(judged.map(({ node }) => node.id));
  const open = believed.filter((node) => !closed.nodes.has(node));
  const servers = open.flatMap((node): readonly Server[] => {
    const { id, array, type, group, seen, lackedSince } = node;
    const name = earlier.has(id) ? undefined : node.name;
    const isReady = up.has(id) || (seen?.phase === "ready" && lackedSince === undefined);
    const isComing = seen === undefined || seen.phase === "coming" || lackedSince !== undefined;
    return isReady || isComing ? [{ id, name, array, type, group, ready: isReady }] : [];
  });
  const may = (going: ReadonlySet<string>): boolean => mayAllGo(shape, wants, servers, keyOfGroup, going);
  const going = new Set(judged.filter(({ answer }) => answer === "stop").map(({ node }) => node.id));
  const differences = may(going) ? [] : [`${[...going].join(", ")} may go, and somebody needs one of them`];
  for (const { node, answer } of judged) {
    if (answer === "stop") continue;
    if (answer !== "stay") differences.push(`${node.id} is told ${answer}, the model says stay or stop`);
    else if (isCountable(judged, servers) && may(new Set([...going, node.id])))
      differences.push(`${node.id} is told to stay, and nobody needs it`);
  }
  return differences;
}

/** Whether the number can be checked. Where groups and sizes differ, it depends on which nodes stop, so that only the wants are checked. */
function isCountable(judged: readonly Told[], servers: readonly Server[]): boolean {
  const [first] = judged;
  const here = servers.filter(({ array }) => array === first?.node.array);
  if (here.some(({ group }) => group !== undefined)) return false;
  return judged.length === 1 || new Set(here.map(({ type }) => type)).size === 1;
}
