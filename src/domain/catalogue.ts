import type { MachineType } from "./ids.ts";

/** Facts about a VM size that CycleCloud does not report (scalelib.md 2). */
export interface VmSize {
  /** The quota family. Absent: unknown. */
  readonly family?: string;
  readonly vcpus?: number;
  /** 2: hyper-threaded. */
  readonly vcpusPerCore?: number;
  readonly gpus?: number;
  readonly memoryGib?: number;
  readonly infiniband?: boolean;
}

/** VM sizes by name in lower case, for one location or for all. */
export type VmSizes = ReadonlyMap<string, VmSize>;

/** A table of sizes by location; a location without data may be looked up under another (`proxies`). */
export interface SizeTable {
  readonly locations: ReadonlyMap<string, VmSizes>;
  readonly proxies: ReadonlyMap<string, string>;
}

/** All tables of VM sizes under one configuration. */
export interface Catalogue {
  /** The user's own file. It overrides CycleCloud and our table. */
  readonly override?: SizeTable;
  /** Our table of sizes: the same everywhere, or by location. */
  readonly sizes: VmSizes | SizeTable;
}

/** The catalogue's data about a size, and its source. Never fails. */
export function findVmSize(
  catalogue: Catalogue,
  location: string | undefined,
  machineType: MachineType,
): { readonly authority: "override" | "known" | "unknown"; readonly size: VmSize } {
  const name = machineType.toLowerCase();
  const own = catalogue.override === undefined ? undefined : sizesAt(catalogue.override, location)?.get(name);
  if (own !== undefined) return { authority: "override", size: own };
  const sizes = "locations" in catalogue.sizes ? sizesAt(catalogue.sizes, location) : catalogue.sizes;
  const known = sizes?.get(name);
  return known === undefined ? { authority: "unknown", size: {} } : { authority: "known", size: known };
}

/** All data about a size: from the user's own file, completed from our table. Never fails. Empty for a size that neither has. */
export function describeVmSize(
  catalogue: Catalogue,
  location: string | undefined,
  machineType: MachineType,
): VmSize {
  const { authority, size } = findVmSize(catalogue, location, machineType);
  if (authority !== "override") return size;
  return { ...findVmSize({ sizes: catalogue.sizes }, location, machineType).size, ...size };
}

/** The sizes of our own table in a location. */
export function sizesIn({ sizes }: Catalogue, location: string | undefined): VmSizes {
  return "locations" in sizes ? (sizesAt(sizes, location) ?? EMPTY_SIZES) : sizes;
}

const EMPTY_SIZES: VmSizes = new Map();

/** The proxy of a location counts only if the table has no data for the location itself. */
function sizesAt(table: SizeTable, location: string | undefined): VmSizes | undefined {
  if (location === undefined) return undefined;
  const proxy = table.proxies.get(location) ?? location;
  return table.locations.get(location) ?? table.locations.get(proxy);
}
