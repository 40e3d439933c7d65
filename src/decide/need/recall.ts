import type { Digest, SetName } from "../../domain/ids.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { sameBut, sameData } from "../../domain/same-data.ts";
import type { Supply } from "./spare.ts";

/** All that an answer rests on besides its own question, as plain data. */
export interface Premises {
  /** Which demand each live set asks for: name and digest in turn. */
  readonly sets: readonly (SetName | Digest)[];
  readonly supply: Omit<Supply, "ledger" | "excluded" | "now" | "snapshot">;
  /** The observation, whenever it was. */
  readonly snapshot: Omit<Supply["snapshot"], "at">;
  readonly ledger: Ledger;
}

/**
 * What the demand in force and what is there say together; undefined while the answer changes with time alone: as creates are under way,
 * or groups are being filled.
 */
export function premisesOf(
  record: ClusterRecord,
  { snapshot: look, ...supply }: Supply,
): Premises | undefined {
  const { ledger, excluded: _asked, now, ...rest } = supply;
  if (rest.pendingCreates.length > 0 || (rest.groupFills?.length ?? 0) > 0) return undefined;
  const sets = [...record.sets].flatMap(([name, { live, digest }]) => (live ? [name, digest] : []));
  const backoffs = rest.backoffs.filter(({ until }) => until > now);
  const { at: _when, ...snapshot } = look;
  return { sets, supply: { ...rest, backoffs }, snapshot, ledger };
}

/** So many answers are kept; all are to the same premises. */
const MOST_ANSWERS = 16;

/** An answer, with those members of its question that were read for it: the others may have been anything. */
interface Answered<T> {
  readonly read: ReadonlyMap<string | symbol, unknown>;
  readonly answer: T;
}

/**
 * Remembers in one process what was worked out last for one cluster, so that a cluster in which nothing happens is not planned anew every
 * minute. It never changes an answer: whoever has none gets the same, only later.
 */
export class Recall<T> {
  #premises: Premises | undefined;
  #answers: readonly Answered<T>[] = [];

  /**
   * What was answered to an equal question on equal premises; else what `work` says. Of the question `work` knows what it is given, and
   * nothing else. Questions and premises must never be changed. `isLasting`: the answer does not rest on the time.
   */
  answer<Q extends object>(
    premises: Premises | undefined,
    question: Q,
    work: (question: Q) => T,
    isLasting: (answer: T) => boolean = () => true,
  ): T {
    if (premises === undefined) return work(question);
    if (!this.#restsOn(premises)) this.#answers = [];
    // The newest of those that are alike: the next ones share most objects with them.
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

  /** What was answered to an equal question on equal premises, if anything. */
  known(premises: Premises | undefined, question: object): T | undefined {
    return premises !== undefined && this.#restsOn(premises) ? this.#find(question)?.answer : undefined;
  }

  #restsOn(premises: Premises): boolean {
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
    sameData(a.snapshot, b.snapshot) &&
    sameLedger(a.ledger, b.ledger)
  );
}

/** When a node was needed last is nothing to a plan. */
function sameLedger(a: Ledger, b: Ledger): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  const others = [...b.values()];
  return [...a.values()].every((node, at) => {
    const other = others[at];
    return other !== undefined && sameBut("lastNeededAt", node, other);
  });
}
