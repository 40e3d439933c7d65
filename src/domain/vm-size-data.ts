import type { Catalogue, SizeTable, VmSize, VmSizes } from "./catalogue.ts";
import table from "./vm-sizes.json" with { type: "json" };
import { withoutAbsent } from "./without-absent.ts";

/** Azure's VM sizes known to this release. infra/make-vm-sizes.ts makes the table. */
const KNOWN_VM_SIZES: VmSizes = new Map(
  Object.entries(table).map(([name, row]): [string, VmSize] => [name, readRow(row)]),
);

/** The VM sizes under a configuration: its own table, completed from ours. */
export function catalogueOf({ vmSizes }: { readonly vmSizes?: SizeTable }): Catalogue {
  return { sizes: KNOWN_VM_SIZES, ...withoutAbsent({ override: vmSizes }) };
}

/** One row of the script: family, vCPUs, vCPUs per core, GiB, GPUs, InfiniBand. */
function readRow([family, vcpus, perCore, memoryGib, gpus, infiniband]: readonly (
  | string
  | number
)[]): VmSize {
  return {
    ...(typeof family === "string" && family !== "" ? { family } : {}),
    vcpus: Number(vcpus),
    // 0: not known.
    ...(perCore === 0 ? {} : { vcpusPerCore: Number(perCore) }),
    gpus: Number(gpus),
    memoryGib: Number(memoryGib),
    infiniband: infiniband === 1,
  };
}
