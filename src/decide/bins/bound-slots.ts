import type { SupplyNode, World } from "../../domain/world.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Ask } from "./job-ask.ts";
import type { Ground, Place } from "./node-kinds.ts";
import { comparePlaces } from "./node-kinds.ts";
import { hostFinder } from "../../domain/hosts.ts";
import type { Bin } from "./bin-columns.ts";

/** The slots that run already, and where. */
export interface Bindings {
  readonly slots: readonly { readonly bin: Bin; readonly ask: Ask; readonly slots: number }[];
  /** For each job that needs one placement group: the group in which tasks of it run. */
  readonly homes: ReadonlyMap<Ask, Place>;
}

/** Finds the bins on which tasks of these jobs run. Tasks on hosts that are not in the world's supply are left out. */
export function bindingsOf(world: World, ground: Ground, running: readonly Ask[]): Bindings {
  const slots: Bindings["slots"][number][] = [];
  const homes = new Map<Ask, Place>();
  const findHost = finderBySet(world);
  for (const ask of running) {
    for (const { hostname, iterations } of ask.demand.placed) {
      const bin = findHost(ask.set, hostname);
      // Nothing runs on a node without a VM, even if a scheduler still reports it.
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

/**
 * Finds a bin by request set and host name. A host that only a scheduler reports belongs to the sets that report it. A job of another set that
 * names it runs on a node of the same name, if there is one, else on no node.
 */
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
