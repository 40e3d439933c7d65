import type { Bin } from "../bins/bin-columns.ts";
import type { Bins } from "../bins/bins.ts";
import type { Entry } from "../bins/entry.ts";
import type { Ask } from "../bins/job-ask.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import { createNodes, isDeallocated, splitBin, startIfDeallocated } from "../draft/new-nodes.ts";
import { NO_PRICE } from "../draft/offered.ts";
import { openOffers } from "../place/offers.ts";
import type { Progress } from "../place/pack.ts";
import type { BucketOffer } from "../../domain/world.ts";
import { takeNodes } from "./as-before.ts";
import type { Attempt } from "./better.ts";
import type { Mix, MixContent, MixItem, MixNodes, MixSize, MixValue } from "./mix-model.ts";
import { searchMix } from "./mix-search.ts";
import type { Problem } from "./problem.ts";

/** Where a mix of sizes places jobs, for {@link putMix}. */
export interface MixPlan {
  /** It is placed before this position of the order in which the demands are tried. */
  readonly at: number;
  readonly mix: Mix;
  /** By item. */
  readonly asks: readonly (readonly Ask[])[];
  /** By root of existing nodes. */
  readonly bins: readonly (readonly Bin[])[];
  readonly sizes: readonly Source[];
}

/** Where the nodes of a size come from: an offer of new ones, or deallocated nodes that can be started. */
type Source = { readonly offer: BucketOffer } | { readonly deallocated: readonly Bin[] };

/** Maximum number of items, and of different nodes and resources: with more, the search would end long before it is through. */
const MOST_ITEMS = 32;
const MOST_NODES = 48;
const MOST_RESOURCES = 16;

/** The most that one search costs, in steps. */
const MIX_STEPS = 100_000;

/** What a unit on nodes that are worse by the job's own lists costs, for each list: more than any price. */
const WORSE = 1e6;

/** Whether a mix may place the demand: a job whose place depends only on amounts, marks and limits. */
export function isMixed(entry: Entry, { caps }: Draft, { bindings }: Problem): entry is Ask {
  if (entry.kind !== "job" || entry.together === "one-group" || bindings.homes.has(entry)) return false;
  const { requirements, jobClass, slotsPerUnit } = entry;
  if (jobClass.takes === undefined || jobClass.takes.nothing || slotsPerUnit === 0) return false;
  if (entry.units <= 0) return false;
  return requirements.pools.size === 0 && !requirements.grouped && !caps.concern(holderOf(entry));
}

/**
 * Looks for a better plan for the items than the best one. `begun` has placed what comes before them. `isLeast`: none that places as much of
 * them costs less.
 */
export function findMix(
  problem: Problem,
  begun: Attempt,
  best: Attempt,
  items: readonly Item[],
): { readonly plan?: Omit<MixPlan, "at">; readonly isLeast: boolean } {
  const { draft } = begun;
  if (draft.bins.width > MOST_RESOURCES) return NOT_SEARCHED;
  const isPriced = problem.policy.among === "cheapest";
  const equal = equalBins(draft, items);
  if (equal.length > MOST_NODES) return NOT_SEARCHED;
  const nodes = nodesOf(draft, equal, items);
  const isOff = (_: MixNodes, root: number): boolean => equal[root]?.isDeallocated === true;
  const sizes = [
    ...sizesOf(draft, problem, items, isPriced),
    ...nodes.filter(isOff).map((one) => sizeOfStart(draft, equal[one.root]?.bins ?? [], one, isPriced)),
  ];
  const limits = new Limits(draft);
  const model = {
    items: items.map(({ item }) => item),
    nodes: nodes.filter((one, root) => !isOff(one, root)),
    sizes: sizes.map(({ size }, root) => ({
      ...size,
      empty: { ...size.empty, root },
      charges: limits.of(size.charges),
    })),
    left: limits.left,
  };
  const known = knownValue(problem, begun, best, items, sizes);
  if (known.cost <= 0 && known.units.every((units, i) => units >= (items[i]?.item.units ?? 0)))
    return NOT_SEARCHED;
  const { mix, isComplete } = searchMix(model, known, draft.bins.budget, MIX_STEPS, isPriced);
  // What a job's own lists rank lower may cost less.
  const isLeast =
    isComplete && isPriced && sizes.every(({ size }) => size.empty.takes.every((worse = 0) => worse === 0));
  if (mix === undefined) return { isLeast };
  const plan = {
    mix,
    asks: items.map(({ asks: own }) => own),
    bins: equal.map(({ bins }) => bins),
    sizes: sizes.map(({ from }) => from),
  };
  return { plan, isLeast };
}

