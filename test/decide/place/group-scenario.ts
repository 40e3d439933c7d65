import type { BucketOffer } from "../../../src/domain/world.ts";
import type { ShortNode } from "../../support/build-world.ts";
import { node, offer } from "../../support/build-world.ts";

/*
 * A bucket with placement groups, and its nodes.
 */

export const exec = (more: Partial<BucketOffer> = {}) =>
  offer("execute/D4", 4, { 0: 1 }, { maxPlacementGroupSize: 16, ...more });

export const member = (id: string, group: string, more: Partial<ShortNode> = {}) =>
  node({ id, at: `execute/D4/${group}`, group: { key: "execute:2n" }, ...more });
