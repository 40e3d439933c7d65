import type { PolicyDocument } from "../api/configuration.ts";
import type { Policy } from "../../domain/policy.ts";
import { writeCaps } from "./caps.ts";
import { writeDefaultResource } from "../constraint/default-resources.ts";
import { writeExclusive } from "./exclusive.ts";
import { writeMode } from "./mode.ts";
import { writeSenders } from "./senders.ts";
import { writePriceTable } from "./price-table.ts";
import { writeEndTimeout, writeTimeout } from "./timeouts.ts";
import { writeSizeTable } from "./vm-sizes.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Named } from "../api/shown.ts";

/** The document for a policy. Reading it gives the same policy. */
export function writePolicy(policy: Policy): PolicyDocument {
  const { downTimeout, failedTimeout, deallocatedTimeout } = policy;
  const { defaultResources, vmSizes, placementGroups, caps, senders, prices } = policy;
  return withoutAbsent({
    $schema: policy.schema,
    idleTimeout: writeTimeout({
      seconds: policy.idleTimeoutSeconds,
      ...withoutAbsent({ byArray: policy.idleTimeouts }),
    }),
    bootTimeout: writeTimeout({
      seconds: policy.bootTimeoutSeconds,
      ...withoutAbsent({ byArray: policy.bootTimeouts }),
    }),
    downTimeout: downTimeout === undefined ? undefined : writeEndTimeout(downTimeout),
    failedTimeout: failedTimeout === undefined ? undefined : writeEndTimeout(failedTimeout),
    deallocatedTimeout: deallocatedTimeout === undefined ? undefined : writeEndTimeout(deallocatedTimeout),
    maxExpirationInterval: policy.maxExpirationSeconds,
    inFlightGrace: policy.inFlightGraceSeconds,
    groupFillTimeout: policy.groupFillTimeoutSeconds,
    nodearrays: policy.nodearrays,
    default_resources: defaultResources?.map(writeDefaultResource),
    vmSizes: vmSizes === undefined ? undefined : writeSizeTable(vmSizes),
    preference: policy.preference,
    among: policy.among,
    mixes: policy.mixes,
    placementGroups: placementGroups === undefined ? undefined : Object.fromEntries(placementGroups),
    caps: caps === undefined ? undefined : writeCaps(caps),
    senders: senders === undefined ? undefined : writeSenders(senders),
    prices: prices === undefined ? undefined : writePriceTable(prices),
    planHistory: policy.planHistorySeconds,
    exclusiveNodearrays: writeExclusive(policy),
    named: policy.namedArrays,
    mode: writeMode(policy),
  } satisfies Named<PolicyDocument>);
}

/** The same with the mode of the app setting, where the document says none. */
export function writeWithMode({ modeIsDefault: _said, ...policy }: Policy): PolicyDocument {
  return writePolicy(policy);
}
