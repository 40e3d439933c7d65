import type { Remedy, Raise } from "../domain/remedy.ts";
import { renderRemedy } from "../domain/remedy.ts";
import { reasonsInOrder } from "../domain/reasons-in-order.ts";
import type { BucketKey } from "../domain/bucket.ts";
import { bucketText } from "../domain/bucket.ts";
import { canonicalText } from "../domain/canonical.ts";
import type { NodeId, SetName } from "../domain/ids.ts";
import { nearestFew } from "../domain/nearest.ts";
import { OBSERVING_ONLY, observedArraysText, observedBy } from "../domain/mode.ts";
import type { DemandOutcome, Plan, PlanLoad, Proposal } from "../domain/plan.ts";
import { modeShown } from "../domain/plan.ts";
import type { Reason } from "../domain/reason.ts";
import { renderReason } from "../domain/reason-text.ts";
import type { Ledger } from "../domain/ledger.ts";
import { someOf } from "../domain/some-of.ts";
import { schedulerHostname } from "../domain/scheduler-host.ts";

/** A name that the plan does not know, with those that it may have been meant to be. */
export interface Unknown {
  readonly kind: "unknown";
  readonly name: string;
  readonly nearest: readonly string[];
}

/** What became of a demand, and why; the numbers are those of the plan. */
export interface DemandExplained {
  readonly kind: "demand";
  readonly set: SetName;
  readonly id: string;
  readonly of: DemandOutcome["kind"];
  readonly unit: DemandOutcome["unit"];
  readonly asked: number;
  readonly placed: number;
  readonly pending: number;
  /** 1 is the first to be served, of so many. */
  readonly rank: number;
  readonly ranks: number;
  /** The first {@link MOST_PLACES} of them; how many nodes more there are. */
  readonly places: readonly DemandPlace[];
  readonly moreNodes: number;
  /** The plan did not keep everything that is on its nodes: there may be more. */
  readonly incomplete: boolean;
  readonly reasons: readonly Reason[];
  readonly moreReasons: number;
  readonly binding?: Remedy;
  /** What demands of higher rank lack of the same limits. */
  readonly ahead: readonly Ahead[];
  /** Other sets that have a demand of this name. */
  readonly alsoIn: readonly SetName[];
  /** What the job's driver noted of it; nothing was decided by it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** All of it in sentences, a line each. */
  readonly text: string;
}

/** An existing node by its names, or so many nodes alike. Slots are those of this job on each; a target has none. */
export interface DemandPlace {
  readonly origin: PlanLoad["origin"];
  readonly bucket?: BucketKey;
  readonly nodeId?: NodeId;
  readonly name?: string;
  readonly nodes: number;
  readonly slots?: number;
  /** They run there already. */
  readonly bound: boolean;
}

export interface Ahead {
  readonly raise: Raise;
  readonly demands: number;
}

const MOST_PLACES = 200;
/** The most names in one sentence. */
export const NAMED = 10;
export const NEAREST = 5;

/**
 * What the plan did with a job, or with another demand, by its id; `set` tells which, where several sets have one, else the one of the
 * highest rank is taken. Names of nodes come from the ledger that is stored beside the plan.
 */
export function explainJob(
  plan: Plan,
  ledger: Ledger,
  job: string,
  set?: SetName,
): DemandExplained | Unknown {
  const found = [...plan.demands.entries()].filter(([, { id }]) => id === job);
  const [at, outcome] = found.find(([, one]) => set === undefined || one.set === set) ?? [];
  if (at === undefined || outcome === undefined) return unknownJob(plan, job);
  const { places, moreNodes } = placesOf(plan, ledger, at, outcome);
  const { moreReasons = 0, binding } = outcome;
  const told = {
    kind: "demand",
    set: outcome.set,
    id: outcome.id,
    of: outcome.kind,
    unit: outcome.unit,
    asked: outcome.asked,
    placed: outcome.placed,
    pending: outcome.pending,
    rank: (plan.kept?.positions[at] ?? at) + 1,
    ranks: plan.kept?.of ?? plan.demands.length,
    places,
    moreNodes,
    incomplete: (plan.loads?.cut ?? 0) > 0,
    reasons: reasonsInOrder(outcome),
    moreReasons,
    ...(binding === undefined ? {} : { binding }),
    ahead: aheadOf(plan, at, binding),
    alsoIn: found.map(([, one]) => one.set).filter((one) => one !== outcome.set),
  } as const;
  return { ...told, text: [...demandLines(told, plan), ...observedLines(told, plan, ledger)].join("\n") };
}

function unknownJob(plan: Plan, job: string): Unknown {
  const known = new Set(plan.demands.map(({ id }) => id));
  return { kind: "unknown", name: job, nearest: nearestFew(job, known, NEAREST) };
}

type Places = Pick<DemandExplained, "places" | "moreNodes">;

function placesOf(plan: Plan, ledger: Ledger, at: number, outcome: DemandOutcome): Places {
  const all = outcome.kind === "job" ? placesOfJob(plan, ledger, at) : nodesNeeded(plan, ledger, outcome);
  const rest = all.slice(MOST_PLACES);
  return { places: all.slice(0, MOST_PLACES), moreNodes: rest.reduce((sum, { nodes }) => sum + nodes, 0) };
}

