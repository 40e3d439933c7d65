import type { Ask } from "../bins/job-ask.ts";
import type { Draft } from "../draft/draft.ts";
import type { JobClass } from "../bins/job-class.ts";
import type { Capacity } from "../draft/capacity.ts";

/**
 * Answers about jobs that got nothing, kept while the limits stand: in a long queue thousands of jobs with the same constraints are
 * refused for the same reasons, and share one object then. A cache and no more: without it every answer would be the same.
 */
export class Alike<T> {
  readonly #known = new WeakMap<
    Capacity,
    { readonly version: number; readonly answers: Map<JobClass, Map<string, { readonly answer: T }>> }
  >();

  /** The answer for so many units that are left of the job; `make` is asked for it unless an equal job was answered before. */
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

/** Whether nothing but the limits decides: no pool, no group, no nodes to itself, and nothing that it was given itself. */
function isPlain(draft: Draft, ask: Ask): boolean {
  return (
    ask.together === "anywhere" &&
    ask.requirements.pools.size === 0 &&
    draft.capacity.takenSinceMark().length === 0 &&
    ask.requirements.alone === undefined
  );
}
