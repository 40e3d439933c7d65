import type { Ask } from "../bins/job-ask.ts";
import type { Draft } from "../draft/draft.ts";
import type { JobClass } from "../bins/job-class.ts";
import type { Capacity } from "../draft/capacity.ts";

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
