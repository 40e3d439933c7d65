import { TOLERANCE } from "../../domain/resources.ts";
import type { Size } from "../../domain/size.ts";
import { bytesOf, bytesPer, isSize, parseSize, subtractSize } from "../../domain/size.ts";
import type { Pattern } from "../../domain/shell-pattern.ts";
import { compilePattern } from "../../domain/shell-pattern.ts";
import type { ResourceValue, Scalar } from "../../domain/resources.ts";
import type { Seconds } from "../../domain/units.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { NodeView, SharedState } from "../../domain/node-view.ts";

/**
 * The result of a constraint for one node. `space`: the number of slots that it allows on the node. Absent: it does not limit them. A refusal
 * has it too, because a constraint that fails may still limit the number (scalelib.md 9).
 */
export type Judgement = Met | Refused;

export interface Refused {
  readonly kind: "refused";
  readonly refusal: Refusal;
  readonly space?: number;
  /** The node does not exist yet, and it is not known whether it will meet the constraint: so a "not" around it is refused, too. */
  readonly unsure?: true;
}

export interface Met {
  readonly kind: "met";
  /** How good a choice the node is. Of n values or alternatives, the first gives n and the last 1. */
  readonly score: number;
  readonly space?: number;
  /** What one slot takes from the node (`takes`) and from pools (`drains`). */
  readonly takes: ReadonlyMap<string, number | Size>;
  readonly drains: ReadonlyMap<string, number>;
  /** The node is reserved for the job from then on. Absent: it stays open for other jobs. */
  readonly closes?: "job" | "task";
}

/** A compiled constraint. `job` is the name of the job that asks, if the jobs on the node matter. */
export type Matcher = (node: NodeView, shared: Shared, job?: string) => Judgement;

/** What jobs share, for the judgement of one node. Pools are read one at a time. */
export type Shared = Pick<SharedState, "values"> & { readonly left: Pick<SharedState["left"], "get"> };

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

export const PLAIN_MET: Met = { kind: "met", score: 1, takes: NOTHING, drains: NOTHING };

export function refused(refusal: Refusal, space?: number): Refused {
  return space === undefined ? { kind: "refused", refusal } : { kind: "refused", refusal, space };
}

/** Neither met nor failed: see {@link Refused.unsure}. */
export function unsure(refusal: Refusal, space?: number): Refused {
  return { ...refused(refusal, space), unsure: true };
}

/** Whether a node has an amount of a resource. A plain number asked of a size is in the unit of the size (scalelib.md, defect 3). */
export function judgeAmount(
  resource: string,
  asked: number | Size,
  found: ResourceValue | undefined,
): Judgement {
  if (found === undefined) return refused({ code: "undefined-resource", resource }, 0);
  const offered = typeof found === "boolean" ? Number(found) : found;
  if (typeof offered !== "number" && !isSize(offered))
    return refused({ code: "not-an-amount", resource, found }, 0);
  const take = inTermsOf(asked, offered);
  const space = timesIn(offered, take);
  if (countable(offered) < countable(take) - Math.abs(countable(take)) * TOLERANCE)
    return refused({ code: "insufficient-resource", resource, asked: take, offered }, Math.max(0, space));
  return { kind: "met", score: 1, space, takes: new Map([[resource, take]]), drains: NOTHING };
}

/** The asked amount in the same terms as what is offered: both sizes, or both numbers (of bytes, if a size is asked of a number). */
function inTermsOf(asked: number | Size, offered: number | Size): number | Size {
  if (typeof asked === "number") return isSize(offered) ? { amount: asked, unit: offered.unit } : asked;
  return isSize(offered) ? asked : bytesOf(asked);
}

const countable = (value: number | Size): number => (isSize(value) ? bytesOf(value) : value);

/** How many times one amount fits into the other. Infinite for an amount of 0. */
function timesIn(offered: number | Size, take: number | Size): number {
  const one = countable(take);
  return one === 0 ? Number.POSITIVE_INFINITY : Math.floor(countable(offered) / one + TOLERANCE);
}

