import type { Outcome, Stock } from "./floors.ts";
import { settleInOrder } from "./floors.ts";
import type { ClusterShape } from "./shape.ts";
import type { Want } from "./wants.ts";

/** Maximum number of unmet wants that are tried first. */
const MOST_CHANCES = 8;

/**
 * Settles wants, each of which is a floor (docs/architecture.md, Merging demand). Existing nodes count for all wants, and nodes that one
 * want creates count for the next. The first order is by rank, which decides who gets what is scarce. If that creates nodes or leaves a
 * want unmet, other orders are tried: first the wants that are met, then each unmet want before all others or among the first. Another
 * order is better if no want gets less, and if some want gets more or fewer nodes are created.
 */
export function settleWants(shape: ClusterShape, wants: readonly Want[], stock: Stock): Outcome {
  let best = settleInOrder(shape, wants, stock);
  const isMet = (want: Want): boolean => (best.placed.get(want) ?? 0) >= want.count;
  if (wants.length < 2 || (best.creations.length === 0 && wants.every(isMet))) return best;
  const adopt = (order: readonly Want[]): boolean => {
    const other = settleInOrder(shape, withNamesByRank(order, wants), stock);
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
  // Groups come whole or not at all, so they lose most by coming late.
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

/**
 * Nodes of groups and nodes by name also count for jobs and targets, and nodes of jobs for targets. A want of few sizes serves one of any
 * size, too.
 */
function breadth(want: Want): number {
  return (
    { groups: 0, names: 0, job: 100, target: 200 }[want.kind] + (want.kind === "job" ? 0 : want.types.length)
  );
}

/** The same order, but with the wants for names by rank among themselves: the first that names a node decides where it is made. */
function withNamesByRank(order: readonly Want[], wants: readonly Want[]): readonly Want[] {
  const byRank = wants.filter(({ kind }) => kind === "names").values();
  return order.map((want) => (want.kind === "names" ? (byRank.next().value ?? want) : want));
}

function isBetter(wants: readonly Want[], other: Outcome, than: Outcome): boolean {
  const gains = wants.map((want) => (other.inTurn.get(want) ?? 0) - (than.inTurn.get(want) ?? 0));
  if (gains.some((gain) => gain < 0)) return false;
  return gains.some((gain) => gain > 0) || countOf(other) < countOf(than);
}

const countOf = ({ creations }: Outcome): number => creations.reduce((sum, { count }) => sum + count, 0);
