import type { SetName } from "../../domain/ids.ts";

/**
 * What one plan may cost, in steps: a step is one check of a demand against a node, a bucket or a member of a constraint. Steps are counted and
 * not measured, so that the same input gives the same plan on every machine.
 */
export const PLAN_STEPS = 27_000_000;

/** What steps are for: to place the demands, to try better ways, to repeat the best of these, to work out reasons. Each has a part of its own. */
export type Work = "placing" | "improving" | "repeating" | "explaining";

/** What one request set has left of its own. */
interface Account {
  left: number;
}

/** The steps for one kind of work. */
class Purse {
  readonly #share: number;
  readonly #accounts = new Map<SetName, Account>();
  pot: number;

  /** `sets`: how many have a share of their own; 0: there are none, and all is in the pot. */
  constructor(steps: number, sets: number) {
    this.#share = sets === 0 ? 0 : steps / (2 * sets);
    this.pot = sets === 0 ? steps : steps / 2;
  }

  accountOf(set: SetName): Account {
    let account = this.#accounts.get(set);
    if (account === undefined) {
      account = { left: this.#share };
      this.#accounts.set(set, account);
    }
    return account;
  }
}

/**
 * The steps of one plan. For each kind of work half of them are in equal shares, one for each request set, that nobody else can spend. The
 * other half is a pot from which sets draw in their turn, once their own share is spent. So one set alone has all, and one that costs too
 * much takes nothing from the shares of the others. Searches do not throw: each checks whether {@link isSpent}, and ends where it is.
 */
export class Budget {
  readonly #purses: Readonly<Record<Work, Purse>>;
  readonly #steps: number;
  #purse: Purse;
  #set: SetName | undefined;
  #account: Account = { left: 0 };
  #granted: number;
  #left: number;
  #spent = 0;
  #finishes = false;

  constructor(steps: number, sets: number) {
    this.#steps = steps;
    this.#purses = {
      placing: new Purse(steps, sets),
      improving: new Purse(0, 0),
      repeating: new Purse(0, 0),
      explaining: new Purse(steps / 4, sets),
    };
    this.#purse = this.#purses.placing;
    this.#granted = this.#purse.pot;
    this.#left = this.#granted;
  }

  /** Once all is placed: half of what is left is for better ways, and as much to repeat the best of these. */
  shareRest(): void {
    const rest = Math.max(0, this.#steps - this.spent) / 2;
    this.#purses.improving.pot = rest;
    this.#purses.repeating.pot = rest;
  }

  /** From now on this set spends. */
  turnTo(set: SetName): void {
    if (set === this.#set) return;
    this.#close();
    this.#set = set;
    this.#open();
  }

  /** Spends on another kind of work while `work` goes on; undefined: there was not enough for it, and what it says is not to be believed. */
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

  spend(steps: number): void {
    this.#left -= steps;
  }

  /** The set whose turn it is has spent all that it may. */
  get isSpent(): boolean {
    return this.#left < 0 && !this.#finishes;
  }

  /**
   * Does work that must be done whole, if there is enough for what it is expected to cost: then {@link isSpent} stays false until it is done.
   * False: there is not, nothing is done, and the set has spent all.
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

  /** Spent so far, on everything. */
  get spent(): number {
    return this.#spent + this.#granted - this.#left;
  }

  #open(): void {
    if (this.#set !== undefined) this.#account = this.#purse.accountOf(this.#set);
    this.#granted = this.#account.left + this.#purse.pot;
    this.#left = this.#granted;
  }

  /** Books what was spent since it was opened: on the set's own share first. */
  #close(): void {
    const spent = this.#granted - this.#left;
    const own = Math.min(spent, this.#account.left);
    this.#account.left -= own;
    this.#purse.pot -= spent - own;
    this.#spent += spent;
  }
}
