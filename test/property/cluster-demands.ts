import type fc from "fast-check";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { Demand } from "../../src/domain/demand.ts";
import { arrayName } from "../../src/domain/ids.ts";
import { D4, D8 } from "../support/build-node.ts";
import { needing } from "../support/build-constraints.ts";
import type { Features } from "./features.ts";
import type { Vocabulary } from "./random-demands.ts";
import { anyDemands } from "./random-demands.ts";

const memory = (amount: number): Constraint => ({
  kind: "amount",
  resource: "mem",
  amount: { amount, unit: "g" },
});
const of = (
  property: "vcpu_count" | "hostname" | "nodearray",
  ...choices: (string | number)[]
): Constraint => ({
  kind: "property-choice",
  property,
  choices,
});

/** What jobs can say of the clusters of build-random-cluster.ts. */
const WORDS: Vocabulary = {
  arrays: ["execute", "viz"].map(arrayName),
  machineTypes: [D4, D8],
  hosts: ["ip-n0", "ip-n1", "ip-n2"],
  nodes: ["n0", "n1", "execute-1", "x1", "x2"],
  pools: ["licence"],
  mark: "shift",
  needs: [
    needing({ ncpus: 1 }),
    needing({ ncpus: 3 }),
    [...needing({ ncpus: 1 }), memory(6)],
    [...needing({ ncpus: 0.5 }), memory(0.5)],
    needing({ ncpus: 6 }),
  ],
  wishes: [of("vcpu_count", 8, 4), of("hostname", "ip-n1"), of("nodearray", "[!v]*")],
};

/** Demands of every kind for such a cluster, in one set; a third of the targets are of a dynamic array. */
export function anyClusterDemands(features: Features): fc.Arbitrary<readonly Demand[]> {
  return anyDemands(WORDS, features).map((ranked) => ranked.map(({ demand }) => sometimesDynamic(demand)));
}

/** All that name it define it alike: what one message says against itself is refused at the door. */
function sometimesDynamic(demand: Demand): Demand {
  if (demand.kind === "job" || demand.position % 3 !== 0) return demand;
  if (demand.kind === "target" && demand.named !== undefined) return demand;
  const { machineTypes: _sizes, attributes: _attributes, ...rest } = demand;
  return { ...rest, array: arrayName("licensed"), extends: arrayName("viz") };
}
