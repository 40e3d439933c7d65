import { readFileSync } from "node:fs";

/**
 * npm run -s prices -- PRICES.csv REGION[,REGION...] [SPOT.csv]
 * Writes the configuration's key `prices` for these regions to stdout, as JSON: a price list has the columns region, vm_size and
 * usd_per_hour, a list of spot prices region, vm_size and spot_usd_per_hour, found by their names in the first line. A price of 0 is a
 * gap in the list: it is left out, and stderr says so. Putting the configuration names the prices that are likely mistakes.
 */
const USAGE = "usage: npm run -s prices -- PRICES.csv REGION[,REGION...] [SPOT.csv]";

interface Row {
  readonly region: string;
  readonly size: string;
  readonly price: number;
}

function readRows(file: string, priceColumn: string): readonly Row[] {
  const [header, ...lines] = readFileSync(file, "utf8").trimEnd().split(/\r?\n/);
  const columns = header?.split(",") ?? [];
  const [region, size, price] = ["region", "vm_size", priceColumn].map((name) => {
    if (!columns.includes(name)) throw new Error(`${file} has no column ${name}`);
    return columns.indexOf(name);
  });
  return lines.map((line) => {
    const cells = line.split(",");
    const cell = (at: number | undefined) => (at === undefined ? undefined : cells[at]);
    const [inRegion, ofSize, text] = [cell(region), cell(size), cell(price)];
    // Number("") is 0, which would count as a gap.
    const usd = text === undefined || text === "" ? Number.NaN : Number(text);
    if (!inRegion || !ofSize || !(usd >= 0)) throw new Error(`${file}: not a price: ${line}`);
    return { region: inRegion, size: ofSize, price: usd };
  });
}

const say = (text: string): boolean => process.stderr.write(`${text}\n`);

/** Region -> size in lower case -> row. */
type Prices = ReadonlyMap<string, ReadonlyMap<string, Row>>;

/** The rows of the regions that were asked for, without gaps. */
function pick(file: string, priceColumn: string, regions: readonly string[]): Prices {
  const picked = new Map(regions.map((region) => [region, new Map<string, Row>()]));
  for (const row of readRows(file, priceColumn)) {
    const sizes = picked.get(row.region);
    if (sizes === undefined) continue;
    if (sizes.has(row.size.toLowerCase()))
      throw new Error(`${file}: two prices of ${row.size} in ${row.region}`);
    if (row.price === 0) say(`left out: ${row.size} in ${row.region} has the price 0`);
    else sizes.set(row.size.toLowerCase(), row);
  }
  return picked;
}

function tableOf(
  region: string,
  onDemand: Prices,
  spot: Prices | undefined,
): Record<string, object | number> {
  const prices = onDemand.get(region) ?? new Map<string, Row>();
  const evictable = spot?.get(region) ?? new Map<string, Row>();
  const both = [...prices].map(([key, { size, price }]): [string, object | number] => {
    const low = evictable.get(key)?.price;
    return [size, low === undefined ? price : { onDemand: price, spot: low }];
  });
  const onlySpot = [...evictable]
    .filter(([key]) => !prices.has(key))
    .map(([, { size, price }]): [string, object] => [size, { spot: price }]);
  return Object.fromEntries([...both, ...onlySpot].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function run([source, regionList, spotSource]: readonly string[]): void {
  if (source === undefined || regionList === undefined) throw new Error(USAGE);
  const regions = [...new Set(regionList.split(","))];
  const onDemand = pick(source, "usd_per_hour", regions);
  for (const [region, sizes] of onDemand)
    if (sizes.size === 0) throw new Error(`${source} has no prices of ${region}`);
  const spot = spotSource === undefined ? undefined : pick(spotSource, "spot_usd_per_hour", regions);
  const locations = Object.fromEntries(regions.map((region) => [region, tableOf(region, onDemand, spot)]));
  const prices = { currency: "USD", locations };
  process.stdout.write(`${JSON.stringify({ prices }, undefined, 1)}\n`);
}

try {
  run(process.argv.slice(2));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
