import type { Remedy, Raise } from "../../domain/remedy.ts";
import { renderRemedy } from "../../domain/remedy.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { NodeId, SetName } from "../../domain/ids.ts";
import type { Ledger } from "../../domain/ledger.ts";
import { OBSERVING_ONLY, observedArraysText, observedBy } from "../../domain/mode.ts";
import type { DemandOutcome, Plan, PlanLoad, Proposal } from "../../domain/plan.ts";
import { modeShown } from "../../domain/plan.ts";
import { renderReason } from "../../domain/reason-text.ts";
import { optionsText, renderRefusal } from "../../domain/refusal.ts";
import type { Reason } from "../../domain/reason.ts";
import { someOf } from "../../domain/text.ts";
import { showText } from "../../domain/shown.ts";

/** What a plan did with a demand, and why. */
export interface DemandExplained {
  readonly kind: "demand";
  readonly set: SetName;
  readonly id: string;
  readonly of: DemandOutcome["kind"];
  readonly unit: DemandOutcome["unit"];
  readonly asked: number;
  readonly placed: number;
  /** Those of `placed` that wait for nodes. */
  readonly pending: number;
  /** Its position in the order of service, from 1 on. */
  readonly rank: number;
  /** The number of all demands. */
  readonly ranks: number;
  /** Where it is placed: the first 200 places. */
  readonly places: readonly DemandPlace[];
  /** Number of nodes of all other places. */
  readonly moreNodes: number;
  /** The plan did not keep the load of every node, so there may be more places. */
  readonly incomplete: boolean;
  readonly reasons: readonly Reason[];
  readonly reasonTexts: readonly string[];
  readonly moreReasons: number;
  readonly binding: Remedy | undefined;
  /** What demands of higher rank lack of the same limits. */
  readonly ahead: readonly Ahead[];
  /** Other sets that have a demand of this name. */
  readonly alsoIn: readonly SetName[];
  /** All of this in sentences, a line each. */
  readonly text: string;
}

/** An existing node, or a number of equal nodes. */
export interface DemandPlace {
  readonly origin: PlanLoad["origin"];
  readonly bucket: BucketKey | undefined;
  readonly nodeId: NodeId | undefined;
  readonly name: string | undefined;
  readonly nodes: number;
  /** Slots of the job on each node. Undefined: the demand is a target. */
  readonly slots: number | undefined;
  /** The slots run there already. */
  readonly bound: boolean;
}

/** What demands of higher rank lack of one limit. */
export interface Ahead {
  /** The sum of what they lack. */
  readonly raise: Raise;
  /** The number of these demands. */
  readonly demands: number;
}

/** Maximum number of names in one sentence. */
const NAMED = 10;

/** An explained demand in sentences, a line each. */
export function demandText(told: Omit<DemandExplained, "text">, plan: Plan, ledger: Ledger): string {
  return [...demandLines(told, plan), ...observedLines(told, plan, ledger)].map(showText).join("\n");
}

function demandLines(told: Omit<DemandExplained, "text">, plan: Plan): readonly string[] {
  const { withheld } = plan;
  const { mode } = modeShown(plan);
  const { set, id, of, unit, asked, placed, pending, rank, ranks } = told;
  const missing = asked - placed;
  // If only some arrays are observed, the demand may wait for nodes that are really created.
  const held = mode === "observe" ? withheld : undefined;
  const lines = [
    `${of} ${set}/${id} asks for ${count(asked, unit)}; rank ${rank} of ${ranks}`,
    `${placed} of ${asked} ${isBare(held) ? "placed" : "would be placed"}${pending === 0 ? "" : `, ${pending} of them ${waitsFor(held)}`}`,
    ...placeLines(told, withheld),
    ...(withheld === undefined || pending === 0 ? [] : creationLines(withheld)),
  ];
  if (missing > 0) lines.push(`${count(missing, unit)} not placed:`);
  lines.push(...told.reasonTexts.map((reason) => `- ${reason}`));
  if (told.moreReasons > 0) lines.push(`- and ${told.moreReasons} more reasons`);
  if (told.binding !== undefined) lines.push(remedyLine(told.binding, told.reasons));
  lines.push(...told.ahead.map(aheadLine));
  if (told.alsoIn.length > 0) lines.push(`there is one of this name in ${told.alsoIn.join(", ")}, too`);
  return lines;
}