function placesOfJob(plan: Plan, ledger: Ledger, at: number): readonly DemandPlace[] {
  const places: DemandPlace[] = [];
  for (const load of plan.loads?.loads ?? []) {
    const bucket = plan.loads?.buckets[load.bucket];
    for (const [first, last, slots, bound] of load.jobs) {
      if (at < first || at > last) continue;
      places.push({
        origin: load.origin,
        ...(bucket === undefined ? {} : { bucket }),
        ...(load.nodeId === undefined ? {} : { nodeId: load.nodeId, name: nameOf(ledger, load.nodeId) }),
        nodes: load.count,
        slots,
        bound: bound === 1,
      });
    }
  }
  return places;
}

/** A target has no slots: the nodes that are needed for it, among others, as far as their verdicts name it. */
function nodesNeeded(plan: Plan, ledger: Ledger, { set, id }: DemandOutcome): readonly DemandPlace[] {
  const by = `${set}/${id}`;
  return [...plan.nodes]
    .filter(([, verdict]) => verdict.kind === "needed" && verdict.by.includes(by))
    .map(([node]) => ({
      origin: "existing",
      nodeId: node,
      name: nameOf(ledger, node),
      nodes: 1,
      bound: false,
    }));
}

/** Who knows a node by its hostname says that; else CycleCloud's name; the id where nobody remembers either. */
function nameOf(ledger: Ledger, node: NodeId): string {
  const known = ledger.get(node);
  return known?.hostname ?? known?.name ?? schedulerHostname(node) ?? node;
}

/** What those who come first lack of the limits that this demand lacks: a raise serves them before it serves this one. */
function aheadOf(plan: Plan, at: number, binding: Remedy | undefined): readonly Ahead[] {
  if (binding?.kind !== "raise") return [];
  const sums = new Map(binding.raises.map((raise) => [raiseKey(raise), { raise, more: 0, demands: 0 }]));
  for (const earlier of plan.demands.slice(0, at)) {
    if (earlier.binding?.kind !== "raise") continue;
    for (const raise of earlier.binding.raises) {
      const sum = sums.get(raiseKey(raise));
      if (sum === undefined) continue;
      sum.more += raise.more;
      sum.demands += 1;
    }
  }
  return [...sums.values()]
    .filter(({ demands }) => demands > 0)
    .map(({ raise, more, demands }) => ({ raise: { ...raise, more }, demands }));
}

const raiseKey = (raise: Raise): string =>
  raise.of === "pool" ? `pool/${raise.pool}` : canonicalText(raise.limit);

function demandLines(told: Omit<DemandExplained, "text">, plan: Plan): readonly string[] {
  const { withheld } = plan;
  const { mode } = modeShown(plan);
  const { set, id, of, unit, asked, placed, pending, rank, ranks } = told;
  const missing = asked - placed;
  // Elsewhere nodes may be on their way.
  const held = mode === "observe" ? withheld : undefined;
  const lines = [
    `${of} ${set}/${id} asks for ${count(asked, unit)}; rank ${rank} of ${ranks}`,
    `${placed} of ${asked} ${isBare(held) ? "placed" : "would be placed"}${pending === 0 ? "" : `, ${pending} of them ${waitsFor(held)}`}`,
    ...placeLines(told, withheld),
    ...(withheld === undefined || pending === 0 ? [] : creationLines(withheld)),
  ];
  if (missing > 0) lines.push(`${count(missing, unit)} not placed:`);
  lines.push(...told.reasons.map((reason) => `- ${renderReason(reason)}`));
  if (told.moreReasons > 0) lines.push(`- and ${told.moreReasons} more reasons`);
  if (told.binding !== undefined) lines.push(renderRemedy(told.binding));
  lines.push(...told.ahead.map(aheadLine));
  if (told.alsoIn.length > 0) lines.push(`there is one of this name in ${told.alsoIn.join(", ")}, too`);
  return lines;
}

/** In which mode the plan has the demand's arrays, and what the virtual fleet did. Without a place all observed arrays are named. */
function observedLines({ places }: Places, plan: Plan, ledger: Ledger): readonly string[] {
  const shown = modeShown(plan);
  const arrayOf = ({ bucket, nodeId }: DemandPlace) =>
    bucket?.array ?? (nodeId === undefined ? undefined : ledger.get(nodeId)?.array) ?? [];
  const arraysOf = new Set(places.flatMap(arrayOf));
  const arrays = arraysOf.size === 0 ? (shown.observed ?? []) : observedBy(shown, [...arraysOf]);
  if (arrays.length > 0) return [observedArraysText(arrays), ...virtualLines(plan)];
  return shown.mode === "observe" && arraysOf.size === 0 ? [OBSERVING_ONLY, ...virtualLines(plan)] : [];
}

/** All that the virtual fleet did with the plan: which of it is for this demand is not kept. */
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

export const count = (amount: number, unit: DemandOutcome["unit"]): string =>
  `${amount} ${amount === 1 ? unit.slice(0, -1) : unit}`;

/** Nothing is withheld that a demand could wait for. */
function isBare(withheld: Proposal | undefined): boolean {
  return withheld === undefined || (withheld.creates.length === 0 && withheld.starts.length === 0);
}

function waitsFor(withheld: Proposal | undefined): string {
  return isBare(withheld) ? "waiting for nodes to come up" : "on nodes that are not up: the mode is observe";
}

/** All that the plan withholds: which of it is for this demand is not kept. */
function creationLines({ creates, starts }: Proposal): readonly string[] {
  const made = creates.map(({ bucket, count: nodes }) => `create ${nodes} x ${bucketText(bucket)}`);
  const all = starts.length === 0 ? made : [...made, `start ${count(starts.length, "nodes")}`];
  return all.length === 0 ? [] : [`the plan would ${all.join(", ")}, but the mode is observe`];
}

/** What has a place on new nodes waits for the mode `act`, where the mode of their array is `observe`. */
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
