import type { RequestId } from "../../domain/ids.ts";
import type { RequestNodes } from "../../domain/observation.ts";

/** Maximum number of requests asked for in parallel. */
const ASKED_TOGETHER = 6;

/** Returns undefined if nothing was learnt. */
type Ask = (id: RequestId) => Promise<RequestNodes | undefined>;

/**
 * The nodes of the open requests of one cluster, as far as this process has received them. A question may outlive the observation that
 * asked it: its answer then serves the next one. An older answer is still true, because a request's list only grows (docs/protocol.md,
 * Observations).
 */
export class OpenQuestions {
  readonly #answers = new Map<RequestId, RequestNodes>();
  /** Requests that were asked for, the longest ago first. */
  readonly #asked = new Set<RequestId>();
  readonly #underWay = new Set<RequestId>();
  #waiting: readonly RequestId[] = [];
  #ended = Promise.withResolvers<void>();
  #defect: { readonly error: unknown } | undefined;

  /** Asks for each of these requests without a question in progress, and forgets all others. Never throws. */
  begin(open: readonly RequestId[], ask: Ask): void {
    const wanted = new Set(open);
    for (const id of this.#answers.keys()) if (!wanted.has(id)) this.#answers.delete(id);
    for (const id of this.#asked) if (!wanted.has(id)) this.#asked.delete(id);
    // If answers are slow, requests not yet asked for go first. Otherwise the first few would be asked for repeatedly.
    const inTurn = [...open.filter((id) => !this.#asked.has(id)), ...this.#asked];
    this.#waiting = inTurn.filter((id) => !this.#underWay.has(id));
    this.#askNext(ask);
  }

  /** The answers for these requests so far. Throws the error of a failed question. */
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

  /** Resolves when no question is in progress. */
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
