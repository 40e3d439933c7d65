import type { Catalogue, VmSizes } from "../../domain/catalogue.ts";
import { describeVmSize, sizesIn } from "../../domain/catalogue.ts";
import type { MachineType } from "../../domain/ids.ts";
import { machineType } from "../../domain/ids.ts";

/** The quota family of a VM size. Its name has any case of letters, because Azure spells some names in two ways. */
export interface Family {
  readonly name: string;
  /** No table has the size. The family is guessed from the size's name. */
  readonly guessed?: true;
}

/**
 * The quota family of a VM size in a location. CycleCloud's status does not have it (cyclecloud-wire.md A.3), so it comes from the size table:
 * the configured one, else ours. If neither has the size, the family is guessed: the one that all sizes with a similar name have, else a name
 * in Azure's spelling. A size whose name has another form is its own family. After a wrong guess CycleCloud adds fewer nodes than requested.
 */
export function familyOf(catalogue: Catalogue, location: string | undefined, size: MachineType): Family {
  const known = describeVmSize(catalogue, location, size).family;
  if (known !== undefined) return { name: known };
  const name = readSizeName(size);
  if (name === undefined) return { name: size, guessed: true };
  const alike = familiesByName(sizesIn(catalogue, location)).get(name.family + name.version);
  return { name: alike ?? `standard${name.family.toUpperCase()}${name.version}Family`, guessed: true };
}

/** A key that is equal for all spellings of a family's name. */
export function familyKey(name: string): string {
  return name.toLowerCase();
}

/** Results by table: a table never changes, and to read all its names takes a millisecond. */
const known = new WeakMap<VmSizes, ReadonlyMap<string, string | undefined>>();

/** The family of all sizes with a similar name. Undefined if they have several. */
function familiesByName(sizes: VmSizes): ReadonlyMap<string, string | undefined> {
  const earlier = known.get(sizes);
  if (earlier !== undefined) return earlier;
  const families = new Map<string, string | undefined>();
  for (const [size, { family }] of sizes) {
    const name = readSizeName(machineType(size));
    if (name === undefined || family === undefined) continue;
    const key = name.family + name.version;
    families.set(key, !families.has(key) || families.get(key) === family ? family : undefined);
  }
  known.set(sizes, families);
  return families;
}

const FORM = /^(?:standard_|basic_)?([a-z]+?)(\d+)(?:-(\d+))?([a-z]*)((?:_[a-z0-9]+)*)$/;

/** What the name of a VM size means by the naming rules of Azure. Used only for sizes that are in no table. */
interface SizeName {
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