/** A remedy that only repeats one of the reasons says that no limit is to blame. */
export function remedyLine(remedy: Remedy, reasons: readonly Reason[]): string {
  if (remedy.kind !== "no-raise") return renderRemedy(remedy);
  const { reason } = remedy;
  const repeats = reasons.some((one) => renderReason(one).includes(withoutPlace(reason)));
  return repeats ? "no raise of a limit helps: change what it asks for" : renderRemedy(remedy);
}

/** The part of a reason that is also in one that stands for several buckets. */
function withoutPlace(reason: Reason): string {
  if (reason.code !== "requirement") return renderReason(reason);
  const { refusal } = reason;
  return refusal.code === "invalid-option" ? `, asked is ${optionsText(refusal)}` : renderRefusal(refusal);
}

/** The mode of the demand's arrays, and what the virtual fleet did. A demand without a place names all observed arrays. */
function observedLines(
  { places }: Pick<DemandExplained, "places">,
  plan: Plan,
  ledger: Ledger,
): readonly string[] {
  const shown = modeShown(plan);
  const arrayOf = ({ bucket, nodeId }: DemandPlace) =>
    bucket?.array ?? (nodeId === undefined ? undefined : ledger.get(nodeId)?.array) ?? [];
  const arraysOf = new Set(places.flatMap(arrayOf));
  const arrays = arraysOf.size === 0 ? (shown.observed ?? []) : observedBy(shown, [...arraysOf]);
  if (arrays.length > 0) return [observedArraysText(arrays), ...virtualLines(plan)];
  return shown.mode === "observe" && arraysOf.size === 0 ? [OBSERVING_ONLY, ...virtualLines(plan)] : [];
}

/** Everything that the plan changed in the virtual fleet. Which part is for this demand is not stored. */
function virtualLines({ virtual }: Plan): readonly string[] {
  if (virtual === undefined) return [];
  const { creates, starts, terminates } = virtual;
  const made = creates.map(({ bucket, count: nodes }) => `created ${nodes} x ${bucketText(bucket)}`);
  const all = [
    ...(made.length === 0 ? [] : [someOf(made, NAMED)]),
    ...(starts.length === 0 ? [] : [`started ${count(starts.length, "nodes")}`]),
    ...(terminates.length === 0 ? [] : [`stopped ${count(terminates.length, "nodes")}`]),
  ];
  return [
    `in the virtual fleet (only in the record) this plan ${all.length === 0 ? "changed nothing" : all.join(", ")}`,
  ];
}

/** "1 node", "3 nodes". */
const count = (amount: number, unit: DemandOutcome["unit"]): string =>
  `${amount} ${amount === 1 ? unit.slice(0, -1) : unit}`;

/** True if the plan withholds no new or started nodes. */
function isBare(withheld: Proposal | undefined): boolean {
  return withheld === undefined || (withheld.creates.length === 0 && withheld.starts.length === 0);
}

function waitsFor(withheld: Proposal | undefined): string {
  return isBare(withheld) ? "waiting for nodes to come up" : "on nodes that are not up: the mode is observe";
}

/** All new and started nodes that the plan withholds. Which part is for this demand is not stored. */
function creationLines({ creates, starts }: Proposal): readonly string[] {
  const made = creates.map(({ bucket, count: nodes }) => `create ${nodes} x ${bucketText(bucket)}`);
  const all = starts.length === 0 ? made : [...made, `start ${count(starts.length, "nodes")}`];
  return all.length === 0 ? [] : [`the plan would ${all.join(", ")}, but the mode is observe`];
}

