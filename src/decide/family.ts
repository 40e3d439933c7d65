import type { MachineType } from "../domain/ids.ts";

const sizeName = /^(?:standard_|basic_)?([a-z]+?)(\d+)(?:-\d+)?([a-z]*)((?:_[a-z0-9]+)*)$/;

/**
 * The quota family of a VM size, worked out from its name, as the status does not say it (cyclecloud-wire.md A.3): series letters,
 * features and version, without the core counts, so that "Standard_HB120-16rs_v3" and "Standard_HB120rs_v3" share one quota. The
 * spelling follows Azure's ("standardHBv3Family"). A name of another form is a family of its own: then its quota is shared with nobody,
 * and CycleCloud, which knows better, adds fewer nodes than asked.
 */
export function familyOf(machineType: MachineType): string {
  const match = sizeName.exec(machineType.toLowerCase());
  if (match === null) return machineType;
  const [, series = "", , features = "", rest = ""] = match;
  const version = /_v\d+$/.exec(rest)?.[0] ?? "";
  const accelerator = rest.slice(0, rest.length - version.length).replaceAll("_", "");
  const shared = (series + sharedFeatures(series, features) + accelerator).toUpperCase();
  return `standard${shared}${version.slice(1)}Family`;
}

/** Letters that do not make another family: the memory variants of A, B, M and NV, RDMA in the N series, and both in the H series. */
function sharedFeatures(series: string, features: string): string {
  if (series.startsWith("h")) return features.replace(/^m?rs?$|^m$/, "");
  if (/^(?:a|b|m|nv|ng)$/.test(series)) return features.replace(/[mlt]/g, "");
  return series.startsWith("n") ? features.replace("r", "") : features;
}
