import type { SimulatorVariant } from "./cyclecloud-simulator.ts";

/**
 * Each option of the simulator for which the reference marks the behaviour unknown or varying, away from its default. Variants of one group do
 * not exclude each other.
 */
export const VARIANTS: readonly {
  readonly name: string;
  readonly group: 1 | 2 | 3;
  readonly variant: SimulatorVariant;
}[] = [
  {
    name: "a status without head nodes, and an operation's nodes at once",
    group: 1,
    variant: { visibilityLagSeconds: 20, quirks: { headNodesInStatus: false, operationNodesLag: false } },
  },
  { name: "nodes show late", group: 2, variant: { visibilityLagSeconds: 20 } },
  { name: "operations can be looked up late", group: 2, variant: { quirks: { operationsLagSeconds: 15 } } },
  { name: "409 without content", group: 1, variant: { quirks: { conflictBody: "empty" } } },
  { name: "409 as a page", group: 2, variant: { quirks: { conflictBody: "html" } } },
  { name: "errors without content", group: 1, variant: { quirks: { errorBody: "empty" } } },
  { name: "errors as a page", group: 2, variant: { quirks: { errorBody: "html" } } },
  {
    name: "KeepAlive left out of the answer",
    group: 3,
    variant: { quirks: { keepAliveTerminate: "silently-omitted" } },
  },
  {
    name: "terminated records stay listed",
    group: 1,
    variant: { quirks: { retainedTerminatedSeconds: 600 } },
  },
  { name: "request ids in node records", group: 2, variant: { quirks: { requestIdInStatus: true } } },
  {
    name: "unknown request: empty list of nodes",
    group: 3,
    variant: { quirks: { unknownRequestNodes: "empty" } },
  },
  {
    name: "unknown request: 404 for operations",
    group: 3,
    variant: { quirks: { unknownRequestOperations: 404 } },
  },
  {
    name: "unknown request: 404 as a page",
    group: 2,
    variant: { quirks: { unknownRequestOperations: 404, unknownRequestNodes: 404, errorBody: "html" } },
  },
  {
    name: "request ids of create and terminate apart",
    group: 3,
    variant: { quirks: { managementIdsShareNamespace: false } },
  },
  { name: "fields of a newer version", group: 1, variant: { quirks: { newFields: true } } },
  { name: "record keys in lower case", group: 2, variant: { quirks: { keyCase: "lower" } } },
  {
    name: "fields of an older version missing",
    group: 3,
    variant: {
      quirks: {
        omitBucketFields: [
          "lastCapacityFailure",
          "spotPlacementScore",
          "invalidReason",
          "familyQuotaCoreCount",
          "activeNodes",
        ],
        omitNodeFields: ["CoreCount", "Memory", "Hostname", "State"],
      },
    },
  },
  {
    name: "Configuration merged one level deep",
    group: 3,
    variant: { quirks: { configurationMerge: "one-level" } },
  },
  {
    name: "scale set attributes need not match",
    group: 3,
    variant: { quirks: { scaleSetAttributesMustMatch: false } },
  },
];

/** The variants of a group at once. */
export function together(group: number): SimulatorVariant {
  const variants = VARIANTS.filter((one) => one.group === group).map(({ variant }) => variant);
  const quirks = Object.assign({}, ...variants.map((variant) => variant.quirks));
  return Object.assign({}, ...variants, { quirks });
}
