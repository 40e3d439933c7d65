import type { World } from "../domain/allocation.ts";
import type { Ask } from "./ask.ts";
import type { Bin } from "./bins.ts";
import type { Ground, Place } from "./ground.ts";
import { comparePlaces } from "./ground.ts";
import { hostFinder } from "./hosts.ts";

/** Slots that run already, and where. */
export interface Bindings {
  readonly slots: readonly { readonly bin: Bin; readonly ask: Ask; readonly slots: number }[];
  /** For each colocated job the placement group that it is bound to. */
  readonly homes: ReadonlyMap<Ask, Place>;
}

/** Tasks that run already, by host, of the jobs that have such. Hosts that are not in our supply take nothing from it. */
export function bindingsOf(world: World, ground: Ground, running: readonly Ask[]): Bindings {
  const slots: Bindings["slots"][number][] = [];
  const homes = new Map<Ask, Place>();
  let findHost: ReturnType<typeof hostFinder> | undefined;
  for (const ask of running) {
    for (const { hostname, iterations } of ask.demand.placed) {
      findHost ??= hostFinder(world.nodes);
      const bin = findHost(hostname);
      // Nothing runs on a node without a VM, whatever a scheduler still says.
      if (bin === undefined || world.nodes[bin]?.deallocated === true) continue;
      slots.push({
        bin,
        ask,
        slots: ask.demand.nodeCount === undefined ? iterations : ask.slotsPerUnit,
      });
      const place = ground.nodeKinds[bin]?.place;
      if (place?.bucket.placementGroup === undefined || ask.together !== "one-group") continue;
      const home = homes.get(ask);
      if (home === undefined || comparePlaces(place, home) < 0) homes.set(ask, place);
    }
  }
  return { slots, homes };
}
