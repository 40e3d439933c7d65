import type { World } from "../../domain/world.ts";
import type { Resources } from "../../domain/resources.ts";
import { compareText } from "../../domain/text.ts";

/** Maximum number of counted resources that no node offers. Jobs that take one of the others fit on no node anyway. */
const MOST_UNKNOWN = 64;

/**
 * The resources that are counted on each node, of those that jobs name. One demand message may name a hundred thousand resources that do not
 * exist. Only names that no node, no node in flight and no bucket of this world has are left out.
 */
export function countedOf(world: World, named: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  if (named.size <= MOST_UNKNOWN) return named;
  const offered = new Set<string>();
  const seen = new Set<Resources>();
  for (const list of [world.nodes, world.inFlight, world.buckets])
    for (const { resources } of list) {
      if (seen.has(resources)) continue;
      seen.add(resources);
      for (const name of Object.keys(resources)) offered.add(name);
    }
  const unknown = [...named.keys()].filter((name) => !offered.has(name)).sort(compareText);
  if (unknown.length <= MOST_UNKNOWN) return named;
  const kept = new Set([...offered, ...unknown.slice(0, MOST_UNKNOWN)]);
  return new Map([...named].filter(([name]) => kept.has(name)));
}
