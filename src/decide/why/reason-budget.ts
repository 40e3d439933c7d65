import type { Reason } from "../../domain/reason.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Draft } from "../draft/draft.ts";
import type { JobClass } from "../bins/job-class.ts";
import type { Requirements } from "../constraints/requirements.ts";
import type { Capacity } from "../draft/capacity.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** Maximum number of different unmet jobs that get full reasons. More are unreadable, and each takes as long as placing dozens of jobs. */
const MOST_EXPLAINED = 1000;

/**
 * Which unmet jobs get full reasons: the first by rank, and none beyond the rank `last`. Each of the others names one of these that asks for
 * the same nodes.
 */
export class ReasonBudget {
  /** Whether packed jobs of one class share their reasons, so that one more costs nothing. */
  readonly #sharesReasons: boolean;
  readonly #last: number;
  #explained = 0;
  readonly #classes = new Set<JobClass>();
  readonly #like = new Map<Requirements, string>();
  readonly #briefs = new Map<Requirements, readonly Reason[]>();

  constructor(sharesReasons: boolean, last = Infinity) {
    this.#sharesReasons = sharesReasons;
    this.#last = last;
  }

  /** Whether a job gets full reasons if it is unmet. */
  covers(ask: Ask): boolean {
    return ask.rank <= this.#last && (this.#explained < MOST_EXPLAINED || this.#isShared(ask));
  }

  /** Counts a job that got full reasons. */
  note(ask: Ask): void {
    const { jobClass, requirements, by } = ask;
    if (this.#isShared(ask)) return;
    this.#explained += 1;
    this.#classes.add(jobClass);
    if (!this.#like.has(requirements)) this.#like.set(requirements, by);
  }

  /** The reasons of a job beyond the budget. Jobs that ask for the same nodes share the list. */
  brief({ requirements }: Ask): readonly Reason[] {
    let brief = this.#briefs.get(requirements);
    if (brief === undefined) {
      const like = this.#like.get(requirements);
      brief = [{ code: "too-many-unmet", told: this.#explained, ...withoutAbsent({ like }) }];
      this.#briefs.set(requirements, brief);
    }
    return brief;
  }

  #isShared({ jobClass, together }: Ask): boolean {
    return this.#sharesReasons && together === "anywhere" && this.#classes.has(jobClass);
  }
}

/** Works out why something is unmet, with the steps for explaining. If that costs too much, the reason says so. */
export function explain<T extends { readonly reasons: readonly Reason[] }>(
  { bins }: Draft,
  make: () => T,
): T | typeof NOT_EXPLAINED {
  return bins.budget.on("explaining", make) ?? NOT_EXPLAINED;
}

const NOT_EXPLAINED = { reasons: [{ code: "not-explained" }] } as const;

/**
 * A cache of answers about jobs of which nothing was placed, valid while the limits stay as they are. In a long queue, thousands of jobs
 * with the same constraints are refused for the same reasons and share one object. Without the cache all answers are the same.
 */
export class SharedAnswers<T> {
  readonly #known = new WeakMap<
    Capacity,
    { readonly version: number; readonly answers: Map<JobClass, Map<string, { readonly answer: T }>> }
  >();

  /** The answer for a job with `left` unplaced units. `make` is called unless there is an answer for an identical job. */
  answer(draft: Draft, ask: Ask, left: number, make: () => T): T {
    if (!isPlain(draft, ask)) return make();
    const answers = this.#answersOf(draft.capacity, ask.jobClass);
    const key = `${left}/${ask.slotsPerUnit}/${ask.unitsPerNode}/${ask.demand.spot ?? ""}`;
    const known = answers.get(key) ?? { answer: make() };
    answers.set(key, known);
    return known.answer;
  }

  #answersOf(capacity: Capacity, jobClass: JobClass): Map<string, { readonly answer: T }> {
    const before = this.#known.get(capacity);
    const current =
      before?.version === capacity.version ? before : { version: capacity.version, answers: new Map() };
    this.#known.set(capacity, current);
    const answers = current.answers.get(jobClass) ?? new Map<string, { readonly answer: T }>();
    current.answers.set(jobClass, answers);
    return answers;
  }
}

/** Whether only the limits decide: the job has no pool, no group, no nodes of its own, and got no new nodes. */
function isPlain(draft: Draft, ask: Ask): boolean {
  return (
    ask.together === "anywhere" &&
    ask.requirements.pools.size === 0 &&
    draft.capacity.takenSinceMark().length === 0 &&
    ask.requirements.alone === undefined
  );
}
