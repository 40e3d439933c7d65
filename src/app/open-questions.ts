import type { RequestId } from "../domain/ids.ts";
import type { RequestNodes } from "../domain/observation.ts";

/** So many requests are asked for side by side. */
const ASKED_TOGETHER = 6;

/** Answers undefined where nothing was learnt. */
type Ask = (id: RequestId) => Promise<RequestNodes | undefined>;

/**
 * Which nodes belong to the open requests of one cluster, as far as this process has been told. A question may outlive the look that asked
 * it: its answer then serves the next look. An older answer is still true: a request's list only grows (docs/protocol.md, Observations).
 */
export class OpenQuestions {
  readonly #answers = new Map<RequestId, RequestNodes>();
  /** Those that were asked for, the longest ago first. */
  readonly #asked = new Set<RequestId>();
  readonly #underWay = new Set<RequestId>();
  #waiting: readonly RequestId[] = [];
  #ended = Promise.withResolvers<void>();
  #defect: { readonly error: unknown } | undefined;

  /** Asks for each of these requests that is not being asked for, and forgets all others. Never throws. */
  begin(open: readonly RequestId[], ask: Ask): void {
    const wanted = new Set(open);
    for (const id of this.#answers.keys()) if (!wanted.has(id)) this.#answers.delete(id);
    for (const id of this.#asked) if (!wanted.has(id)) this.#asked.delete(id);
    // Where answers are slow, those that nobody has asked for go first: else the first few would be asked for again and again.
    const inTurn = [...open.filter((id) => !this.#asked.has(id)), ...this.#asked];
    this.#waiting = inTurn.filter((id) => !this.#underWay.has(id));
    this.#askNext(ask);
  }

  /** What is known of these requests by now. Throws what a question has thrown. */
  answersTo(open: readonly RequestId[]): ReadonlyMap<RequestId, RequestNodes> {
    const defect = this.#defect;
    this.#defect = undefined;
    if (defect !== undefined) throw defect.error;
    const known = new Map<RequestId, RequestNodes>();
    for (const id of open) {
      const listed = this.#answers.get(id);
      if (listed !== undefined) known.set(id, listed);
    }
    return known;
  }

  /** Resolves when no question is under way. */
  async allEnded(): Promise<void> {
    while (this.#underWay.size > 0) await this.#ended.promise;
  }

  #askNext(ask: Ask): void {
    const free = ASKED_TOGETHER - this.#underWay.size;
    const next = this.#waiting.slice(0, Math.max(0, free));
    this.#waiting = this.#waiting.slice(next.length);
    for (const id of next) void this.#askOne(id, ask);
  }

  async #askOne(id: RequestId, ask: Ask): Promise<void> {
    this.#underWay.add(id);
    this.#asked.delete(id);
    this.#asked.add(id);
    try {
      const listed = await ask(id);
      if (listed !== undefined) this.#answers.set(id, listed);
    } catch (error) {
      this.#defect ??= { error };
    } finally {
      this.#underWay.delete(id);
      this.#askNext(ask);
      const ended = this.#ended;
      this.#ended = Promise.withResolvers();
      ended.resolve();
    }
  }
}
