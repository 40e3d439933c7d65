import type { Catalogue, VmSizes } from "../../domain/catalogue.ts";
import { describeVmSize, sizesIn } from "../../domain/catalogue.ts";
import type { MachineType } from "../../domain/ids.ts";
import { machineType } from "../../domain/ids.ts";
import { readSizeName } from "../constraints/size-name.ts";

/** The quota family of a VM size. Names of families are compared without case: Azure spells some of them both ways. */
export interface Family {
  readonly name: string;
  /** No table knows the size: the family is guessed from the size's name. */
  readonly guessed?: true;
}

/**
 * The quota family of a VM size in a location. CycleCloud's status does not name it (cyclecloud-wire.md A.3), so the size table does: the
 * configured one first, then ours. For a size that neither knows the name is guessed: the family of the sizes that are named alike, if
 * they all have the same one; else a name made of the size's own, in Azure's spelling. A name of another form is a family of its own.
 * With a wrong guess CycleCloud, which knows better, adds fewer nodes than asked.
 */
export function familyOf(catalogue: Catalogue, location: string | undefined, size: MachineType): Family {
  const known = describeVmSize(catalogue, location, size).family;
  if (known !== undefined) return { name: known };
  const name = readSizeName(size);
  if (name === undefined) return { name: size, guessed: true };
  const alike = familiesByName(sizesIn(catalogue, location)).get(name.family + name.version);
  return { name: alike ?? `standard${name.family.toUpperCase()}${name.version}Family`, guessed: true };
}

/** What two spellings of a family's name have in common. */
export function familyKey(name: string): string {
  return name.toLowerCase();
}

/** A table never changes, and reading the names of all its sizes takes a millisecond. */
const known = new WeakMap<VmSizes, ReadonlyMap<string, string | undefined>>();

/** The family of the sizes that are named alike; undefined: they are of several. */
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
