import { describe, expect, test } from "vitest";
import { compress } from "../../../src/adapters/tables/compress.ts";
import { machineType } from "../../../src/domain/ids.ts";
import { findPrice } from "../../../src/domain/price.ts";
import { readPolicy } from "../../../src/wire/policy/policy.ts";
import { writePolicy } from "../../../src/wire/policy/write-policy.ts";
import { lineOf } from "../context.ts";

const linesOf = (prices: unknown): unknown => {
  const read = readPolicy({ prices });
  return read.kind === "problems" ? read.problems.map(lineOf) : read.kind;
};
const doubtsOf = (sizes: object, more: object = {}): readonly string[] => {
  const read = readPolicy({ prices: { currency: "USD", locations: { here: sizes } }, ...more });
  if (read.kind === "problems") throw new Error(read.problems.map(lineOf).join("; "));
  return read.doubts.map(lineOf);
};

describe("a price table", () => {
  const prices = {
    currency: "USD",
    locations: {
      westeurope: {
        Standard_F2s_v2: 0.1,
        Standard_F4s_v2: { onDemand: 0.2, spot: 0.02 },
        Standard_HX176rs: { spot: 0.9 },
      },
      eastus: {},
    },
    "proxied-locations": { usgovvirginia: "westeurope" },
  };

  test("is read, and written back as it was", () => {
    const read = readPolicy({ prices });
    if (read.kind === "problems") throw new Error(read.problems.map(lineOf).join("; "));
    expect(read.policy.prices).toEqual({
      currency: "USD",
      locations: new Map([
        [
          "westeurope",
          new Map([
            ["standard_f2s_v2", { machineType: "Standard_F2s_v2", onDemand: 0.1 }],
            ["standard_f4s_v2", { machineType: "Standard_F4s_v2", onDemand: 0.2, spot: 0.02 }],
            ["standard_hx176rs", { machineType: "Standard_HX176rs", spot: 0.9 }],
          ]),
        ],
        ["eastus", new Map()],
      ]),
      proxies: new Map([["usgovvirginia", "westeurope"]]),
    });
    expect(writePolicy(read.policy).prices).toEqual(prices);
  });

  test("has no price above 1e9: sums of such prices overflow", () => {
    const dear = (here: object) => ({ currency: "USD", locations: { here } });
    expect(linesOf(dear({ Large: 1e9, Small: { onDemand: 1, spot: 1e9 } }))).toBe("policy");
    expect(linesOf(dear({ Large: 9e307, Small: { onDemand: 1, spot: 1.1e9 } }))).toEqual([
      "prices.locations.here.Large: 9e+307 -> a price per hour of at most 1000000000",
      "prices.locations.here.Small.spot: 1100000000 -> a price per hour of at most 1000000000",
    ]);
    const stored = readPolicy({ prices: dear({ Large: 9e307 }) }, "act", "store");
    if (stored.kind === "problems") throw new Error("a stored document stays in force");
    expect(stored.policy.prices?.locations.get("here")?.get("large")?.onDemand).toBe(9e307);
    expect(stored.refused.map(({ mend }) => mend)).toEqual(["config set prices.locations.here.Large=PRICE"]);
    // Sums of it are numbers: 10,000 nodes cost 1e13 an hour.
    const { prices } = stored.policy;
    const price = prices && findPrice(prices, "here", machineType("Large"), { spot: false });
    expect(price).toBe(1e9);
  });

  test("names everything that is wrong with it at once", () => {
    expect(
      linesOf({
        curency: "USD",
        locations: {
          here: {
            zero: 0,
            negative: -1,
            text: "0.1",
            empty: {},
            parts: { ondemand: 1, spot: 0 },
            Same: 1,
            same: 1,
          },
          there: 5,
        },
        "proxied-locations": { a: "there1", b: 3 },
      }),
    ).toEqual([
      'prices: "curency" -> one of the keys currency, locations, proxied-locations, deallocated (currency?)',
      "prices.currency: nothing -> the currency, as in USD",
      "prices.locations.here.zero: 0 -> a price per hour, a number above 0, or an object with onDemand and spot",
      "prices.locations.here.negative: -1 -> a price per hour, a number above 0, or an object with onDemand and spot",
      'prices.locations.here.text: "0.1" -> a price per hour, a number above 0, or an object with onDemand and spot',
      "prices.locations.here.empty: {} -> onDemand, spot, or both",
      'prices.locations.here.parts: "ondemand" -> one of the keys onDemand, spot (onDemand?)',
      "prices.locations.here.parts.spot: 0 -> a price per hour, a number above 0",
      "prices.locations.here.same: 1 -> one price for a VM size: it is there in another spelling",
      "prices.locations.there: 5 -> an object: VM size -> price",
      'prices.proxied-locations.a: "there1" -> one of the locations that have prices (there?)',
      "prices.proxied-locations.b: 3 -> one of the locations that have prices",
    ]);
    expect(linesOf([])).toEqual(["prices: [] -> an object: currency, locations"]);
    expect(linesOf({ currency: "USD" })).toEqual([
      "prices.locations: nothing -> an object: location -> VM size -> price",
    ]);
  });

  test("of 400 sizes in each of ten regions takes a small part of what a configuration may take", async () => {
    const sizes = (region: number): object =>
      Object.fromEntries(
        Array.from({ length: 400 }, (_, i) => [
          `Standard_D${i}s_v${region}`,
          { onDemand: ((i * 7919 + region * 104_729) % 99_991) / 10_000 + 0.0001, spot: (i + 1) / 1000 },
        ]),
      );
    const locations = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`region${i}`, sizes(i)]));
    const read = readPolicy({ prices: { currency: "USD", locations } });
    if (read.kind === "problems") throw new Error(read.problems.map(lineOf).join("; "));
    const text = JSON.stringify(writePolicy(read.policy));
    const { region0 } = locations;
    // Measured: 22 KB and 4 KB compressed for one region, 222 KB and 44 KB for ten; at most 700 KiB compressed can be kept.
    const one = JSON.stringify({ prices: { currency: "USD", locations: { region0 } } });
    expect((await compress(one)).length).toBeLessThan(8 * 1024);
    expect((await compress(text)).length).toBeLessThan(70 * 1024);
  });
});

