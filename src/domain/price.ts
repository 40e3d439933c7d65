import type { Catalogue } from "./catalogue.ts";
import { findVmSize } from "./catalogue.ts";
import type { MachineType } from "./ids.ts";
import { machineType } from "./ids.ts";

/** The hourly price of a node of one VM size, in the currency of its table. Absent: unknown. */
export interface SizePrice {
  /** The VM size as it was spelled. */
  readonly machineType: MachineType;
  readonly onDemand?: number;
  readonly spot?: number;
}

/** Prices of VM sizes by name in lower case. */
type SizePrices = ReadonlyMap<string, SizePrice>;

/** Prices by location. A location without prices may use those of another (`proxies`). */
export interface PriceTable {
  /** Only shown to users. No conversion. */
  readonly currency: string;
  readonly locations: ReadonlyMap<string, SizePrices>;
  readonly proxies: ReadonlyMap<string, string>;
  /** What the disks of one deallocated node cost per hour. Absent: unknown. */
  readonly deallocated?: number;
}

/** Prices above this are of no currency. The sum of the largest cluster's for a year is far from what a number can hold. */
export const HIGHEST_PRICE = 1e9;

/**
 * The hourly price of a new node, at most {@link HIGHEST_PRICE}, so that sums of a stored price of 9e307 are numbers. Undefined if unknown. The proxy of a location counts only if the table has nothing for the location
 * itself.
 */
export function findPrice(
  table: PriceTable,
  location: string | undefined,
  size: MachineType,
  { spot }: { readonly spot: boolean },
): number | undefined {
  if (location === undefined) return undefined;
  const { locations, proxies } = table;
  const prices = locations.get(location) ?? locations.get(proxies.get(location) ?? location);
  const found = prices?.get(size.toLowerCase());
  const price = spot ? found?.spot : found?.onDemand;
  return price === undefined ? undefined : Math.min(price, HIGHEST_PRICE);
}

/** A price that disagrees with others: of its own size, or of its family in the same location. */
export type DoubtfulPrice = { readonly location: string; readonly machineType: MachineType } & (
  | {
      readonly kind: "far-from-family";
      readonly price: number;
      readonly family: string;
      /** The price of the size at the median price per vCPU of its family. */
      readonly usual: number;
    }
  | { readonly kind: "spot-above-on-demand"; readonly price: number; readonly onDemand: number }
);

/**
 * Real lists have whole families at the price of another operating system, about twice the right price. Within a family prices differ less.
 */
const FARTHEST_FROM_MEDIAN = 1.8;

/**
 * Prices that are probably mistakes, in the order of the table. On demand: per vCPU more than 1.8 times above or below the median of the
 * family in that location. Spot: above the price on demand. Sizes that the catalogue does not know are not judged.
 */
export function doubtfulPrices(table: PriceTable, catalogue: Catalogue): readonly DoubtfulPrice[] {
  return [...table.locations].flatMap(([location, prices]) => [
    ...farFromFamily(location, prices, catalogue),
    ...spotAboveOnDemand(location, prices),
  ]);
}

interface Rate {
  readonly size: MachineType;
  readonly price: number;
  readonly vcpus: number;
}

function farFromFamily(location: string, prices: SizePrices, catalogue: Catalogue): readonly DoubtfulPrice[] {
  const found: DoubtfulPrice[] = [];
  for (const [family, rates] of ratesByFamily(location, prices, catalogue)) {
    const median = medianOf(rates.map(({ price, vcpus }) => price / vcpus));
    for (const { size, price, vcpus } of rates) {
      const usual = median * vcpus;
      if (price <= usual * FARTHEST_FROM_MEDIAN && usual <= price * FARTHEST_FROM_MEDIAN) continue;
      found.push({ kind: "far-from-family", location, machineType: size, price, family, usual });
    }
  }
  return found;
}

function ratesByFamily(
  location: string,
  prices: SizePrices,
  catalogue: Catalogue,
): ReadonlyMap<string, readonly Rate[]> {
  const families = new Map<string, Rate[]>();
  for (const { machineType: size, onDemand } of prices.values()) {
    if (onDemand === undefined) continue;
    const { family, vcpus } = paidSize(location, size, catalogue);
    if (family === undefined || vcpus === undefined || vcpus <= 0) continue;
    const rates = families.get(family) ?? [];
    families.set(family, rates);
    rates.push({ size, price: onDemand, vcpus });
  }
  return families;
}

/** A size with only some usable cores (E16-4s_v5) costs the same as the full size (E16s_v5). */
function paidSize(
  location: string,
  size: MachineType,
  catalogue: Catalogue,
): { readonly family?: string; readonly vcpus?: number } {
  const full = findVmSize(catalogue, location, machineType(size.replace(/(\d)-\d+/, "$1")));
  return full.authority === "unknown" ? findVmSize(catalogue, location, size).size : full.size;
}

function spotAboveOnDemand(location: string, prices: SizePrices): readonly DoubtfulPrice[] {
  const found: DoubtfulPrice[] = [];
  for (const { machineType: size, onDemand, spot } of prices.values()) {
    if (onDemand === undefined || spot === undefined || spot <= onDemand) continue;
    found.push({ kind: "spot-above-on-demand", location, machineType: size, price: spot, onDemand });
  }
  return found;
}

/** For an even number of values the mean of the middle two. NaN for none. */
function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [below, above] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return ((below ?? Number.NaN) + (above ?? Number.NaN)) / 2;
}
