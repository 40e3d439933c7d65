import type { NameWhy } from "../../domain/allocation.ts";
import type { Bin } from "../bins/bin-columns.ts";
import type { Bins } from "../bins/bins.ts";

/** The bins of one try by the names of their nodes, as far as targets name nodes. */
export class NamedBins {
  /** Why a name has no node here, or has one that is not as it was asked for. */
  readonly why = new Map<string, NameWhy>();
  #byName: Map<string, Bin> | undefined;

  /** The bin of the node with this name: one that exists, else one that was requested or is planned. */
  of(bins: Bins, name: string): Bin | undefined {
    return (this.#byName ??= indexOf(bins)).get(name);
  }

  /** Notes a node that the plan creates. */
  add(bins: Bins, name: string, bin: Bin): void {
    (this.#byName ??= indexOf(bins)).set(name, bin);
  }
}

function indexOf(bins: Bins): Map<string, Bin> {
  const byName = new Map<string, Bin>();
  for (const bin of bins.inFlight) {
    const purpose = bins.purpose[bin];
    if (purpose?.kind === "named") byName.set(purpose.name, bin);
  }
  for (const bin of [...bins.inFlight, ...bins.deallocated, ...bins.existing]) {
    const name = bins.node(bin)?.name;
    if (name !== undefined) byName.set(name, bin);
  }
  return byName;
}
