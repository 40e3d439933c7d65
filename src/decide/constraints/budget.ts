import type { SetName } from "../../domain/ids.ts";
import type { Resting } from "../../domain/world.ts";

/**
 * The budget of one plan, in steps. A step is one check of a demand against a node, a bucket or a member of a constraint. Steps are
 * counted, not measured as time, so that the same input gives the same plan on every machine (docs/decisions.md, "A plan has a budget of
 * steps, not of time").
 */
export const PLAN_STEPS = 12_000_000;

/** The part of a plan's steps that finding the rules for senders may cost. */
export const stepsForRules = (steps: number = PLAN_STEPS): number => Math.floor(steps / 4);

/** The part that computing the configured default resources may cost. */
export const stepsForDefaults = (steps: number = PLAN_STEPS): number => Math.floor(steps / 2);

/** What steps are spent on: placing the demands, trying to improve the plan, repeating the best try, working out reasons. Each has its own part. */
type Work = "placing" | "improving" | "repeating" | "explaining";

/** The share of a set whose demand was too dear a moment ago, and what all such sets have together: a sender may have thousands of sets. */
const RESTING_STEPS = 10_000;
const ALL_RESTING_STEPS = 200_000;

/** The steps that one request set has left of its own share, and what it has spent, of the pot, too. */
interface Account {
  left: number;
  spent: number;
  readonly mayDraw: boolean;
}

/** The steps for one kind of work. */
class Purse {
  readonly #share: number;
  readonly #resting: Resting | undefined;
  #restingLeft = ALL_RESTING_STEPS;
  readonly accounts = new Map<SetName, Account>();
  pot: number;

  /** `sets`: number of sets with a share of their own. If 0, all steps are in the pot. */
  constructor(steps: number, sets: number, resting?: Resting) {
    this.#share = sets === 0 ? 0 : Math.floor(steps / (2 * sets));
    this.pot = steps - sets * this.#share;
    this.#resting = resting;
  }

  accountOf(set: SetName): Account {
    let account = this.accounts.get(set);
    if (account === undefined) {
      const left = this.#resting?.rests(set) === true ? this.#restingShare() : this.#share;
      account = { left, spent: 0, mayDraw: this.#resting?.mayDraw(set) ?? true };
      this.accounts.set(set, account);
    }
    return account;
  }

  #restingShare(): number {
    const share = Math.min(this.#share, RESTING_STEPS, this.#restingLeft);
    this.#restingLeft -= share;
    return share;
  }
}

/**
 * The steps of one plan. For each kind of work, half of the steps are divided into equal shares, one for each request set, which no other
 * set can spend. The other half is a pot, from which each set takes when its own share is spent. So a single set can spend everything, and
 * an expensive set takes nothing from the shares of the others (docs/decisions.md, "Half of the steps are equal shares, half is a pot").
 * Searches do not throw: each checks {@link isSpent} and ends when it is true.
 */
export class Budget {
  readonly #purses: Readonly<Record<Work, Purse>>;
  readonly #steps: number;
  #purse: Purse;
  #set: SetName | undefined;
  #account: Account = { left: 0, spent: 0, mayDraw: true };
  readonly #prepared: number;
  // Whole numbers from the start: fractions would cost an allocation for each step.
  #granted = 0;
  #left = 0;
  #spent = 0;
  #finishes = false;

  /**
   * `prepared`: the steps that were spent before the first demand is read. They are of no set. `resting`: which sets have little, and which
   * may not draw on the pot.
   */
  constructor(steps: number, sets: number, prepared = 0, resting?: Resting) {
    this.#steps = steps;
    this.#prepared = prepared;
    this.#purses = {
      placing: new Purse(Math.max(0, steps - prepared), sets, resting),
      improving: new Purse(0, 0),
      repeating: new Purse(0, 0),
      explaining: new Purse(Math.floor(steps / 4), sets, resting),
    };
    this.#purse = this.#purses.placing;
    this.#granted = this.#purse.pot;
    this.#left = this.#granted;
  }

  /** Call it after the first try: half of the remaining steps are for improving the plan, the other half for repeating the best try. */
  shareRest(): void {
    const rest = Math.floor(Math.max(0, this.#steps - this.spent) / 2);
    this.#purses.improving.pot = rest;
    this.#purses.repeating.pot = rest;
  }

  /** Steps are charged to this set from now on. */
  turnTo(set: SetName): void {
    if (set === this.#set) return;
    this.#close();
    this.#set = set;
    this.#open();
  }

  /** Charges the steps of `work` to another kind of work. Undefined if there were too few: then the answer of `work` is not valid. */
  on<T>(kind: Work, work: () => T): T | undefined {
    const before = this.#purse;
    this.#close();
    this.#purse = this.#purses[kind];
    this.#open();
    const answer = this.isSpent ? undefined : work();
    const isWhole = !this.isSpent;
    this.#close();
    this.#purse = before;
    this.#open();
    return isWhole ? answer : undefined;
  }

  /** A whole number of steps. */
  spend(steps: number): void {
    this.#left -= steps;
  }

  /** The current set has spent all steps that it may spend. */
  get isSpent(): boolean {
    return this.#left < 0 && !this.#finishes;
  }

  /**
   * Does work that must not be interrupted, if there are enough steps for its expected cost. {@link isSpent} is false until it is done.
   * Returns false if there are too few steps: then nothing is done, and the set has spent everything.
   */
  finish(expected: number, work: () => void): boolean {
    if (this.#left < expected) {
      this.#left = Math.min(this.#left, -1);
      return false;
    }
    this.#finishes = true;
    work();
    this.#finishes = false;
    return true;
  }

  /** Steps spent so far, for all kinds of work. */
  get spent(): number {
    return this.#prepared + this.#spent + this.#granted - this.#left;
  }

  /** The same by request set, without what was spent for none. */
  spentBySet(): ReadonlyMap<SetName, number> {
    this.#close();
    this.#open();
    const spent = new Map<SetName, number>();
    for (const { accounts } of Object.values(this.#purses))
      for (const [set, account] of accounts) spent.set(set, (spent.get(set) ?? 0) + account.spent);
    return spent;
  }

  #open(): void {
    if (this.#set !== undefined) this.#account = this.#purse.accountOf(this.#set);
    const { left, mayDraw } = this.#account;
    const pot = mayDraw ? this.#purse.pot : 0;
    // Work that must not be interrupted may overdraw the pot. That takes nothing from the shares of other sets.
    this.#granted = left > 0 ? left + Math.max(0, pot) : pot;
    this.#left = this.#granted;
  }

  /** Charges the steps spent since {@link #open}: first to the own share of the set, then to the pot. */
  #close(): void {
    const spent = this.#granted - this.#left;
    const own = Math.min(spent, this.#account.left);
    this.#account.left -= own;
    this.#account.spent += spent;
    this.#purse.pot -= spent - own;
    this.#spent += spent;
  }
}