const NOT_SEARCHED = { isLeast: false };

/** Equal jobs that follow each other, or one gang, for the search and for the plan. */
export interface Item {
  readonly item: MixItem;
  readonly asks: readonly Ask[];
}

/** The first jobs by rank that a mix may place. None if all demand is met and there are too many to look at all of them. */
export function mixItems(entries: readonly Entry[], best: Attempt, problem: Problem): readonly Item[] {
  const groups: Ask[][] = [];
  for (const entry of entries) {
    if (!isMixed(entry, best.draft, problem)) continue;
    const group = groups.at(-1);
    if (group?.[0] !== undefined && isAlike(group[0], entry)) group.push(entry);
    else if (groups.length === MOST_ITEMS && best.isMet) return [];
    else if (groups.length === MOST_ITEMS) break;
    else groups.push([entry]);
  }
  return groups.map((asks) => ({ item: itemOf(asks), asks }));
}

/** Whether slots of the two jobs may take each other's places. */
function isAlike(one: Ask, other: Ask): boolean {
  if (one.isGang || other.isGang || one.requirements.alone !== undefined) return false;
  return one.jobClass === other.jobClass && one.set === other.set;
}

function itemOf(asks: readonly Ask[]): MixItem {
  const [ask] = asks;
  const takes = ask?.jobClass.takes;
  if (ask === undefined || takes === undefined) throw new RangeError("no job");
  const { requirements, isGang, slotsPerUnit, together } = ask;
  const item = {
    units: asks.reduce((units, one) => units + one.units, 0),
    resource: takes.resource,
    amount: takes.amount.map((amount) => amount * slotsPerUnit),
    most: isGang || requirements.alone === "job" ? 1 : Number.POSITIVE_INFINITY,
    alone: requirements.alone !== undefined,
  };
  if (together === "anywhere") return item;
  return { ...item, whole: together === "spread" ? "anywhere" : "one-bucket" };
}

/** Equal bins with room for an item. */
interface EqualBins {
  readonly bins: Bin[];
  readonly takes: readonly number[];
  readonly isDeallocated: boolean;
}

/** The bins on which an item fits now, equal ones together, in the order of use. */
function equalBins(draft: Draft, items: readonly Item[]): readonly EqualBins[] {
  const { bins } = draft;
  const takers = new Map<Bin, number[]>();
  items.forEach(({ asks: [ask] }, i) => {
    if (ask === undefined) return;
    const bound = ask.isGang ? draft.bound.get(ask.demand) : undefined;
    for (const bin of bins.each(ask)) {
      if (bound?.has(bin) === true) continue;
      const list = takers.get(bin);
      if (list === undefined) takers.set(bin, [i]);
      else list.push(i);
    }
  });
  const equal = new Map<string, EqualBins>();
  for (const bin of [...takers.keys()].sort((a, b) => bins.compareUse(a, b))) {
    const takes = takers.get(bin) ?? [];
    const isOff = isDeallocated(bins, bin) && !bins.toStart.has(bin);
    const key = `${bins.kindOf(bin).index} ${isOff} ${bins.state[bin]} ${freeOn(bins, bin).join(",")} ${takes.join(",")}`;
    const known = equal.get(key);
    if (known === undefined) equal.set(key, { bins: [bin], takes, isDeallocated: isOff });
    else known.bins.push(bin);
  }
  return [...equal.values()];
}

const freeOn = ({ free, width }: Bins, bin: Bin): Float64Array =>
  free.subarray(bin * width, (bin + 1) * width);