describe("prices that are likely mistakes", () => {
  test("per vCPU more than 1.8 times from the median of the family, either way", () => {
    expect(
      doubtsOf({
        Standard_F2s_v2: 0.1,
        Standard_F4s_v2: 0.2,
        Standard_F8s_v2: 0.4,
        Standard_F16s_v2: 1.44,
        Standard_F32s_v2: 2.9,
        Standard_F64s_v2: 1.7,
      }),
    ).toEqual([
      // The median of .05, .05, .05, .09, .0906 and .0266 is .05.
      "prices.locations.here.Standard_F32s_v2: 2.9 -> about 1.6, by the median per vCPU of standardFSv2Family here",
      "prices.locations.here.Standard_F64s_v2: 1.7 -> about 3.2, by the median per vCPU of standardFSv2Family here",
    ]);
  });

  test("a size of which some cores are not used costs what the full size costs", () => {
    expect(doubtsOf({ "Standard_E16-4s_v5": 1, Standard_E16s_v5: 1, Standard_E8s_v5: 0.5 })).toEqual([]);
  });

  test("families as the configuration's own sizes have them; sizes that nobody knows are not judged", () => {
    const own = (vCPUsAvailable: number) => ({ family: "mine", capabilities: { vCPUsAvailable } });
    expect(
      doubtsOf(
        { a: 1, b: 2, c: 30, unknown: 999 },
        { vmSizes: { here: { a: own(1), b: own(2), c: own(3) } } },
      ),
    ).toEqual(["prices.locations.here.c: 30 -> about 3, by the median per vCPU of mine here"]);
  });

  test("spot above the price on demand", () => {
    expect(doubtsOf({ Standard_F2s_v2: { onDemand: 0.1, spot: 0.11 } })).toEqual([
      "prices.locations.here.Standard_F2s_v2.spot: 0.11 -> no more than the price on demand, 0.1",
    ]);
  });
});
