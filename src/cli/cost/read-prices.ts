import type { Price, PriceName, Prices } from "./prices.ts";
import { PRICE_NAMES, PRICES } from "./prices.ts";

/** The prices with those of a file, `{"NAME": USD}`; or what is wrong with the file, one text for each problem. */
export function readPrices(
  value: unknown,
): { readonly prices: Prices } | { readonly problems: readonly string[] } {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problems: [`found ${shown(value)}, expected an object such as {"queueOperations": 0.004}`] };
  const given = Object.entries(value);
  const problems = given.flatMap(([name, usd]) => problemsOf(name, usd));
  if (problems.length > 0) return { problems };
  const changed = new Map(given.map(([name, usd]) => [name, Number(usd)]));
  const known: Readonly<Record<PriceName, Price>> = PRICES;
  const entries = PRICE_NAMES.map((name) => [
    name,
    { ...known[name], usd: changed.get(name) ?? known[name].usd },
  ]);
  return { prices: { ...known, ...Object.fromEntries(entries) } };
}

function problemsOf(name: string, usd: unknown): readonly string[] {
  if (!PRICE_NAMES.some((known) => known === name))
    return [`${name}: found an unknown price, expected one of ${PRICE_NAMES.join(", ")}`];
  const isPrice = typeof usd === "number" && Number.isFinite(usd) && usd >= 0;
  return isPrice ? [] : [`${name}: found ${shown(usd)}, expected US dollars, a number of at least 0`];
}

const shown = (value: unknown): string => JSON.stringify(value) ?? String(value);
