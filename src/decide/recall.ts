import type { Digest, SetName } from "../domain/ids.ts";
import type { ClusterRecord, Ledger } from "../domain/record.ts";
import { sameBut, sameData } from "../domain/same-data.ts";
import type { Supply } from "./spare.ts";

/** All that an answer rests on besides its own question, as plain data. */
export interface Premises {
  /** Which demand each live set asks for: name and digest in turn. */
  readonly sets: readonly (SetName | Digest)[];
  readonly supply: Omit<Supply, "ledger" | "excluded" | "now" | "snapshot">;
  /** The look, whenever it was. */
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

/**
 * Remembers in one process what was worked out last for one cluster, so that a cluster in which nothing happens is not planned anew every
 * minute. It never changes an answer: whoever has none gets the same, only later.
 */
export class Recall<T> {
  #premises: Premises | undefined;
  #answers: { readonly question: object; readonly answer: T }[] = [];

  /** What was answered to an equal question on equal premises; else what `work` says. Questions and premises must never be changed. */
  answer(premises: Premises | undefined, question: object, work: () => T): T {
    if (premises === undefined) return work();
    if (this.#premises === undefined || !samePremises(this.#premises, premises)) {
      this.#premises = premises;
      this.#answers = [];
    }
    const known = this.#answers.find((one) => sameData(one.question, question));
    if (known !== undefined) return known.answer;
    const answer = work();
    this.#answers = [...this.#answers.slice(1 - MOST_ANSWERS), { question, answer }];
    return answer;
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
  if (a.size !== b.size) return false;
  const others = b.values();
  for (const node of a.values()) {
    const other = others.next().value;
    if (other === undefined || !sameBut("lastNeededAt", node, other)) return false;
  }
  return true;
}
