import type { MachineType } from "../../domain/ids.ts";

const FORM = /^(?:standard_|basic_)?([a-z]+?)(\d+)(?:-(\d+))?([a-z]*)((?:_[a-z0-9]+)*)$/;

/** What the name of a VM size means by the naming rules of Azure. Used only for sizes that are in no table. */
export interface SizeName {
  /** vCPUs. Of a constrained size, the usable ones. All sizes since 2017 have the number in their names. */
  readonly vcpus: number;
  /** Series, features, accelerator and version without the numbers of cores, in lower case. Sizes that share it are usually of one family. */
  readonly family: string;
  readonly version: string;
}

/** Reads the name of a VM size. Undefined if it has another form. */
export function readSizeName(machineType: MachineType): SizeName | undefined {
  const match = FORM.exec(machineType.toLowerCase());
  if (match === null) return undefined;
  const [, series = "", cores = "", usable = cores, features = "", rest = ""] = match;
  const suffix = /_v\d+$/.exec(rest)?.[0] ?? "";
  const accelerator = rest.slice(0, rest.length - suffix.length).replaceAll("_", "");
  const version = suffix.slice(1);
  const family = series + familyFeatures(series, features, version) + accelerator;
  return { vcpus: Number(usable), family, version };
}

/**
 * The letters of the features that distinguish families. Left out are the memory variants of A, B, M and NV, RDMA in the N series, and both
 * in the H series. Later versions of the H series also leave out the "s".
 */
function familyFeatures(series: string, features: string, version: string): string {
  if (series.startsWith("h")) return features.replace(version === "" ? /[mr]/g : /[mrs]/g, "");
  if (/^(?:a|b|m|nv|ng)$/.test(series)) return features.replace(/[mlt]/g, "");
  return series.startsWith("n") ? features.replace("r", "") : features;
}