/** What is left of a value after one slot. */
export function takeFrom(found: ResourceValue | undefined, take: number | Size): ResourceValue {
  if (isSize(found))
    return isSize(take) ? subtractSize(found, take) : subtractSize(found, take * bytesPer(found.unit));
  return Number(found ?? 0) - countable(take);
}

/** Whether a value is one of the options. Patterns are compiled once. */
export function compileChoice(what: string, options: readonly Scalar[]): (found: ResourceValue) => Judgement {
  const patterns = options.map((option) => (typeof option === "string" ? compilePattern(option) : undefined));
  const sizes = options.map((option) => (typeof option === "string" ? sizeIn(option) : undefined));
  // Made once, because a list may be judged on hundreds of kinds of nodes.
  const met = options.map((_, at): Met => ({ ...PLAIN_MET, score: options.length - at }));
  return (found) => {
    const at = options.findIndex((option, i) => isChosen(found, option, patterns[i], sizes[i]));
    return met[at] ?? refused({ code: "invalid-option", what, found, options });
  };
}

function sizeIn(text: string): Size | undefined {
  const size = parseSize(text);
  return typeof size === "string" ? undefined : size;
}

/**
 * Compares texts by pattern and everything else by value. As in Python, true is 1. A size is a text such as "memory::4g" or "4g", or a
 * number: its bytes, or its amount in its own unit, as for what is asked of it.
 */
function isChosen(
  found: ResourceValue,
  option: Scalar,
  pattern: Pattern | undefined,
  size: Size | undefined,
): boolean {
  if (isSize(found) && size !== undefined) return bytesOf(found) === bytesOf(size);
  if (isSize(found) && found.amount === option) return true;
  if (typeof found === "string" && pattern !== undefined) return pattern.test(found);
  const value = isSize(found) ? bytesOf(found) : found;
  if (value === option) return true;
  return isCounted(value) && isCounted(option) && Number(value) === Number(option);
}

const isCounted = (one: Scalar): boolean => typeof one === "number" || typeof one === "boolean";

/** Scope "job": one slot of the job on each node. (Scalelib packs several: defect 11.) Scope "task": slots of the same job may share a node. */
export function judgeExclusive(scope: "job" | "task"): Matcher {
  return ({ jobs }, _, job) => {
    const mayStay = scope === "task" && job !== undefined;
    const others = [...jobs].filter((name) => !(mayStay && name === job));
    if (others.length > 0) return refused({ code: "not-exclusive", jobs: others }, 0);
    return scope === "job" ? { ...PLAIN_MET, space: 1, closes: scope } : { ...PLAIN_MET, closes: scope };
  };
}

export function judgeGroup(wanted: boolean, found: ResourceValue): Judgement {
  const group = typeof found === "string" ? found : undefined;
  if (wanted === (group !== undefined)) return PLAIN_MET;
  return group === undefined
    ? refused({ code: "not-in-a-placement-group" }, 0)
    : refused({ code: "in-a-placement-group", group }, 0);
}

export function judgePool(pool: string, asked: number, left: number | undefined): Judgement {
  if (left === undefined) return refused({ code: "unknown-pool", pool }, 0);
  const space = timesIn(left, asked);
  if (space < 1) return refused({ code: "pool-short", pool, asked, left }, 0);
  return { ...PLAIN_MET, space, drains: new Map([[pool, asked]]) };
}

export function judgePoolValue(pool: string, asked: Scalar, found: Scalar | undefined): Judgement {
  if (found === undefined) return refused({ code: "unknown-pool", pool, of: "value" });
  return found === asked ? PLAIN_MET : refused({ code: "pool-value", pool, asked, found });
}

export function judgeBackoff(seconds: Seconds | undefined, since: number | undefined): Judgement {
  return seconds !== undefined && since !== undefined && since < seconds
    ? refused({ code: "capacity-failure-backoff", seconds, since })
    : PLAIN_MET;
}

/** The sum of two amounts of one resource. Both are sizes, or both are numbers. */
export function sum(a: number | Size, b: number | Size): number | Size {
  if (!isSize(a)) return a + countable(b);
  return { amount: a.amount + countable(b) / bytesPer(a.unit), unit: a.unit };
}
