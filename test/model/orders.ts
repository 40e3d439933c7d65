import type { Outcome, Stock } from "./floors.ts";
import { settleInOrder } from "./floors.ts";
import type { ClusterShape } from "./shape.ts";
import type { Want } from "./wants.ts";

/** So many wants that are left unmet are tried once more. */
const MOST_CHANCES = 8;

/**
 * What the wants come to (issue 5, sections 1 and 2): each is a floor; what is there counts for all of them, and what one creates counts
 * for the next. First in the order of rank, which decides who gets what is scarce; if that makes new nodes or leaves something unmet,
 * once more with what others can count upon first, and then with each that is unmet before all others or among the first. Another order
 * holds if it leaves nobody with less and has more, or needs fewer nodes.
 */
export function settleWants(shape: ClusterShape, wants: readonly Want[], stock: Stock): Outcome {
  let best = settleInOrder(shape, wants, stock);
  const isMet = (want: Want): boolean => (best.placed.get(want) ?? 0) >= want.count;
  if (wants.length < 2 || (best.creations.length === 0 && wants.every(isMet))) return best;
  const adopt = (order: readonly Want[]): boolean => {
    const other = settleInOrder(shape, order, stock);
    if (!isBetter(wants, other, best)) return false;
    best = other;
    return true;
  };
  const firmFirst = (firm: (want: Want) => boolean): readonly Want[] => [
    ...wants.filter(firm).toSorted((a, b) => breadth(a) - breadth(b)),
    ...wants.filter((want) => !firm(want)),
  ];
  adopt(firmFirst(isMet));
  const unmet = wants.filter((want) => !isMet(want));
  // Groups come whole or not at all: they lose most by coming late.
  const groupsFirst = [
    ...unmet.filter(({ kind }) => kind === "groups"),
    ...unmet.filter(({ kind }) => kind !== "groups"),
  ];
  for (const one of groupsFirst.slice(0, MOST_CHANCES)) {
    const others = firmFirst(isMet).filter((want) => want !== one);
    if (!adopt([one, ...others])) adopt(firmFirst((want) => want === one || isMet(want)));
  }
  return best;
}

/** Groups bring nodes that count for jobs and targets, jobs such that count for targets; and who takes few sizes, for one who takes any. */
function breadth(want: Want): number {
  return { groups: 0, job: 100, target: 200 }[want.kind] + (want.kind === "job" ? 0 : want.types.length);
}

function isBetter(wants: readonly Want[], other: Outcome, than: Outcome): boolean {
  const gains = wants.map((want) => (other.placed.get(want) ?? 0) - (than.placed.get(want) ?? 0));
  if (gains.some((gain) => gain < 0)) return false;
  return gains.some((gain) => gain > 0) || countOf(other) < countOf(than);
}

const countOf = ({ creations }: Outcome): number => creations.reduce((sum, { count }) => sum + count, 0);
