import type { Constraint } from "../../domain/constraint.ts";
import type { SetName } from "../../domain/ids.ts";
import type { SharedState } from "../../domain/node-view.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Site } from "./sites.ts";
import { compileWeight } from "./weights.ts";
import { compileAll } from "../constraints/match.ts";

/** The buckets that a job may use, in the order in which it tries them, and the others, each with the constraint that failed. */
export interface Candidates {
  readonly sites: readonly Site[];
  readonly refused: readonly { readonly site: Site; readonly refusal: Refusal }[];
}

/**
 * Chooses buckets as scalelib does (scalelib.md 10): in the order of the list, shifted by what the constraints prefer. Hosts that only a scheduler
 * reports come first.
 */
export function chooseBuckets(
  all: readonly Site[],
  constraints: readonly Constraint[],
  shared: SharedState,
): Candidates {
  const weighers = constraints.map(compileWeight);
  const judge = compileAll(constraints);
  const weighed = all.map((site, at) => ({
    site,
    weight: weighers.reduce((sum, weigh) => weigh(site.view, shared, sum), all.length - at),
  }));
  const sites: Site[] = [];
  const refused: { site: Site; refusal: Refusal }[] = [];
  for (const { site } of weighed.toSorted((a, b) => b.weight - a.weight)) {
    const judgement = judge(site.view, shared);
    if (judgement.kind === "met") sites.push(site);
    else refused.push({ site, refusal: judgement.refusal });
  }
  const own = sites.filter(({ offer }) => offer.onlyFor !== undefined);
  return { sites: [...own, ...sites.filter((site) => !own.includes(site))], refused };
}

/** The candidates for the jobs of a request set. Hosts that only a scheduler reports belong to certain sets. */
export function candidatesFor({ sites, refused }: Candidates, set: SetName): Candidates {
  const isFor = ({ offer }: Site): boolean => offer.onlyFor?.includes(set) !== false;
  return { sites: sites.filter(isFor), refused: refused.filter(({ site }) => isFor(site)) };
}
