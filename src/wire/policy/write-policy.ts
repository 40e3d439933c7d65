import type { Policy } from "../../domain/policy.ts";
import { writeCaps } from "./caps.ts";
import { writeDefaultResource } from "../constraint/default-resources.ts";
import { writeExclusive } from "./exclusive.ts";
import type { ModeDocument } from "./mode.ts";
import { storedMode, writeMode } from "./mode.ts";
import { writeSenders } from "./senders.ts";
import { writePriceTable } from "./price-table.ts";
import { writeTimeout } from "./timeouts.ts";
import { writeSizeTable } from "./vm-sizes.ts";

/** A cluster's configuration document, as written and as GET shows it. Durations in seconds. */
export interface PolicyDocument {
  /** Where editors find the JSON Schema of the document; kept as it is. */
  readonly $schema?: string;
  /** One number, or an object by node array: "default" and the arrays that have their own. */
  readonly idleTimeout: number | Readonly<Record<string, number>>;
  readonly bootTimeout: number | Readonly<Record<string, number>>;
  readonly maxExpirationInterval: number;
  readonly inFlightGrace: number;
  readonly groupFillTimeout: number;
  readonly nodearrays?: readonly string[];
  readonly default_resources?: readonly object[];
  readonly vmSizes?: object;
  readonly preference: Policy["preference"];
  readonly among: Policy["among"];
  readonly placementGroups?: object;
  readonly caps?: object;
  readonly senders?: readonly object[];
  readonly prices?: object;
  readonly planHistory: number;
  /** Node arrays that no other tool manages. `true`: all arrays. */
  readonly exclusiveNodearrays?: true | readonly string[];
  /** One mode, or an object by node array, "default" for the others. Absent: AUTOSCALER_DEFAULT_MODE counts. */
  readonly mode?: ModeDocument;
}

/** The document for a policy. Reading it gives the same policy. */
export function writePolicy(policy: Policy): PolicyDocument {
  return {
    ...(policy.schema === undefined ? {} : { $schema: policy.schema }),
    idleTimeout: writeTimeout({
      seconds: policy.idleTimeoutSeconds,
      ...(policy.idleTimeouts === undefined ? {} : { byArray: policy.idleTimeouts }),
    }),
    bootTimeout: writeTimeout({
      seconds: policy.bootTimeoutSeconds,
      ...(policy.bootTimeouts === undefined ? {} : { byArray: policy.bootTimeouts }),
    }),
    maxExpirationInterval: policy.maxExpirationSeconds,
    inFlightGrace: policy.inFlightGraceSeconds,
    groupFillTimeout: policy.groupFillTimeoutSeconds,
    ...(policy.nodearrays === undefined ? {} : { nodearrays: policy.nodearrays }),
    ...(policy.defaultResources === undefined
      ? {}
      : { default_resources: policy.defaultResources.map(writeDefaultResource) }),
    ...(policy.vmSizes === undefined ? {} : { vmSizes: writeSizeTable(policy.vmSizes) }),
    preference: policy.preference,
    among: policy.among,
    ...(policy.placementGroups === undefined
      ? {}
      : { placementGroups: Object.fromEntries(policy.placementGroups) }),
    ...(policy.caps === undefined ? {} : { caps: writeCaps(policy.caps) }),
    ...(policy.senders === undefined ? {} : { senders: writeSenders(policy.senders) }),
    ...(policy.prices === undefined ? {} : { prices: writePriceTable(policy.prices) }),
    planHistory: policy.planHistorySeconds,
    ...writeExclusive(policy),
    ...writeMode(policy),
  };
}

/** The stored document: the content of {@link writePolicy}, in a form that the release before this one reads if possible. */
export function storedPolicy(policy: Policy): object {
  const { mode: _shown, ...rest } = writePolicy(policy);
  return { ...rest, ...storedMode(policy) };
}
