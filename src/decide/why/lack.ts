import type { AmountUnit } from "../../domain/amount-text.ts";
import { amountText } from "../../domain/amount-text.ts";
import type { Constraint } from "../../domain/constraint.ts";
import type { Reason } from "../../domain/reason.ts";
import { valueText } from "../../domain/refusal.ts";
import { nearest } from "../../domain/nearest.ts";
import type { NodeView } from "../../domain/node-view.ts";
import type { Remedy } from "../../domain/remedy.ts";
import type { Scalar } from "../../domain/resources.ts";
import { amountOf, TOLERANCE } from "../../domain/resources.ts";
import { bytesOf, isSize } from "../../domain/size.ts";
import type { BucketOffer } from "../../domain/world.ts";
import { sum } from "../constraints/judge.ts";
import { parts } from "../constraints/requirements.ts";
import type { Fit, Subject } from "../bins/empty-node-fit.ts";
import type { Ask } from "../bins/job-ask.ts";
import { indexBuckets, scopeOf } from "../bins/scope.ts";
import { closedTo } from "../draft/closed.ts";
import type { Draft } from "../draft/draft.ts";
import { groupOfNew, newNode, refusalReason } from "../draft/refusals.ts";

/*
 * What a job asks of one node and no bucket has. The job's wishes (its constraints one by one) are tested on each bucket, so that a wish
 * that some bucket meets is not blamed alone (docs/decisions.md, "What no bucket has of a job is found wish by wish").
 */

/** No bucket has what a job asks: the remedy. Or the bucket of which the first obstacle is the only one. */
export type Lack =
  | { readonly kind: "lacks"; readonly remedy: Remedy }
  | { readonly kind: "one-obstacle"; readonly offer: BucketOffer };

/** One thing that a job asks of each node. Amounts are for one unit. */
interface Wish {
  readonly constraint: Constraint;
  readonly fit: Fit;
}

interface Row {
  readonly offer: BucketOffer;
  readonly subject: Subject;
  readonly isOpen: boolean;
  /** The wishes that a new node there does not meet. */
  readonly lacks: ReadonlySet<Wish>;
  /** How far the node is from what it lacks: the sum of the ratios of asked to offered. */
  readonly far: number;
}

/** Maximum number of combinations of alternatives that are tried. The others are left out. */
const MOST_VARIANTS = 16;

/** Maximum number of wishes. For more, what a bucket lacks is told as it is found. */
const MOST_WISHES = 20;

/** What prevents any new node from taking a unit of the job. Undefined: no bucket counts for the job. */
export function lackOf(draft: Draft, ask: Ask): Lack | undefined {
  if (draft.world.closed !== undefined) return undefined;
  const { arrays = [] } = ask.requirements;
  // A dynamic array counts only for jobs that name it.
  const offers = draft.world.buckets.filter(
    ({ onlyFor, parent, bucket }) =>
      onlyFor === undefined && (parent === undefined || arrays.includes(bucket.array)),
  );
  const variants = variantsOf(ask);
  if (variants.some((wishes) => wishes.length > MOST_WISHES)) return undefined;
  const subjects = offers.map((offer) => newNode(draft, offer, groupOfNew(draft, ask, offer)));
  const found = variants.map((wishes) => ({
    wishes,
    rows: offers.map((offer, i) => rowOf(draft, ask, wishes, offer, subjects[i] ?? offer)).toSorted(byNeed),
  }));
  const [best] = found.toSorted((a, b) => compareFirst(a.rows, b.rows));
  const [first] = best?.rows ?? [];
  if (best === undefined || first === undefined) return undefined;
  const whole = best.rows.find(({ lacks }) => lacks.size === 0);
  if (whole !== undefined) return { kind: "one-obstacle", offer: whole.offer };
  const { wishes, rows } = best;
  const isNowhere = (wish: Wish): boolean => rows.every(({ lacks }) => lacks.has(wish));
  const unknown = wishes.some((wish) => isName(wish) && isNowhere(wish))
    ? unknownName(draft, ask)
    : undefined;
  if (unknown !== undefined) return { kind: "lacks", remedy: { kind: "no-raise", reason: unknown } };
  const [only, ...others] = first.lacks;
  const isAlternative = found.length > 1;
  if (
    !isAlternative &&
    others.length === 0 &&
    only?.constraint.kind !== "amount" &&
    only !== undefined &&
    isNowhere(only)
  )
    return { kind: "one-obstacle", offer: first.offer };
  return { kind: "lacks", remedy: remedyFor(draft, ask, { ...best, nearest: first, isAlternative }) };
}

