import { groupPrefix } from "./limits.ts";
import type { SimulatedNode } from "./node.ts";
import type { Quirks } from "./options.ts";
import type { Bucket } from "./world.ts";

/**
 * The attributes that all nodes of a placement group must have: those of its first node, until the group is empty again. A node with other
 * attributes never gets its VM (cyclecloud-wire.md A.6).
 */
export class ScaleSets {
  readonly #mustMatch: boolean;
  readonly #groups = new Map<string, { readonly signature: string; readonly nodes: number }>();

  constructor({ scaleSetAttributesMustMatch }: Pick<Quirks, "scaleSetAttributesMustMatch">) {
    this.#mustMatch = scaleSetAttributesMustMatch;
  }

  /** The permanent message of a new node with this signature. Undefined if the signature matches. */
  findMismatch(bucket: Bucket, group: string | undefined, signature: string): string | undefined {
    if (group === undefined || !this.#mustMatch) return undefined;
    const known = this.#groups.get(groupPrefix(bucket) + group);
    if (known === undefined || known.signature === signature) return undefined;
    return "This node does not match existing scaleset attributes: Configuration";
  }

  join(node: SimulatedNode): void {
    this.#count(node, 1);
  }

  leave(node: SimulatedNode): void {
    this.#count(node, -1);
  }

  #count(node: SimulatedNode, change: 1 | -1): void {
    if (node.bucket === undefined || node.group === undefined) return;
    const key = groupPrefix(node.bucket) + node.group;
    const known = this.#groups.get(key);
    const nodes = (known?.nodes ?? 0) + change;
    if (nodes === 0) this.#groups.delete(key);
    else this.#groups.set(key, { signature: known?.signature ?? node.signature, nodes });
  }
}
