import { groupPrefix } from "./limits.ts";
import type { SimulatedNode } from "./node.ts";
import type { Bucket } from "./world.ts";

/**
 * The attributes that each placement group's nodes must share: those of its first node, until the group is empty again.
 * A node of other attributes never gets its VM (cyclecloud-wire.md A.6).
 */
export class ScaleSets {
  readonly #mustMatch: boolean;
  readonly #groups = new Map<string, { readonly signature: string; readonly nodes: number }>();

  constructor(mustMatch: boolean) {
    this.#mustMatch = mustMatch;
  }

  /** The permanent message of a new node with this signature. Undefined if the signature matches. */
  findMismatch(bucket: Bucket, group: string | undefined, signature: string): string | undefined {
    if (group === undefined || !this.#mustMatch) return undefined;
    const known = this.#groups.get(groupPrefix(bucket) + group);
    if (known === undefined || known.signature === signature) return undefined;
    return "This node does not match existing scaleset attributes: Configuration";
  }

  /** `change` is 1 for a node that joins its group and -1 for one that leaves it. */
  count(node: SimulatedNode, change: 1 | -1): void {
    if (node.bucket === undefined || node.group === undefined) return;
    const key = groupPrefix(node.bucket) + node.group;
    const known = this.#groups.get(key);
    const nodes = (known?.nodes ?? 0) + change;
    if (nodes === 0) this.#groups.delete(key);
    else this.#groups.set(key, { signature: known?.signature ?? node.signature, nodes });
  }
}
