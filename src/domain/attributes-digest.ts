import { canonicalText } from "./canonical.ts";
import type { NodeAttributes } from "./demand.ts";
import type { Digest } from "./ids.ts";
import { digestOf } from "./digest.ts";

/** The digest of the attributes that nodes are created with. Undefined if there are none. */
export function digestOfAttributes(attributes: NodeAttributes | undefined): Digest | undefined {
  if (attributes === undefined || Object.keys(attributes).length === 0) return undefined;
  return digestOf(canonicalText(attributes));
}