/** Why no bucket has the array or the size that a job names: the reason with a similar name, if there is one. */
function unknownName({ world }: Draft, { requirements }: Ask): Reason | undefined {
  const { reasons } = scopeOf(world, indexBuckets(world), requirements, "cluster");
  const sizes = reasons.filter(({ code }) => code === "no-such-machine-type");
  const isNear = (reason: Reason): boolean =>
    reason.code === "no-such-machine-type" &&
    reason.machineTypes.some((type) => nearest(type, reason.offered ?? []) !== undefined);
  return sizes.find(isNear) ?? sizes[0] ?? reasons[0];
}

function isName({ constraint }: Wish): boolean {
  return (
    constraint.kind === "property-choice" &&
    (constraint.property === "nodearray" || constraint.property === "vm_size")
  );
}

/** The wishes of a job. With alternatives one list for each combination of them. */
function variantsOf(ask: Ask): readonly (readonly Wish[])[] {
  let variants: readonly (readonly Constraint[])[] = [[]];
  for (const constraint of ask.jobClass.onNodes) {
    const ways = constraint.kind === "or" ? constraint.of.map((one) => parts(one)) : [[constraint]];
    const next = variants.flatMap((before) => ways.map((way) => [...before, ...way]));
    variants = next.length > MOST_VARIANTS ? variants.map((before) => [...before, constraint]) : next;
  }
  return variants.map((constraints) =>
    inOneAmount(constraints).map((constraint) => ({ constraint, fit: ask.jobClass.fitOf([constraint]) })),
  );
}

/** Amounts of the same resource as one. */
function inOneAmount(constraints: readonly Constraint[]): readonly Constraint[] {
  const amounts = new Map<string, Extract<Constraint, { readonly kind: "amount" }>>();
  const others: Constraint[] = [];
  for (const constraint of constraints) {
    if (constraint.kind !== "amount") others.push(constraint);
    else {
      const before = amounts.get(constraint.resource);
      const amount = before === undefined ? constraint.amount : sum(before.amount, constraint.amount);
      amounts.set(constraint.resource, { ...constraint, amount });
    }
  }
  return [...amounts.values(), ...others];
}

function rowOf(draft: Draft, ask: Ask, wishes: readonly Wish[], offer: BucketOffer, subject: Subject): Row {
  const lacks = new Set(wishes.filter((wish) => !isMet(ask, wish, subject)));
  const far = [...lacks].reduce((total, wish) => total + ratio(ask, wish, subject), 0);
  return { offer, subject, isOpen: closedTo(draft, offer) === undefined, lacks, far };
}

function isMet(ask: Ask, { constraint, fit }: Wish, subject: Subject): boolean {
  if (fit.on(subject).refusal !== undefined) return false;
  if (constraint.kind !== "amount") return true;
  return amountIn(subject, constraint.resource) + TOLERANCE >= askedOf(ask, constraint, subject);
}

type AmountAsked = Extract<Constraint, { readonly kind: "amount" }>;

const amountIn = (subject: Subject, resource: string): number => amountOf(subject.resources[resource]);

/** What a unit takes, in the terms of the node: bytes if the node has a size there. */
function askedOf(ask: Ask, { resource, amount }: AmountAsked, subject: Subject): number {
  const found = subject.resources[resource];
  const one = isSize(amount) ? bytesOf(amount) : amount;
  const inTerms = !isSize(amount) && isSize(found) ? bytesOf({ amount, unit: found.unit }) : one;
  return inTerms * ask.slotsPerUnit;
}

