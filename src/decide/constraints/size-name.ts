import type { MachineType } from "../../domain/ids.ts";

const FORM = /^(?:standard_|basic_)?([a-z]+?)(\d+)(?:-(\d+))?([a-z]*)((?:_[a-z0-9]+)*)$/;

/** What Azure's rules for names say of a VM size. Only sizes that no table knows are read this way. */
export interface SizeName {
  /** vCPUs: of a constrained size those that can be used. All sizes since 2017 are named after them. */
  readonly vcpus: number;
  /** Series, features, accelerator and version without the numbers of cores, in lower case: sizes that share it are usually of one family. */
  readonly family: string;
  readonly version: string;
}

/** Undefined: the name has another form, and says nothing. */
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
 * The letters that make another family. These do not: the memory variants of A, B, M and NV, RDMA in the N series, and both in the H series,
 * whose later versions leave out the "s", too.
 */
function familyFeatures(series: string, features: string, version: string): string {
  if (series.startsWith("h")) return features.replace(version === "" ? /[mr]/g : /[mrs]/g, "");
  if (/^(?:a|b|m|nv|ng)$/.test(series)) return features.replace(/[mlt]/g, "");
  return series.startsWith("n") ? features.replace("r", "") : features;
}