/** Nodes for the model. They are of one kind if they are of one bucket and the same items may be there. */
function nodesOf({ bins }: Draft, equal: readonly EqualBins[], items: readonly Item[]): readonly MixNodes[] {
  const kinds = new Map<string, number>();
  return equal.map(({ bins: own, takes }, root) => {
    const [bin = 0] = own;
    const site = bins.placeOfBin(bin).id;
    const text = `${site} ${takes.join(",")}`;
    const kind = kinds.get(text) ?? -1 - kinds.size;
    kinds.set(text, kind);
    return {
      site,
      kind,
      free: [...freeOn(bins, bin)],
      count: own.reduce((count, one) => count + (bins.count[one] ?? 0), 0),
      isEmpty: bins.isEmpty(bin),
      isClosed: false,
      takes: items.map((_, i) => (takes.includes(i) ? 0 : undefined)),
      root,
      isNew: false,
    };
  });
}

interface Size {
  readonly size: MixSize;
  readonly from: Source;
}

/** The offers that are open to an item and have room. */
function sizesOf(draft: Draft, { scopes }: Problem, items: readonly Item[], isPriced: boolean): Size[] {
  const takes = new Map<BucketOffer, (number | undefined)[]>();
  items.forEach(({ asks: [ask] }, i) => {
    if (ask === undefined) return;
    openOffers(draft, ask, scopes.of(ask), false).byScore.forEach(({ all }, worse) => {
      for (const { offer } of all) {
        const list = takes.get(offer) ?? items.map(() => undefined);
        list[i] = worse * WORSE;
        takes.set(offer, list);
      }
    });
  });
  const most = items.reduce((units, { item }) => units + item.units, 0);
  return draft.world.buckets.flatMap((offer) => {
    const own = takes.get(offer);
    const room = own === undefined ? 0 : draft.capacity.room(offer, offer.pinnedGroup);
    if (own === undefined || room < 1) return [];
    const { place, capacity, index } = draft.bins.ground.kindOfOffer(offer);
    const empty: MixNodes = {
      site: place.id,
      kind: index,
      free: [...capacity],
      count: 0,
      isEmpty: true,
      isClosed: false,
      takes: own,
      root: 0,
      isNew: true,
    };
    const cost = isPriced ? (offer.price ?? NO_PRICE) : 1;
    return [{ size: { empty, cost, charges: offer.charges, most: Math.min(room, most) }, from: { offer } }];
  });
}

/** Deallocated nodes count as new ones: starting them takes from the limits. */
function sizeOfStart({ bins, world }: Draft, own: readonly Bin[], nodes: MixNodes, isPriced: boolean): Size {
  const [bin = 0] = own;
  const offer = world.buckets[bins.placeOfBin(bin).offer];
  return {
    size: {
      empty: { ...nodes, isNew: true },
      cost: isPriced ? (offer?.price ?? 0) : 1,
      charges: bins.node(bin)?.charges ?? offer?.charges ?? [],
      most: offer === undefined ? 0 : nodes.count,
    },
    from: { deallocated: own },
  };
}

