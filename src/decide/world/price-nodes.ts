import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { Policy } from "../../domain/policy.ts";
import { findPrice } from "../../domain/price.ts";

/** What nodes cost an hour, all together. */
export interface NodesPrice {
  readonly pricePerHour: number;
  readonly currency: string;
  /** Nodes whose price is not known, which are not in the sum; absent: none. */
  readonly unpricedNodes?: number;
}

/** What `nodes` cost an hour by the configuration's prices; those without a VM cost nothing. Undefined: there are no prices. */
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
    const price = findPrice(prices, home?.region, machineType, spot ?? home?.spot ?? false);
    if (price === undefined) unpriced += 1;
    else sum += price;
  }
  return {
    pricePerHour: Number(sum.toFixed(4)),
    currency: prices.currency,
    ...(unpriced === 0 ? {} : { unpricedNodes: unpriced }),
  };
}
