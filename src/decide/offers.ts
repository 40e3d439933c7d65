import type { BucketOffer } from "../domain/allocation.ts";
import type { Ask } from "./ask.ts";
import { unitsOnEmpty, unitsOnKind } from "./ask.ts";
import type { Draft } from "./draft.ts";
import { closedTo } from "./closed.ts";
import type { Kind } from "./ground.ts";
import type { Scope } from "./scope.ts";
import { inGroup } from "./ground.ts";
import type { Shape } from "./shape.ts";

/** An offer whose new nodes are right for jobs of a shape. */
export interface Offered {
  readonly offer: BucketOffer;
  readonly kind: Kind;
  /** By the job's own lists; higher is better. */
  readonly score: number;
}

/** Remembers, for one try, which offers are open to jobs of a shape, preferred first. */
export class OpenOffers {
  readonly #draft: Pick<Draft, "world" | "bins" | "now">;
  readonly #known = new Map<Shape, { readonly alone: readonly Offered[]; grouped?: readonly Offered[] }>();

  constructor(draft: Pick<Draft, "world" | "bins" | "now">) {
    this.#draft = draft;
  }

  /** Offers that are open, in the job's and then the cluster's order of preference; with `grouped` only those that know groups. */
  of({ jobClass: { shape } }: Ask, scope: Scope, grouped: boolean): readonly Offered[] {
    const known = this.#known.get(shape) ?? { alone: this.#find(shape, scope, false) };
    this.#known.set(shape, known);
    if (!grouped) return known.alone;
    known.grouped ??= this.#find(shape, scope, true);
    return known.grouped;
  }

  #find(shape: Shape, scope: Scope, grouped: boolean): readonly Offered[] {
    const draft = this.#draft;
    const { offerKinds } = draft.bins.ground;
    const found: Offered[] = [];
    const wanted = new Set(scope.offers);
    draft.world.buckets.forEach((offer, index) => {
      const kind = offerKinds[index];
      if (kind === undefined || !wanted.has(offer) || closedTo(draft, offer) !== undefined) return;
      const hasGroups = offer.maxPlacementGroupSize !== undefined || offer.pinnedGroup !== undefined;
      if ((grouped && !hasGroups) || !shape.takesNew(offer, kind, grouped)) return;
      found.push({ offer, kind, score: shape.score(kind.subject) });
    });
    return found.every(({ score }) => score === found[0]?.score)
      ? found
      : found.toSorted((a, b) => b.score - a.score);
  }
}

/** How many units of the job go onto one new node of the offer, outside of groups unless `grouped`. */
export function unitsOnNew(draft: Draft, ask: Ask, { offer, kind }: Offered, grouped: boolean): number {
  const names = draft.bins.resources;
  if (ask.jobClass.takes !== undefined || !grouped) return unitsOnKind(ask, kind, names);
  const group = offer.pinnedGroup;
  const bucket = group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
  return unitsOnEmpty(ask, inGroup(offer, bucket), names);
}