/** The limits that the sizes of a mix share, numbered from 0. */
class Limits {
  readonly left: number[] = [];
  readonly #numbers = new Map<number, number>();
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  of(charges: MixSize["charges"]): MixSize["charges"] {
    return charges.map(({ limit, amount }) => {
      let number = this.#numbers.get(limit);
      if (number === undefined) {
        number = this.left.length;
        this.#numbers.set(limit, number);
        this.left.push(this.#draft.capacity.left(limit));
      }
      return { limit: number, amount };
    });
  }
}

/** What the best plan gives the items beyond what `begun` has placed. */
function knownValue(
  problem: Problem,
  begun: Attempt,
  best: Attempt,
  items: readonly Item[],
  sizes: readonly Size[],
): MixValue {
  const made = sizes.map(({ from }) => nodesFrom(best.draft, from) - nodesFrom(begun.draft, from));
  let cost = sizes.reduce((sum, { size }, s) => sum + size.cost * (made[s] ?? 0), 0);
  const units = items.map(({ asks }) => {
    let placed = 0;
    for (const ask of asks) {
      const outcome = best.outcomes[ask.rank];
      if (outcome !== undefined) placed += ask.units - (outcome.asked - outcome.placed) / ask.slotsPerUnit;
      const chosen = best.draft.bins.choices.get(ask.rank);
      if (chosen === undefined) continue;
      const { byScore } = openOffers(best.draft, ask, problem.scopes.of(ask), false);
      for (const [score, slots] of chosen) {
        const worse = byScore.findIndex(({ all: [first] }) => first?.score === score);
        cost += (Math.max(0, worse) * WORSE * slots) / ask.slotsPerUnit;
      }
    }
    return placed;
  });
  return { units, cost, made };
}

function nodesFrom({ bins, world }: Draft, from: Source): number {
  let nodes = 0;
  if ("deallocated" in from) {
    for (const bin of from.deallocated) if (bins.toStart.has(bin)) nodes += bins.count[bin] ?? 0;
  } else
    for (const bin of bins.planned)
      if (world.buckets[bins.placeOfBin(bin).offer] === from.offer) nodes += bins.count[bin] ?? 0;
  return nodes;
}

/** Places the jobs of a mix where it has them. */
export function putMix(draft: Draft, { mix, asks, bins, sizes }: MixPlan): ReadonlyMap<Entry, Progress> {
  const put = new Put(draft, asks);
  const queues = bins.map((own) => [...own]);
  const deallocated = sizes.map((from) => ("deallocated" in from ? [...from.deallocated] : []));
  for (const { root, isNew, count, content } of mix.nodes) {
    const parts = partsOf(content);
    const source = sizes[root];
    if (!isNew) for (const bin of takeNodes(draft, queues[root] ?? [], count)) put.on(bin, parts);
    else if (source !== undefined && "offer" in source) {
      const { offer } = source;
      put.on(createNodes(draft, offer, offer.pinnedGroup, count, { kind: "array" }), parts);
    } else
      for (const bin of takeNodes(draft, deallocated[root] ?? [], count))
        if (startIfDeallocated(draft, bin)) put.on(bin, parts);
  }
  return put.progress;
}

/** What is on each of some nodes, oldest first. */
function partsOf(content: MixContent | undefined): readonly MixContent[] {
  const parts: MixContent[] = [];
  for (let one = content; one !== undefined; one = one.before) parts.push(one);
  return parts.toReversed();
}

/** Puts units of items on bins, those of the first job of an item first. */
class Put {
  readonly progress = new Map<Entry, Progress>();
  readonly #draft: Draft;
  readonly #asks: readonly Ask[][];

  constructor(draft: Draft, asks: readonly (readonly Ask[])[]) {
    this.#draft = draft;
    this.#asks = asks.map((own) => [...own]);
  }

  /** Puts the parts on each node of the bin. */
  on(bin: Bin, parts: readonly MixContent[]): void {
    const [part, ...others] = parts;
    if (part === undefined) return;
    const queue = this.#asks[part.item] ?? [];
    const later: (readonly [Bin, number])[] = [];
    let left = part.units;
    while (left > 0) {
      const [ask] = queue;
      if (ask === undefined) break;
      const progress = this.progress.get(ask) ?? { left: ask.units, pending: 0 };
      this.progress.set(ask, progress);
      const units = Math.min(left, progress.left);
      // What the job does not fill of these nodes is for the jobs after it.
      const rest = splitBin(this.#draft, bin, Math.floor(progress.left / units));
      if (rest !== undefined) later.push([rest, left]);
      this.#occupy(bin, ask, units, progress);
      left -= units;
      if (progress.left === 0) queue.shift();
    }
    this.on(bin, others);
    for (const [rest, units] of later) this.on(rest, [{ ...part, units }, ...others]);
  }

  #occupy(bin: Bin, ask: Ask, units: number, progress: Progress): void {
    const { bins, caps } = this.#draft;
    bins.occupy(bin, ask, units * ask.slotsPerUnit);
    caps.hold(holderOf(ask), bins, bin);
    const placed = units * (bins.count[bin] ?? 0);
    progress.left -= placed;
    if (!bins.isReady(bin)) progress.pending += placed;
  }
}
