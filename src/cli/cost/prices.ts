/** The month of these prices. They are list prices in US dollars, without tax, for East US and regions with the same prices. */
export const PRICES_AT = "2026-11";

/**
 * A price as Azure quotes it. `sure`: "page" was read on a third party's page, "memory" was written from memory. None was read on Azure's
 * price list, which this repository cannot reach: check before you rely on it.
 */
export interface Price {
  readonly what: string;
  readonly usd: number;
  /** The price is for this many units. */
  readonly per: number;
  readonly unit: string;
  /** Units that cost nothing each month. */
  readonly grant?: number;
  /** The scope that shares the grant. */
  readonly grantFor?: "subscription" | "billing account";
  readonly sure: "page" | "memory";
}

export const PRICES = {
  executions: {
    what: "executions on Flex Consumption",
    usd: 0.4,
    per: 1_000_000,
    unit: "executions",
    grant: 250_000,
    grantFor: "subscription",
    sure: "memory",
  },
  executionTime: {
    what: "time of executions on demand",
    usd: 0.000026,
    per: 1,
    unit: "GB-s",
    grant: 100_000,
    grantFor: "subscription",
    sure: "page",
  },
  alwaysReady: {
    what: "instances that are always ready",
    usd: 0.000004,
    per: 1,
    unit: "GB-s",
    sure: "memory",
  },
  tableOperations: {
    what: "Table Storage, any operation",
    usd: 0.00036,
    per: 10_000,
    unit: "operations",
    sure: "memory",
  },
  queueOperations: {
    what: "Queue Storage, any operation",
    usd: 0.004,
    per: 10_000,
    unit: "operations",
    sure: "memory",
  },
  blobWrites: {
    what: "Blob Storage (hot), writes",
    usd: 0.05,
    per: 10_000,
    unit: "operations",
    sure: "memory",
  },
  blobOthers: {
    what: "Blob Storage (hot), reads and leases",
    usd: 0.004,
    per: 10_000,
    unit: "operations",
    sure: "memory",
  },
  metricAlerts: { what: "metric alerts, a month", usd: 0.1, per: 1, unit: "series", sure: "memory" },
  logAlerts: {
    what: "log alerts each 15 minutes, a month",
    usd: 0.5,
    per: 1,
    unit: "rules",
    sure: "memory",
  },
  logs: {
    what: "Log Analytics, ingestion",
    usd: 2.3,
    per: 1,
    unit: "GB",
    grant: 5,
    grantFor: "billing account",
    sure: "memory",
  },
  privateEndpoints: {
    what: "private endpoints, a month",
    usd: 7.2,
    per: 1,
    unit: "endpoints",
    sure: "memory",
  },
} as const satisfies Record<string, Price>;

export type PriceName = keyof typeof PRICES;
export type Prices = Readonly<Record<PriceName, Price>>;

export const PRICE_NAMES = Object.keys(PRICES).filter((name): name is PriceName => name in PRICES);
