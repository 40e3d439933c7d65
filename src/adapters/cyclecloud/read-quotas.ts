import type { StatusBucket, Quota } from "../../domain/cluster.ts";
import type { JsonObject } from "./read-fields.ts";
import { readCount } from "./read-fields.ts";

type Quotas = Pick<StatusBucket, "familyQuota" | "regionalQuota">;

/**
 * The quotas of a bucket (cyclecloud-wire.md A.3). Some 8.x releases began to report them separately, as `family*` and `regional*`; these
 * take precedence. Before, each bucket had only `quotaCoreCount`, the smaller of the two quotas, and `consumedCoreCount`, the use of the
 * family in the region. A quota that is not reported separately is derived from those:
 * - the family's: it allows no more than the smaller quota, and its use is its own, so all sizes of the family share it;
 * - the region's, if the family's is larger: the use of other families is unknown, so less may be available;
 * - for spot nodes, which have no family quota (0 of 0 has no meaning, semantics 2): the region's, unless it is 0.
 */
export function readQuotas(
  bucket: JsonObject,
  quotaVcpus: number,
  { spot }: { readonly spot: boolean },
): Quotas {
  const family = spot ? undefined : readQuota(bucket, KEYS.family, quotaVcpus);
  const regional = readQuota(bucket, KEYS.regional, quotaVcpus);
  const either = readQuota(bucket, KEYS.either, quotaVcpus);
  const familyQuota = family ?? (spot ? undefined : either);
  const regionalQuota = regional ?? (spot ? unlessNothing(either) : regionalBelow(family, either));
  return {
    ...(familyQuota === undefined ? {} : { familyQuota }),
    ...(regionalQuota === undefined ? {} : { regionalQuota }),
  };
}

interface Keys {
  readonly cores: string;
  readonly nodes: string;
  readonly consumed: string;
}

const KEYS = {
  family: { cores: "familyQuotaCoreCount", nodes: "familyQuotaCount", consumed: "familyConsumedCoreCount" },
  regional: {
    cores: "regionalQuotaCoreCount",
    nodes: "regionalQuotaCount",
    consumed: "regionalConsumedCoreCount",
  },
  either: { cores: "quotaCoreCount", nodes: "quotaCount", consumed: "consumedCoreCount" },
} as const satisfies Readonly<Record<string, Keys>>;

/** In cores. If only a count of nodes is given, the cores of that many nodes. */
function readQuota(bucket: JsonObject, keys: Keys, quotaVcpus: number): Quota | undefined {
  const nodes = quotaVcpus > 0 ? readCount(bucket[keys.nodes]) : undefined;
  const quotaCores = readCount(bucket[keys.cores]) ?? (nodes === undefined ? undefined : nodes * quotaVcpus);
  if (quotaCores === undefined) return undefined;
  return { quotaCores, consumedCores: readCount(bucket[keys.consumed]) ?? 0 };
}

function unlessNothing(quota: Quota | undefined): Quota | undefined {
  return quota === undefined || quota.quotaCores === 0 ? undefined : quota;
}

/** The smaller quota is the region's if the family's is larger. */
function regionalBelow(family: Quota | undefined, either: Quota | undefined): Quota | undefined {
  if (family === undefined || either === undefined) return undefined;
  return either.quotaCores < family.quotaCores ? either : undefined;
}
