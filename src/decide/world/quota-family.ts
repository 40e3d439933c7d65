import type { Catalogue, VmSizes } from "../../domain/catalogue.ts";
import { describeVmSize, sizesIn } from "../../domain/catalogue.ts";
import type { MachineType } from "../../domain/ids.ts";
import { machineType } from "../../domain/ids.ts";
import { readSizeName } from "../constraints/size-name.ts";

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
