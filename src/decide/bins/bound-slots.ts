import type { SupplyNode, World } from "../../domain/world.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Ask } from "./job-ask.ts";
import type { Ground, Place } from "./node-kinds.ts";
import { comparePlaces } from "./node-kinds.ts";
import { hostFinder } from "../../domain/hosts.ts";
import type { Bin } from "./bin.ts";

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
  const findHost = finderBySet(world);
  for (const ask of running) {
    for (const { hostname, iterations } of ask.demand.placed) {
      const bin = findHost(ask.set, hostname);
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

/** A host that only a scheduler knows is there for the sets that report it: another set's jobs are not on it, whatever they say. */
function finderBySet({ nodes }: World): (set: SetName, hostname: string) => Bin | undefined {
  const finders = new Map<SetName | undefined, ReturnType<typeof hostFinder>>();
  const finderOf = (set: SetName | undefined): ReturnType<typeof hostFinder> => {
    const known = finders.get(set);
    if (known !== undefined) return known;
    const finder = hostFinder(
      nodes.map((node) => (set === undefined || isFor(node, set) ? node : withoutName(node))),
    );
    finders.set(set, finder);
    return finder;
  };
  return (set, hostname) => {
    const bin = finderOf(undefined)(hostname);
    const node = bin === undefined ? undefined : nodes[bin];
    return node === undefined || isFor(node, set) ? bin : finderOf(set)(hostname);
  };
}

const isFor = ({ onlyFor }: SupplyNode, set: SetName): boolean => onlyFor?.includes(set) ?? true;

function withoutName({ hostname: _others, ...node }: SupplyNode): SupplyNode {
  return node;
}