/** The groups of places, in the order in which they are listed. */
const ORIGINS = [
  { origin: "existing", observed: false, head: "on" },
  { origin: "in-flight", observed: false, head: "in flight:" },
  { origin: "planned", observed: false, head: "to be created:" },
  { origin: "planned", observed: true, head: "would be created, but the mode is observe:" },
] as const;

function placeLines(
  { places, moreNodes, incomplete }: Omit<DemandExplained, "text">,
  withheld: Proposal | undefined,
): readonly string[] {
  const lines: string[] = [];
  const heldIn = new Set(withheld?.creates.map(({ bucket }) => bucket.array));
  const isHeld = ({ origin, bucket }: DemandPlace): boolean =>
    origin === "planned" && bucket !== undefined && heldIn.has(bucket.array);
  for (const { origin, observed, head } of ORIGINS) {
    const here = places.filter((place) => place.origin === origin && isHeld(place) === observed);
    if (here.length === 0) continue;
    const named = here.slice(0, NAMED).map(placeText);
    const unnamed = here.slice(NAMED).reduce((sum, { nodes }) => sum + nodes, 0);
    const more = unnamed === 0 ? "" : ` and ${unnamed} more nodes`;
    lines.push(`${head} ${named.join(", ")}${more}`);
  }
  if (moreNodes > 0) lines.push(`and on ${moreNodes} more nodes`);
  if (incomplete) lines.push("the plan did not keep the load of every node: there may be more");
  return lines;
}

function placeText({ origin, name, bucket, nodes, slots, bound }: DemandPlace): string {
  const where = bucket === undefined ? "" : bucketText(bucket);
  const what = origin === "existing" ? (name ?? where) : `${count(nodes, "nodes")} of ${where}`;
  if (slots === undefined) return what;
  const each = nodes > 1 ? " each" : "";
  return `${what} (${count(slots, "slots")}${each}${bound ? ", running" : ""})`;
}

function aheadLine({ raise, demands }: Ahead): string {
  const who = demands === 1 ? "1 demand of higher rank lacks" : `${demands} demands of higher rank lack`;
  return raise.of === "pool"
    ? `${who} ${raise.more} more of pool ${raise.pool} themselves`
    : `${who} ${raise.more} more ${raise.limit.unit} there themselves, and are served first`;
}

/** A job on a node, or on a host that only a scheduler knows. */
interface JobOnNode {
  readonly set: SetName;
  readonly id: string;
  readonly slots: number;
  /** It runs there already. */
  readonly bound: boolean;
}

/** The jobs on a node: the first ones, and the number of the others. */
export interface LoadOfNode {
  readonly load: readonly JobOnNode[];
  /** Number of jobs on it that are not listed. */
  readonly moreJobs: number;
}

/** Maximum number of jobs of one node that are listed. */
export const MOST_JOBS = 200;

/** The jobs that the plan places on a node, in the order of rank. */
export function jobsOn(plan: Plan, node: NodeId): readonly JobOnNode[] {
  const load = plan.loads?.loads.find(({ nodeId }) => nodeId === node);
  return (load?.jobs ?? []).flatMap(([first, last, slots, bound]) =>
    plan.demands.slice(first, last + 1).map(({ set, id }) => ({ set, id, slots, bound: bound === 1 })),
  );
}

/** The first few jobs on a node, as a text. */
export function loadText({ load, moreJobs }: LoadOfNode): string {
  const named = load
    .slice(0, NAMED)
    .map(
      ({ set, id, slots, bound }) => `${count(slots, "slots")} of ${set}/${id}${bound ? " (running)" : ""}`,
    );
  const more = Math.max(0, load.length - NAMED) + moreJobs;
  return more === 0 ? named.join(", ") : `${named.join(", ")} and ${more} more jobs`;
}
