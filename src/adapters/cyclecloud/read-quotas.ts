import type { Bucket, Quota } from "../../domain/cluster.ts";
import type { JsonObject } from "./read-fields.ts";
import { readCount } from "./read-fields.ts";

type Quotas = Pick<Bucket, "familyQuota" | "regionalQuota">;

/**
 * The quotas of a bucket (cyclecloud-wire.md A.3). Since some 8.x they are given apart, as `family*` and `regional*`, and these count. Before
 * there was one of each bucket: `quotaCoreCount`, the smaller of the two quotas, and `consumedCoreCount`, what the family uses in the region.
 * Where one of the two is not given apart, it is read from that:
 * - the family's: it allows no more than the smaller quota does, and what is used is its own, so all sizes of the family share it;
 * - the region's, where the family's is larger: what other families use is not known, so that there may be less;
 * - of spot nodes, which have no family quota (0 of 0 means nothing, semantics 2), the region's, unless it is 0.
 */
export function readQuotas(bucket: JsonObject, quotaVcpus: number, spot: boolean): Quotas {
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

/** In cores; where only a count of nodes is given, the cores of that many nodes. */
function readQuota(bucket: JsonObject, keys: Keys, quotaVcpus: number): Quota | undefined {
  const nodes = quotaVcpus > 0 ? readCount(bucket[keys.nodes]) : undefined;
  const quotaCores = readCount(bucket[keys.cores]) ?? (nodes === undefined ? undefined : nodes * quotaVcpus);
  if (quotaCores === undefined) return undefined;
  return { quotaCores, consumedCores: readCount(bucket[keys.consumed]) ?? 0 };
}

function unlessNothing(quota: Quota | undefined): Quota | undefined {
  return quota === undefined || quota.quotaCores === 0 ? undefined : quota;
}

/** The smaller quota is the region's where the family's is larger. */
function regionalBelow(family: Quota | undefined, either: Quota | undefined): Quota | undefined {
  if (family === undefined || either === undefined) return undefined;
  return either.quotaCores < family.quotaCores ? either : undefined;
}
