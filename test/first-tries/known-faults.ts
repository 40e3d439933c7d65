import type { Cluster, Fields } from "./clusters.ts";
import { CLUSTERS } from "./clusters.ts";
import type { Mode } from "./try-out.ts";

/** A fault that the tries found and that is not mended yet. Once it is, its test fails: then it belongs out of this list. */
export interface KnownFault {
  readonly what: string;
  /** The smallest input that shows it. */
  readonly example: { readonly cluster: Cluster | undefined; readonly mode: Mode; readonly message: Fields };
  readonly isIt: (fault: string, cluster: Cluster, mode: Mode) => boolean;
}

const IN_USE = CLUSTERS.find(({ name }) => name === "nodes in use");
const RAISE = /would place all of it" (is not enough|does not help in a dry run)$/;

export const KNOWN_FAULTS: readonly KnownFault[] = [
  {
    what: "the raise that a target needs is worked out in the order of arrays, where the cheapest bucket would get it",
    example: {
      cluster: IN_USE,
      mode: { preference: "existing-first", among: "cheapest" },
      message: { nodearrays: [{ Name: "execute", TargetCoreCount: 60 }] },
    },
    isIt: (fault, _, { among }) =>
      fault.startsWith("tries/nodearray:") && among === "cheapest" && RAISE.test(fault),
  },
];
