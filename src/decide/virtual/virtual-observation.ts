import type { Node, NodeArray, Snapshot } from "../../domain/cluster.ts";
import type { ArrayName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import { QuotaShift } from "./quota-shift.ts";
import { availableIn, countUse, usedIn } from "./room-left.ts";

/**
 * What CycleCloud would show if the observed arrays had the virtual nodes instead of the real ones. What their limits leave is what the real
 * ones leave, plus what the real nodes of these arrays use, minus what the virtual nodes use. An array in act keeps its nodes and takes no
 * new ones here, because only the real plan creates its nodes.
 */
export function virtualObservation(
  seen: Snapshot,
  observed: ReadonlySet<ArrayName>,
  virtual: readonly Node[],
  policy: Policy,
): Snapshot {
  const real = seen.nodes.filter(({ array }) => observed.has(array));
  const others = seen.nodes.filter(({ array }) => !observed.has(array));
  const nodes = [...others, ...virtual];
  const quotas = new QuotaShift(seen, policy);
  for (const node of real) quotas.add(node, -1);
  for (const node of virtual) quotas.add(node, 1);
  const before = countUse(seen, seen.nodes);
  const after = countUse(seen, nodes);
  const arrays = seen.arrays.map((array): NodeArray => {
    const isObserved = observed.has(array.name);
    const buckets = array.buckets.map((bucket) => {
      const shifted = quotas.shift(array, bucket);
      if (!isObserved) return { ...shifted, valid: false, invalidReason: NOT_HERE };
      const there = usedIn(after, array, bucket);
      const room = availableIn({ seen, before, after }, array, bucket, shifted);
      return { ...shifted, availableCount: room, activeCount: there.nodes, placementGroups: there.groups };
    });
    return { ...array, buckets };
  });
  const { unlisted, ...rest } = seen;
  const named = unlisted?.filter(({ array }) => !observed.has(array)) ?? [];
  return { ...rest, arrays, nodes, ...(named.length === 0 ? {} : { unlisted: named }) };
}

const NOT_HERE = "the array is in act: the virtual fleet makes no nodes in it";
