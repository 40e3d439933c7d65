import type { Catalogue } from "../../domain/catalogue.ts";
import type { Problem } from "../../domain/demand.ts";
import { machineType } from "../../domain/ids.ts";
import type { DoubtfulPrice, PriceTable, SizePrice } from "../../domain/price.ts";
import { doubtfulPrices, HIGHEST_PRICE } from "../../domain/price.ts";
import type { PricesDocument } from "../api/configuration.ts";
import { isKeptLabel, LABEL_EXPECTED } from "../json/name.ts";
import { below, nearest, problemAt, problemShowing, unknownKey } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Named } from "../api/shown.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

const TABLE_KEYS = ["currency", "locations", "proxied-locations", "deallocated"];
const PRICE_KEYS = ["onDemand", "spot"] as const;
const PRICE_EXPECTED = "a price per hour, a number above 0";

/**
 * Reads `{ currency, locations: location -> VM size -> price, "proxied-locations": location -> location }`, prices per hour: a number is
 * the price on demand, an object may have `onDemand` and `spot`. `deallocated`: what the disks of a deallocated node cost. Errors are reported
 * and left out.
 */
export function readPriceTable(value: unknown, path: string, problems: Problems): PriceTable {
  const locations = new Map<string, ReadonlyMap<string, SizePrice>>();
  const proxies = new Map<string, string>();
  if (!isFields(value)) {
    problems.add(() => problemAt(path, value, "an object: currency, locations"));
    return { currency: "", locations, proxies };
  }
  const { currency, locations: tables, "proxied-locations": others, deallocated } = value;
  for (const key of Object.keys(value))
    if (!TABLE_KEYS.includes(key)) problems.add(() => unknownKey(path, key, TABLE_KEYS));
  if (!isKeptLabel(currency))
    problems.add(() => problemShowing(`${path}.currency`, currency, "the currency, as in USD"));
  if (!isFields(tables))
    problems.add(() => problemAt(`${path}.locations`, tables, "an object: location -> VM size -> price"));
  else
    for (const [location, sizes] of Object.entries(tables))
      locations.set(location, readSizes(sizes, `${path}.locations.${location}`, problems));
  if (others !== undefined) readProxies(others, `${path}.proxied-locations`, locations, proxies, problems);
  if (deallocated !== undefined && !isPrice(deallocated))
    problems.add(() => problemAt(`${path}.deallocated`, deallocated, PRICE_EXPECTED));
  const table = { currency: isKeptLabel(currency) ? currency : "", locations, proxies };
  return isPrice(deallocated) ? { ...table, deallocated } : table;
}

function readSizes(from: unknown, path: string, problems: Problems): ReadonlyMap<string, SizePrice> {
  const sizes = new Map<string, SizePrice>();
  if (!isFields(from)) {
    problems.add(() => problemAt(path, from, "an object: VM size -> price"));
    return sizes;
  }
  for (const [size, value] of Object.entries(from)) {
    const at = `${path}.${size}`;
    if (!isKeptLabel(size)) problems.add(() => problemShowing(path, size, LABEL_EXPECTED));
    if (sizes.has(size.toLowerCase()))
      problems.add(() => problemAt(at, value, "one price for a VM size: it is there in another spelling"));
    sizes.set(size.toLowerCase(), { machineType: machineType(size), ...readPrice(value, at, problems) });
  }
  return sizes;
}

function readPrice(value: unknown, path: string, problems: Problems): Pick<SizePrice, "onDemand" | "spot"> {
  if (!isFields(value)) return isPrice(value) ? { onDemand: value } : refuse(value, path, problems);
  for (const key of Object.keys(value))
    if (!PRICE_KEYS.some((known) => known === key)) problems.add(() => unknownKey(path, key, PRICE_KEYS));
  const { onDemand, spot } = value;
  for (const key of PRICE_KEYS)
    if (value[key] !== undefined && !isPrice(value[key]))
      problems.add(() => problemAt(`${path}.${key}`, value[key], PRICE_EXPECTED));
  if (onDemand === undefined && spot === undefined)
    problems.add(() => problemAt(path, value, "onDemand, spot, or both"));
  return { ...(isPrice(onDemand) ? { onDemand } : {}), ...(isPrice(spot) ? { spot } : {}) };
}