function ratio(ask: Ask, { constraint }: Wish, subject: Subject): number {
  if (constraint.kind !== "amount") return 1;
  return askedOf(ask, constraint, subject) / Math.max(amountIn(subject, constraint.resource), TOLERANCE);
}

/**
 * One that has all comes first, then open buckets, then those that lack the fewest wishes, and of these the fewest that are no amounts (a job
 * that names an array means it), then those that come nearest.
 */
function byNeed(a: Row, b: Row): number {
  const rank = ({ lacks, isOpen }: Row): number => (lacks.size === 0 ? 0 : isOpen ? 1 : 2);
  const others = ({ lacks }: Row): number =>
    [...lacks].filter(({ constraint }) => constraint.kind !== "amount").length;
  return rank(a) - rank(b) || a.lacks.size - b.lacks.size || others(a) - others(b) || a.far - b.far;
}

function compareFirst([a]: readonly Row[], [b]: readonly Row[]): number {
  return a === undefined || b === undefined ? 0 : byNeed(a, b);
}

function remedyFor(
  draft: Draft,
  ask: Ask,
  {
    wishes,
    rows,
    nearest,
    isAlternative,
  }: {
    readonly wishes: readonly Wish[];
    readonly rows: readonly Row[];
    readonly nearest: Row;
    readonly isAlternative: boolean;
  },
): Remedy {
  const core = smallestLack(wishes, rows);
  const isNowhere = (wish: Wish): boolean => rows.every(({ lacks }) => lacks.has(wish));
  const [only, ...others] = [...new Set([...core, ...nearest.lacks])];
  const isOne = only !== undefined && others.length === 0;
  const most = isOne ? withMost(only, rows) : undefined;
  if (isOne && !isAlternative && (most === undefined || !hasMore(only, most, nearest)))
    return remedyOfOne(ask, only, nearest);
  const second = rows.find((row) => [...nearest.lacks].some((wish) => !row.lacks.has(wish))) ?? most;
  const shown = second === undefined || second === nearest ? [nearest] : [nearest, second];
  const needed = new Set([...core, ...nearest.lacks]);
  const wordless = [...needed].find((wish) => tell(draft, ask, wish, shown) === undefined);
  if (wordless !== undefined)
    return refusalOf(wordless, rows.find(({ lacks }) => lacks.has(wordless)) ?? nearest);
  const named = new Set([...needed, ...shown.flatMap(({ lacks }) => [...lacks])]);
  const asked = wishes.filter((wish) => named.has(wish));
  const told = asked.flatMap((wish) => tell(draft, ask, wish, shown) ?? []);
  const reason: Reason = {
    code: "not-together",
    asked: told.map(({ what, value }) => ({ what, value })),
    buckets: shown.map(({ offer }, i) => ({
      bucket: offer.bucket,
      has: told.map(({ found }) => found[i] ?? ""),
    })),
    ...(asked.every(isNowhere) ? { each: true } : {}),
    ...(isAlternative ? { alternatives: true } : {}),
  };
  return { kind: "no-raise", reason };
}

/** Wishes of which no bucket has all, while some bucket has all but any one of them. A single wish if one is met nowhere. */
function smallestLack(wishes: readonly Wish[], rows: readonly Row[]): readonly Wish[] {
  const isUnmet = (some: readonly Wish[]): boolean =>
    rows.every(({ lacks }) => some.some((wish) => lacks.has(wish)));
  // What is no amount comes first: an unknown name explains more than a number.
  const alone = wishes.toReversed().find((wish) => isUnmet([wish]));
  if (alone !== undefined) return [alone];
  let least = wishes;
  for (const wish of wishes) {
    const rest = least.filter((one) => one !== wish);
    if (isUnmet(rest)) least = rest;
  }
  return least;
}

/** The bucket with the most of an amount; the nearest of several. */
function withMost({ constraint }: Wish, rows: readonly Row[]): Row | undefined {
  if (constraint.kind !== "amount") return undefined;
  const amount = ({ subject }: Row): number => amountIn(subject, constraint.resource);
  return rows.reduce<Row | undefined>(
    (best, row) => (best === undefined || amount(row) > amount(best) ? row : best),
    undefined,
  );
}

