import type { Aside } from "../../domain/aside.ts";
import { NONE_ASIDE } from "../../domain/aside.ts";
import type { Backoff, ClusterRecord } from "../../domain/record.ts";
import type { Digest, SetName } from "../../domain/ids.ts";
import type { Ledger } from "../../domain/ledger.ts";
import { sameBut, sameData } from "../../domain/same-data.ts";
import type { Supply } from "./spare.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** Everything that an answer depends on besides its own question, as plain data. */
interface Premises {
  /** The demand of each live set: its name, its digest, and how many parts of it have ended, in turn. */
  readonly sets: readonly (SetName | Digest | number)[];
  readonly supply: Omit<Supply, "ledger" | "excluded" | "now" | "snapshot">;
  /** The observation, without its time. */
  readonly snapshot: Omit<Supply["snapshot"], "at">;
  readonly ledger: Ledger;
  /** The buckets that are probed after a pause. */
  readonly probed: readonly Pick<Backoff, "bucket" | "dynamic">[];
}

/**
 * The premises of a plan: the demand in force and the supply. Undefined while the answer changes with time alone: creates are pending, or
 * groups are being filled.
 */
export function premisesOf(
  record: ClusterRecord,
  { snapshot: observed, ...supply }: Supply,
  aside: Aside = NONE_ASIDE,
): Premises | undefined {
  const { ledger, excluded: _asked, now, ...rest } = supply;
  if (rest.pendingCreates.length > 0 || (rest.groupFills?.length ?? 0) > 0) return undefined;
  const sets = [...record.sets].flatMap(([name, { live, digest, ends = [] }]) =>
    live && !aside.has(name) ? [name, digest, ends.filter((end) => end <= now).length] : [],
  );
  const backoffs = rest.backoffs.filter(({ until }) => until > now);
  const probed = rest.backoffs.flatMap(({ cause, bucket, dynamic }) =>
    cause === "went-down" ? [{ bucket, ...withoutAbsent({ dynamic }) }] : [],
  );
  const { at: _when, ...snapshot } = observed;
  return { sets, supply: { ...rest, backoffs }, snapshot, ledger, probed };
}

/** Maximum number of answers kept. All have the same premises. */
const MOST_ANSWERS = 16;

/** An answer, with the members of its question that were read for it. The others do not matter. */
interface Answered<T> {
  readonly read: ReadonlyMap<string | symbol, unknown>;
  readonly answer: T;
}

/**
 * Remembers the last answers for one cluster in one process, so that a cluster in which nothing changes is not planned again every minute. It
 * never changes an answer: without it every answer is the same, only later.
 */
export class Recall<T> {
  #premises: Premises | undefined;
  #answers: readonly Answered<T>[] = [];

  /**
   * Returns the remembered answer if the premises, and everything that `work` read from the question, are equal. Otherwise calls `work` and
   * remembers its answer if `isLasting` (it does not depend on the time). `work` must use nothing but the question that it is passed: a proxy
   * records what it reads. Questions and premises must never be changed.
   */
  answer<Q extends object>(
    premises: Premises | undefined,
    question: Q,
    work: (question: Q) => T,
    isLasting: (answer: T) => boolean = () => true,
  ): T {
    if (premises === undefined) return work(question);
    if (!this.#hasPremises(premises)) this.#answers = [];
    // The newest of equal premises, because the next ones share most objects with them.
    this.#premises = premises;
    const known = this.#find(question);
    if (known !== undefined) return known.answer;
    const read = new Map<string | symbol, unknown>();
    const answer = work(
      new Proxy(question, {
        get(asked, name) {
          const value: unknown = Reflect.get(asked, name);
          read.set(name, value);
          return value;
        },
      }),
    );
    if (isLasting(answer)) this.#answers = [...this.#answers.slice(1 - MOST_ANSWERS), { read, answer }];
    return answer;
  }

  /** The remembered answer to an equal question on equal premises. Undefined if there is none. */
  known(premises: Premises | undefined, question: object): T | undefined {
    return premises !== undefined && this.#hasPremises(premises) ? this.#find(question)?.answer : undefined;
  }

  #hasPremises(premises: Premises): boolean {
    return this.#premises !== undefined && samePremises(this.#premises, premises);
  }

  #find(question: object): Answered<T> | undefined {
    return this.#answers.find(({ read }) =>
      [...read].every(([name, value]) => sameData(value, Reflect.get(question, name))),
    );
  }
}

function samePremises(a: Premises, b: Premises): boolean {
  return (
    sameData(a.sets, b.sets) &&
    sameData(a.supply, b.supply) &&
    sameData(a.probed, b.probed) &&
    sameData(a.snapshot, b.snapshot) &&
    sameLedger(a.ledger, b.ledger)
  );
}

/** Whether ledgers are equal for a plan. The time when a node was last needed does not matter. */
function sameLedger(a: Ledger, b: Ledger): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  const others = [...b.values()];
  return [...a.values()].every((node, at) => {
    const other = others[at];
    return other !== undefined && sameBut("lastNeededAt", node, other);
  });
}