function refuse(value: unknown, path: string, problems: Problems): Pick<SizePrice, "onDemand" | "spot"> {
  problems.add(() => problemAt(path, value, `${PRICE_EXPECTED}, or an object with onDemand and spot`));
  return {};
}

const isPrice = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value > 0;

/** A location that replaces another must have prices. Otherwise it is a mistake. */
function readProxies(
  from: unknown,
  path: string,
  locations: PriceTable["locations"],
  proxies: Map<string, string>,
  problems: Problems,
): void {
  if (!isFields(from)) {
    problems.add(() => problemAt(path, from, "an object: location -> the location that stands in for it"));
    return;
  }
  for (const [location, other] of Object.entries(from)) {
    if (typeof other === "string" && locations.has(other)) {
      proxies.set(location, other);
      continue;
    }
    const meant = typeof other === "string" ? nearest(other, [...locations.keys()]) : undefined;
    problems.add(() =>
      problemShowing(`${path}.${location}`, other, "one of the locations that have prices", meant),
    );
  }
}

/** The table in the form in which it is read. */
export function writePriceTable({ currency, locations, proxies, deallocated }: PriceTable): PricesDocument {
  const tables = [...locations].map(([location, sizes]): [string, Fields] => [
    location,
    Object.fromEntries([...sizes.values()].map((size) => [size.machineType, writePrice(size)])),
  ]);
  return withoutAbsent({
    currency,
    locations: Object.fromEntries(tables),
    "proxied-locations": proxies.size === 0 ? undefined : Object.fromEntries(proxies),
    deallocated,
  } satisfies Named<PricesDocument>);
}

function writePrice({ onDemand, spot }: SizePrice): number | Fields {
  if (spot === undefined && onDemand !== undefined) return onDemand;
  return withoutAbsent({ onDemand, spot });
}

/** Prices that no VM has, with their paths. */
export function excessivePrices(
  { locations, deallocated = 0 }: PriceTable,
  path: string,
): readonly Problem[] {
  const most = `a price per hour of at most ${HIGHEST_PRICE}`;
  const ofDisks = deallocated <= HIGHEST_PRICE ? [] : [problemAt(`${path}.deallocated`, deallocated, most)];
  const ofSizes = [...locations].flatMap(([location, sizes]) =>
    [...sizes.values()].flatMap((size) => {
      const at = `${path}.locations.${location}.${size.machineType}`;
      return PRICE_KEYS.flatMap((key) => {
        const price = size[key];
        if (price === undefined || price <= HIGHEST_PRICE) return [];
        const isPlain = key === "onDemand" && size.spot === undefined;
        return [problemAt(isPlain ? at : `${at}.${key}`, price, most)];
      });
    }),
  );
  return [...ofSizes, ...ofDisks];
}

/** Prices that count and are probably mistakes, each with a probable price. */
export function doubtPrices(table: PriceTable, path: string, catalogue: Catalogue): readonly Problem[] {
  return doubtfulPrices(table, catalogue).map((doubt) => below(path, doubtOf(doubt)));
}

function doubtOf(doubt: DoubtfulPrice): Problem {
  const path = `locations.${doubt.location}.${doubt.machineType}`;
  if (doubt.kind === "spot-above-on-demand")
    return problemAt(`${path}.spot`, doubt.price, `no more than the price on demand, ${doubt.onDemand}`);
  const usual = Number(doubt.usual.toPrecision(3));
  return problemAt(path, doubt.price, `about ${usual}, by the median per vCPU of ${doubt.family} here`);
}