function hasMore({ constraint }: Wish, row: Row, than: Row): boolean {
  if (constraint.kind !== "amount") return false;
  const { resource } = constraint;
  return amountIn(row.subject, resource) > amountIn(than.subject, resource);
}

/** Why the nearest bucket does not meet a wish. */
function refusalOf({ fit }: Wish, { offer, subject }: Row): Remedy {
  const refusal = fit.on(subject).refusal ?? { code: "holds" };
  return { kind: "no-raise", reason: refusalReason(offer, refusal) };
}

/** One wish that no bucket meets, while the nearest bucket has everything else. */
function remedyOfOne(ask: Ask, wish: Wish, nearest: Row): Remedy {
  const { subject, offer } = nearest;
  const { constraint, fit } = wish;
  const refusal = fit.on(subject).refusal?.code;
  if (constraint.kind !== "amount" || refusal === "undefined-resource" || refusal === "not-an-amount")
    return refusalOf(wish, nearest);
  const { resource } = constraint;
  const offered = amountIn(subject, resource);
  return {
    kind: "too-large",
    resource,
    asked: askedOf(ask, constraint, subject),
    offered,
    bucket: offer.bucket,
    largest: true,
    ...unitIn(constraint, subject),
  };
}

function unitIn({ resource, amount }: AmountAsked, subject: Subject): { readonly unit?: AmountUnit } {
  return isSize(amount) || isSize(subject.resources[resource]) ? { unit: "bytes" } : {};
}

/** A wish in words, and what these buckets have of it. */
interface Told {
  readonly what: string;
  readonly value: string;
  readonly found: readonly string[];
}

/** Undefined for a constraint that has no short form in words. */
function tell(draft: Draft, ask: Ask, { constraint }: Wish, rows: readonly Row[]): Told | undefined {
  const views = rows.map(({ subject }) => draft.bins.ground.viewOf(subject));
  switch (constraint.kind) {
    case "amount":
      return tellAmount(ask, constraint, rows);
    case "property-choice":
    case "resource-choice":
      return tellChoice(constraint, views);
    case "not": {
      const { of } = constraint;
      return of.kind === "property-choice" || of.kind === "resource-choice"
        ? { ...tellChoice(of, views), value: `not ${cut(choicesText(of.choices))}` }
        : undefined;
    }
    case "in-a-placement-group": {
      const found = views.map(({ properties }) => (properties.placement_group === null ? "no" : "a"));
      return { what: "placement group", value: constraint.wanted ? "a" : "no", found };
    }
    default:
      return undefined;
  }
}

type Choice = Extract<Constraint, { readonly kind: "property-choice" | "resource-choice" }>;

function tellChoice(constraint: Choice, views: readonly NodeView[]): Told {
  const { what, of } =
    constraint.kind === "property-choice"
      ? {
          what: `node.${constraint.property}`,
          of: ({ properties }: NodeView) => properties[constraint.property],
        }
      : {
          what: cut(constraint.resource),
          of: ({ available }: NodeView) => available[constraint.resource] ?? null,
        };
  const found = views.map((view) => cut(valueText(of(view))));
  return { what, value: cut(choicesText(constraint.choices)), found };
}

function tellAmount(ask: Ask, constraint: AmountAsked, rows: readonly Row[]): Told {
  const [first] = rows;
  const { resource } = constraint;
  if (first === undefined) return { what: cut(resource), value: "", found: [] };
  const { unit } = unitIn(constraint, first.subject);
  const asked = askedOf(ask, constraint, first.subject);
  const amounts = rows.map(({ subject }) => amountIn(subject, resource));
  // More digits if fewer would hide a difference.
  const isHidden = amounts.some((one) => one !== asked && amountText(one, unit) === amountText(asked, unit));
  const text = (amount: number): string => amountText(amount, unit, isHidden ? 3 : 1);
  return { what: cut(resource), value: text(asked), found: amounts.map(text) };
}

const choicesText = (choices: readonly Scalar[]): string => choices.map(valueText).join(" or ") || "nothing";

/** Maximum length of a name or a value in a reason, in characters. */
const LONGEST = 100;
const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
