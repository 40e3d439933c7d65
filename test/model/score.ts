/** The result of a sequence. */
export interface Played {
  /** The first point where the app and the model disagree, or nothing. The first one ends the sequence, because all later ones may follow from it. */
  readonly differences: readonly string[];
  /** Plans that were compared in full. */
  readonly compared: number;
  /** Plans that were made while a failure had its after-effects: they are not compared. */
  readonly blurred: number;
  /** Of the compared plans, those whose creates are not compared: no rule says which of several groups is completed. */
  readonly tied: number;
  /** Of the compared plans, those that differ from the model's and are just as right: wants compete, and no rule says which one yields. */
  readonly otherwise: number;
  /** Of the compared plans, those that create nodes by name, that refuse a name for want of room, and that find a wanted name there. */
  readonly namesMade: number;
  readonly namesRefused: number;
  readonly namesThere: number;
  /** Of the nodes whose questions are compared, those that a want names. */
  readonly namedAskers: number;
  readonly answers: number;
  readonly stops: number;
}

type Counts = Omit<Played, "differences">;

/** The differences between the app and the model in one sequence, and how much was compared. */
export class Score {
  readonly #counts = {
    compared: 0,
    blurred: 0,
    tied: 0,
    otherwise: 0,
    namesMade: 0,
    namesRefused: 0,
    namesThere: 0,
    namedAskers: 0,
    answers: 0,
    stops: 0,
  };
  readonly #differences: string[] = [];

  get differs(): boolean {
    return this.#differences.length > 0;
  }

  count(what: keyof Counts, times = 1): void {
    this.#counts[what] += times;
  }

  /** Notes a difference if these two lists are not the same. */
  compare(what: string, app: readonly string[], model: readonly string[]): void {
    const [theirs, ours] = [app.join("; "), model.join("; ")];
    if (theirs !== ours) this.differ(`${what}: the app has [${theirs}], the model has [${ours}]`);
  }

  differ(text: string): void {
    this.#differences.push(text);
  }

  /** The result. `where`: how far the sequence was played. */
  played(where: string): Played {
    return { ...this.#counts, differences: this.#differences.slice(0, 1).map((text) => `${where}: ${text}`) };
  }
}
