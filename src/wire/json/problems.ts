import type { Problem } from "../../domain/demand.ts";
import { BOUNDS } from "./bounds.ts";
import { below } from "./problem.ts";

/**
 * Collects the problems of an input: the first ones in full, and the number of all. An input of megabytes can have a million problems, so a
 * problem is described only while there is room for it (docs/decisions.md, "Only a hundred problems are described").
 */
export class Problems {
  readonly #most: number;
  readonly #parent: { readonly problems: Problems; readonly prefix: () => string } | undefined;
  readonly #first: Problem[] = [];
  #count = 0;

  /** `most`: the number of problems described. 0: they are only counted. */
  constructor(most: number = BOUNDS.problems, parent?: { problems: Problems; prefix: () => string }) {
    this.#most = most;
    this.#parent = parent;
  }

  /** Number of all problems, described or not. */
  get count(): number {
    return this.#count;
  }

  /** `describe` is called only if there is room. */
  add(describe: () => Problem): void {
    this.#count += 1;
    if (this.#parent === undefined) {
      if (this.#first.length < this.#most) this.#first.push(describe());
      return;
    }
    const { problems, prefix } = this.#parent;
    problems.add(() => below(prefix(), describe()));
  }

  /** Adds problems that were found in a part, with `prefix` in front of their paths. */
  addBelow(prefix: string, found: readonly Problem[]): void {
    for (const problem of found) this.add(() => below(prefix, problem));
  }

  /** Adds the problems of another collector. */
  addAll(others: Problems): void {
    for (const problem of others.#first) this.add(() => problem);
    this.#count += others.#count - others.#first.length;
  }

  /** A collector for a part of the input: its problems also come here, with `prefix` in front. Its count is separate. */
  below(prefix: () => string): Problems {
    return new Problems(0, { problems: this, prefix });
  }

  /** The first problems, and one more with the number of the others. */
  all(): readonly Problem[] {
    const left = this.#count - this.#first.length;
    if (left === 0) return this.#first;
    const rest = { path: "", found: `${left} more problems`, expected: "an input without problems" };
    return [...this.#first, rest];
  }
}

/** The first of an unbounded list of problems, and one more with the number of the others. */
export function boundProblems(found: readonly Problem[]): readonly Problem[] {
  const problems = new Problems();
  problems.addBelow("", found);
  return problems.all();
}

/** Notes of a reader of constraints. */
export interface Notes {
  /** Invalid constraints. Nothing of them may be used. */
  readonly problems: Problems;
  /**
   * Input that scalelib accepts and that is probably a mistake: `"mem": "4g"` is a text to match there, not an amount. The reader of jobs
   * refuses it. Where the library's own result is needed, it is accepted.
   */
  readonly doubts: Problems;
}

export const newNotes = (): Notes => ({ problems: new Problems(), doubts: new Problems() });
