import { withoutPlacementGroup } from "../../domain/attributes.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { Node } from "../../domain/cluster.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import { digestOfAttributes } from "../../domain/digest.ts";
import type { ArrayName, Digest, SetName } from "../../domain/ids.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import type { Dynamics } from "./dynamic-arrays.ts";

/** The attributes that the demand in force asks for in one node array. */
interface Asked {
  /** Undefined: one without attributes. */
  readonly attributes: Set<Digest | undefined>;
  /** The sets that ask for nothing but node arrays: they alone say what a node without attributes was made for. */
  readonly sets: Set<SetName>;
  /** Idle nodes with others are replaced. */
  replaces: boolean;
}

/** Finds nodes that were made with other attributes than their node array is asked for with now. A change counts for new nodes only. */
export class OldNodes {
  readonly #asked = new Map<ArrayName, Asked>();

  constructor(demands: readonly RankedDemand[], dynamics: Dynamics) {
    const withJobs = new Set(demands.flatMap(({ set, demand }) => (demand.kind === "job" ? [set] : [])));
    for (const { set, demand } of demands) {
      if (demand.kind === "job") continue;
      const asked = this.#of(demand.array);
      if (!withJobs.has(set)) asked.sets.add(set);
      if (demand.kind === "target" && demand.replaceWhenIdle === true) asked.replaces = true;
      if (!dynamics.has(demand.array)) asked.attributes.add(digestOf(demand.attributes));
    }
    // With the attributes of the arrays that it extends.
    for (const { name, definition } of dynamics.values())
      if (definition !== undefined) this.#of(name).attributes.add(digestOf(definition.attributes));
  }

  /** Whether idle nodes of an array are replaced. */
  get replaces(): boolean {
    return [...this.#asked.values()].some((asked) => asked.replaces);
  }

  /** Whether this is such a node, and is replaced once it is idle. */
  isReplaced(node: Node, known: LedgerNode): boolean {
    return this.#asked.get(arrayOf(known))?.replaces === true && this.isOld(node, known);
  }

  /**
   * Whether this is such a node. Of one without a request of ours the attributes are not known. Groups have attributes of their own and stay
   * whole, and named nodes are their scheduler's.
   */
  isOld({ phase }: Pick<Node, "phase">, known: LedgerNode): boolean {
    const { kind } = known.purpose;
    if (kind !== "array" && kind !== "dynamic") return false;
    if (known.requestId === undefined || phase === "off" || phase === "going") return false;
    const asked = this.#asked.get(arrayOf(known));
    if (asked === undefined || asked.attributes.size === 0 || asked.attributes.has(known.look)) return false;
    if (known.look !== undefined || kind === "dynamic") return true;
    // Jobs make nodes without attributes.
    const sets = known.firstNeeded?.sets ?? [];
    return sets.length > 0 && sets.every((set) => asked.sets.has(set));
  }

  #of(array: ArrayName): Asked {
    const asked = this.#asked.get(array) ?? { attributes: new Set(), sets: new Set(), replaces: false };
    this.#asked.set(array, asked);
    return asked;
  }
}

/** The node array that a node counts for. */
export const arrayOf = ({ purpose, array }: Pick<LedgerNode, "purpose" | "array">): ArrayName =>
  dynamicArrayOf(purpose) ?? array;

const digestOf = (attributes: Parameters<typeof withoutPlacementGroup>[0]): Digest | undefined =>
  digestOfAttributes(withoutPlacementGroup(attributes));
