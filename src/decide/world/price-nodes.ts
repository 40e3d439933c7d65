import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { Policy } from "../../domain/policy.ts";
import { findPrice } from "../../domain/price.ts";

/** What some nodes cost per hour. */
interface NodesPrice {
  readonly pricePerHour: number;
  readonly currency: string;
  /** Number of nodes without a known price. They are not in the sum. Absent: none. */
  readonly unpricedNodes?: number;
}

/** What the nodes cost per hour by the configuration's prices. Nodes without a VM cost nothing. Undefined if there are no prices. */
export function priceNodes(
  nodes: readonly Node[],
  { arrays }: Snapshot,
  { prices }: Pick<Policy, "prices">,
): NodesPrice | undefined {
  if (prices === undefined) return undefined;
  const arrayOf = new Map(arrays.map((array) => [array.name, array]));
  let sum = 0;
  let unpriced = 0;
  for (const { array, machineType, phase, spot } of nodes) {
    if (phase === "off" || phase === "deallocated") continue;
    const home = arrayOf.get(array);
    const price = findPrice(prices, home?.region, machineType, { spot: spot ?? home?.spot ?? false });
    if (price === undefined) unpriced += 1;
    else sum += price;
  }
  return {
    pricePerHour: Number(sum.toFixed(4)),
    currency: prices.currency,
    ...(unpriced === 0 ? {} : { unpricedNodes: unpriced }),
  };
}
