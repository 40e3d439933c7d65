import { TOLERANCE } from "../../domain/resources.ts";

/** What a plan has to choose from, in plain numbers: demands in the order of rank, existing nodes, and sizes of new ones. */
export interface MixModel {
  readonly items: readonly MixItem[];
  readonly nodes: readonly MixNodes[];
  readonly sizes: readonly MixSize[];
  /** What is left of each limit. */
  readonly left: readonly number[];
}

/** Equal jobs that follow each other in the order of rank, or one gang. */
export interface MixItem {
  readonly units: number;
  /** What a unit takes of its node. */
  readonly resource: readonly number[];
  readonly amount: readonly number[];
  /** Maximum number of units on one node. */
  readonly most: number;
  /** The units need a node without any other job. */
  readonly alone: boolean;
  /** All units are placed or none: in one bucket, or anywhere. */
  readonly whole?: "one-bucket" | "anywhere";
}

/** No item. */
export const NOTHING: MixItem = { units: 0, resource: [], amount: [], most: 0, alone: false };

/** Equal nodes with equal jobs on them. */
export interface MixNodes {
  readonly site: string;
  /** Nodes of one kind with the same free amounts serve later items equally. */
  readonly kind: number;
  readonly free: readonly number[];
  readonly count: number;
  readonly isEmpty: boolean;
  readonly isClosed: boolean;
  /** By item: how good these nodes are for it; 0 is best. Absent: it may not be there. */
  readonly takes: readonly (number | undefined)[];
  /** Existing nodes: their position in the model. New ones: that of their size. */
  readonly root: number;
  readonly isNew: boolean;
  readonly content?: MixContent;
}

/** Units on each node, newest first. */
export interface MixContent {
  readonly item: number;
  readonly units: number;
  readonly before: MixContent | undefined;
}

/** New nodes of an offer, or deallocated nodes that can be started. */
export interface MixSize {
  readonly empty: MixNodes;
  readonly cost: number;
  readonly charges: readonly { readonly limit: number; readonly amount: number }[];
  /** Maximum number of nodes, whatever the limits. */
  readonly most: number;
}

/** How well a plan serves the model. */
export interface MixValue {
  /** By item. */
  readonly units: readonly number[];
  readonly cost: number;
  /** New nodes by size. */
  readonly made: readonly number[];
}

/** A plan for the items. */
export interface Mix extends MixValue {
  readonly nodes: readonly MixNodes[];
}

/** A plan for the first items. */
export interface MixState {
  readonly nodes: readonly MixNodes[];
  readonly left: readonly number[];
  readonly made: readonly number[];
  readonly cost: number;
}

/** How many units of an item one of these nodes takes. */
export function unitsOn(item: MixItem, i: number, { isClosed, isEmpty, takes, free }: MixNodes): number {
  if (isClosed || takes[i] === undefined || (item.alone && !isEmpty)) return 0;
  let units = Math.min(item.most, item.units);
  for (let r = 0; r < item.resource.length; r += 1) {
    const amount = item.amount[r] ?? 0;
    const has = free[item.resource[r] ?? 0] ?? 0;
    if (amount > 0) units = Math.min(units, Math.floor(has / amount + TOLERANCE));
    else if (has < 0) return 0;
  }
  return Math.max(0, units);
}

/** Number of new nodes that the limits allow. */
export function roomFor({ charges, most }: MixSize, left: readonly number[], made: number): number {
  let room = most - made;
  for (const { limit, amount } of charges)
    if (amount > 0) room = Math.min(room, Math.floor((left[limit] ?? 0) / amount + TOLERANCE));
  return Math.max(0, room);
}

/** The most units of item `i` that new nodes can take, counted one limit at a time. `site`: only there. */
export function mostOnNew(
  { items, sizes }: MixModel,
  i: number,
  left: readonly number[],
  made: readonly number[],
  from = 0,
  site?: string,
): number {
  const item = items[i];
  if (item === undefined) return 0;
  let all = 0;
  let charged: Map<number, { most: number; rate: number }> | undefined;
  for (let s = from; s < sizes.length; s += 1) {
    const size = sizes[s];
    if (size === undefined || (site !== undefined && size.empty.site !== site)) continue;
    const each = unitsOn(item, i, size.empty);
    if (each === 0) continue;
    const units = each * roomFor(size, left, made[s] ?? 0);
    if (units === 0) continue;
    all += units;
    charged ??= new Map();
    for (const { limit, amount } of size.charges) {
      if (amount <= 0) continue;
      const one = charged.get(limit) ?? { most: 0, rate: 0 };
      one.most += units;
      one.rate = Math.max(one.rate, each / amount);
      charged.set(limit, one);
    }
  }
  let most = all;
  for (const [limit, { most: own, rate }] of charged ?? [])
    most = Math.min(most, all - own + Math.min(own, Math.floor((left[limit] ?? 0) * rate + TOLERANCE)));
  return most;
}

/** Room for an item counts up to this many times what it asks for. */
const AMPLE = 4;

/** How often a state has room for item `i`, if no other item comes before it. */
export function roomOf(model: MixModel, i: number, { nodes, left, made }: MixState): number {
  const item = model.items[i];
  if (item === undefined) return 0;
  let units = 0;
  for (const one of nodes) units += one.count * unitsOn(item, i, one);
  if (units < AMPLE * item.units) units += mostOnNew(model, i, left, made);
  return Math.min(AMPLE, units / item.units);
}

/** The most units of an item for which there is room so often. */
export function mostUnits({ units, whole }: MixItem, room: number): number {
  if (room >= 1) return units;
  return whole === undefined ? Math.round(room * units) : 0;
}

/** What new nodes for items from `from` on cost at least: the amounts beyond all that is free, one resource at a time, at the lowest price. */
export function floorOf(
  { items, sizes }: MixModel,
  from: number,
  units: readonly number[],
  { nodes }: MixState,
): number {
  const asked: number[] = [];
  for (let i = from; i < items.length; i += 1) {
    const item = items[i];
    item?.resource.forEach((r, at) => {
      asked[r] = (asked[r] ?? 0) + (item.amount[at] ?? 0) * (units[i - from] ?? 0);
    });
  }
  let floor = 0;
  asked.forEach((amount, r) => {
    let over = amount;
    for (const { isClosed, free, count } of nodes) if (!isClosed) over -= count * Math.max(0, free[r] ?? 0);
    if (over <= 0) return;
    let rate = Number.POSITIVE_INFINITY;
    for (const { cost, empty } of sizes) {
      const has = empty.free[r] ?? 0;
      if (has > 0) rate = Math.min(rate, cost / has);
    }
    if (Number.isFinite(rate)) floor = Math.max(floor, over * rate);
  });
  return floor;
}
