import type { AllocationPolicy } from "../../domain/allocation.ts";
import { canonicalText } from "../../domain/digest.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import type { Raise, Remedy } from "../../domain/remedy.ts";
import { TOLERANCE } from "../../domain/resources.ts";
import type { Instant } from "../../domain/units.ts";
import type { Budget } from "../constraints/budget.ts";
import { PLAN_STEPS } from "../constraints/budget.ts";
import type { Draft } from "../draft/draft.ts";
import type { Attempt } from "./better.ts";

type Raises = readonly Raise[];
type Outcomes = readonly DemandOutcome[];

/** A remedy that names what to raise. */
type Raising = Extract<Remedy, { readonly raises: Raises }>;

/** Maximum number of unmet demands whose remedies are tried: the first by rank. */
const MOST_TRIED = 8;

/**
 * The outcomes with remedies that were tried (docs/decisions.md, "A remedy is tried before it is told"). The first unmet demands get raises
 * with which a plan for all demands places all of them and nothing of higher rank gets less, and of which none can be lower. For what cannot
 * be tried within the budget, the remedy is what it would be if all of higher rank had its place, and says "at most".
 */
export function tryRemedies(outcomes: Outcomes, trials: Trials): Outcomes {
  const untried = new Map<Raising, Raising>();
  let before: Raises = [];
  let unmet = 0;
  let tried = 0;
  return outcomes.map((outcome, rank) => {
    const { binding, placed, asked } = outcome;
    if (placed >= asked) return outcome;
    unmet += 1;
    if (binding === undefined || !("raises" in binding) || binding.raises.length === 0) return outcome;
    tried += 1;
    const found = tried > MOST_TRIED ? undefined : trials.search(rank, binding, before);
    if (found !== undefined) before = found.raises;
    return { ...outcome, binding: found ?? sayAtMost(untried, binding, unmet > 1) };
  });
}

/** A remedy that was not tried. Equal jobs share one, as they did before. */
function sayAtMost(known: Map<Raising, Raising>, binding: Raising, isBehind: boolean): Raising {
  if (!isBehind) return { ...binding, atMost: true };
  const said = known.get(binding) ?? { ...binding, atMost: true, after: true };
  known.set(binding, said);
  return said;
}

/** The default budget for all trials of a plan, in steps: a search for mixes is part of each. */
const REMEDY_STEPS = 2_000_000;

/** Of a plan that costs more steps than this, nothing is tried: the trials would cost many times as much. */
const DEAREST_PLAN = 125_000;

/** A trial may cost this many times what the plan has cost. */
const TIMES_AS_DEAR = 32;

/** How often a search adds what a trial says is still lacking. */
const ROUNDS = 8;

/** How a plan is tried. */
interface TrialTerms {
  /** The budget. */
  readonly steps: number;
  /** Another time than that of the plan. */
  readonly at: Instant | undefined;
  /** The plan says what demands up to this rank lack. Absent: of none. */
  readonly explainedTo?: number;
  /** Only this number of demands: the first by rank. */
  readonly first?: number;
}

/** Makes a plan with these raises. Undefined: nobody can make one of them. */
type Replan = (raises: Raises, terms: TrialTerms) => Attempt | undefined;

/** What a plan with larger limits does for a demand. */
interface Trial {
  /** It places all of the demand, and nothing of higher rank gets less. */
  readonly isEnough: boolean;
  /** Demands of higher rank that get more. */
  readonly ahead: Outcomes;
  /** What the demand lacks still, and what those of higher rank lack that got less. */
  readonly lacking: Raises;
}

/** Raises that are enough for a demand. */
interface Found {
  /** The remedy as it was before it was tried. */
  readonly binding: Raising;
  readonly raises: Raises;
  readonly trial: Trial;
}

/** Plans with larger limits, within a budget of steps. */
export class Trials {
  readonly #outcomes: Outcomes;
  readonly #budget: Budget;
  readonly #expected: number;
  readonly #isExact: boolean;
  readonly #most: number;
  readonly #replan: Replan;
  #left: number;

  /** `cost`: what the plan has cost, in steps. */
  constructor(outcomes: Outcomes, budget: Budget, cost: number, policy: AllocationPolicy, replan: Replan) {
    const { steps = PLAN_STEPS, remedySteps = REMEDY_STEPS } = policy;
    this.#outcomes = outcomes;
    this.#budget = budget;
    this.#expected = cost;
    this.#most = Math.min(steps, 2 * TIMES_AS_DEAR * cost);
    this.#isExact = this.#most === steps;
    this.#replan = replan;
    this.#left = cost > DEAREST_PLAN ? 0 : remedySteps;
  }

  /** The remedy of a demand, with raises that are enough. `before`: what is enough for one of higher rank. Undefined: none were found. */
  search(rank: number, binding: Raising, before: Raises): Raising | undefined {
    const outcome = this.#outcomes[rank];
    if (outcome === undefined) return undefined;
    this.#budget.turnTo(outcome.set);
    const at = binding.kind === "wait" ? binding.until : undefined;
    return this.#budget.on("explaining", () => {
      let raises = binding.raises;
      for (let round = 0; round < ROUNDS; round += 1) {
        const trial = this.#try(raises, rank, { at, explainedTo: rank });
        if (trial === undefined) return undefined;
        if (trial.isEnough)
          return this.#smallest(this.#tight({ binding, raises, trial }, rank, at), rank, at);
        if (round === 0 && before.length > 0) raises = together(raises, before);
        else if (trial.lacking.length > 0) raises = together(raises, trial.lacking);
        else return undefined;
      }
      return undefined;
    });
  }

  /** Without what a plan for the demand and those of higher rank leaves of the raises, if that is enough for the plan for all. */
  #tight(loose: Found, rank: number, at: Instant | undefined): Found {
    const plan = this.#plan(loose.raises, { at, first: rank + 1 });
    if (plan === undefined) return loose;
    const raises = loose.raises.flatMap((raise): Raises => {
      const more = raise.more - leftOf(plan.draft, raise);
      return more > TOLERANCE ? [{ ...raise, more }] : [];
    });
    if (raises.every(({ more }, i) => more === loose.raises[i]?.more)) return loose;
    const trial = this.#try(raises, rank, { at });
    return trial?.isEnough === true ? { ...loose, raises, trial } : loose;
  }

  /** The remedy with raises of which none can be lower while the others stay as they are. */
  #smallest({ binding, raises: enough, trial }: Found, rank: number, at: Instant | undefined): Raising {
    let least: Raising = { ...binding, raises: enough, ...presentAhead(trial) };
    // How many raises, one after the other, cannot be lower.
    let fixed = 0;
    for (let index = 0; fixed < least.raises.length; index += 1) {
      const { raises } = least;
      index %= raises.length;
      const lower = this.#lower(raises, index, rank, at);
      if (lower === "unknown") return { ...least, atMost: true };
      fixed += 1;
      if (lower === undefined) continue;
      const { ahead: _before, ...rest } = least;
      least = { ...rest, raises: lower.raises, ...presentAhead(lower.trial) };
      const isGone = lower.raises.length < raises.length;
      fixed = isGone ? 0 : 1;
      // The next one is now in the place of this one.
      if (isGone) index -= 1;
    }
    return least;
  }

  /** One raise as low as the others allow. Undefined: it is. "unknown": the budget does not suffice. */
  #lower(raises: Raises, index: number, rank: number, at: Instant | undefined) {
    const of = raises[index];
    if (of === undefined) return undefined;
    let found: { readonly raises: Raises; readonly trial: Trial } | undefined;
    const isEnough = (less: number): boolean | undefined => {
      const lower =
        less >= all ? raises.toSpliced(index, 1) : raises.with(index, { ...of, more: of.more - less });
      if (lower.length === 0) return false;
      const trial = this.#try(lower, rank, { at });
      if (trial?.isEnough === true) found = { raises: lower, trial };
      return trial?.isEnough;
    };
    const all = Math.ceil(of.more - TOLERANCE);
    let [low, high] = [1, all];
    const byOne = isEnough(low);
    if (byOne !== true) return byOne === undefined ? "unknown" : undefined;
    if (low === high || isEnough(high) === true) return found;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (isEnough(middle) === true) low = middle;
      else high = middle;
    }
    return found;
  }

  /** Undefined: the budget does not suffice. */
  #try(raises: Raises, rank: number, terms: Omit<TrialTerms, "steps">): Trial | undefined {
    const plan = this.#plan(raises, terms);
    if (plan === undefined) return undefined;
    const then = this.#outcomes.slice(0, rank + 1).map((now, i) => ({ now, ...(plan.outcomes[i] ?? now) }));
    const isShort = ({ now, placed, asked }: (typeof then)[number], i: number): boolean =>
      placed < (i === rank ? asked : now.placed);
    const short = then.filter(isShort);
    const lacking = short.flatMap(({ binding }) => (binding?.kind === "raise" ? binding.raises : []));
    const ahead = then.slice(0, rank).filter(({ now, placed }) => placed > now.placed);
    return { isEnough: short.length === 0, ahead, lacking };
  }

  /** Undefined: the budget does not suffice. */
  #plan(raises: Raises, terms: Omit<TrialTerms, "steps">): Attempt | undefined {
    if (this.#left < this.#expected) return undefined;
    const plan = this.#replan(raises, { ...terms, steps: this.#most });
    if (plan === undefined) return undefined;
    const { spent } = plan.draft.bins.budget;
    this.#left -= spent;
    this.#budget.spend(spent);
    // With more steps another plan might have been found.
    const isCut = plan.leftOut.length > 0 || (!this.#isExact && 2 * spent > this.#most);
    return isCut ? undefined : plan;
  }
}

/** What a plan leaves of a pool or a limit that was raised. */
function leftOf({ world, pools, capacity }: Draft, raise: Raise): number {
  if (raise.of === "pool") return pools.get(raise.pool) ?? 0;
  const { kind, name, unit } = raise.limit;
  const left = world.limits.flatMap(({ id }, i) =>
    id.kind === kind && id.name === name && id.unit === unit ? [capacity.left(i)] : [],
  );
  return left.length === 0 ? 0 : Math.min(...left);
}

function presentAhead({ ahead }: Trial): Pick<Raising, "ahead"> {
  if (ahead.length === 0) return {};
  const of = ahead.every(({ kind }) => kind === "job") ? "jobs" : "demands";
  return { ahead: { count: ahead.length, of } };
}

/** Both lists of raises, each pool and limit once. */
function together(some: Raises, others: Raises): Raises {
  const sums = new Map<string, Raise>();
  for (const raise of [...some, ...others]) {
    const key = raise.of === "pool" ? raise.pool : canonicalText(raise.limit);
    const known = sums.get(key);
    sums.set(key, known === undefined ? raise : { ...known, more: known.more + raise.more });
  }
  return [...sums.values()];
}
