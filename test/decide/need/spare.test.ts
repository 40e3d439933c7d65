import { expect, test } from "vitest";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import { at, buildNode, rememberNode } from "../../support/build-node.ts";
import { orderOf } from "../../../src/decide/world/build-world.ts";

const node = buildNode("n1", { phase: "coming" });
const order = (more: Partial<LedgerNode>): number => orderOf(node, rememberNode(node, more));

test.each<{
  readonly name: string;
  readonly first: Partial<LedgerNode>;
  readonly second: Partial<LedgerNode>;
}>([
  {
    name: "the older one, be it by a millisecond and of a later request",
    first: { firstSeenAt: at(0), askedAfter: 7 },
    second: { firstSeenAt: at(0.001) },
  },
  {
    name: "of two that showed up at once the one of the earlier request",
    first: { firstSeenAt: at(0) },
    second: { firstSeenAt: at(0), askedAfter: 1 },
  },
  {
    name: "also far down a long list of requests",
    first: { firstSeenAt: at(0), askedAfter: 298 },
    second: { firstSeenAt: at(0), askedAfter: 299 },
  },
])("of nodes on their way up is used first: $name", ({ first, second }) => {
  expect(order(first)).toBeLessThan(order(second));
});

test("beyond so many requests all are alike, and never younger than what came a millisecond later", () => {
  expect(order({ firstSeenAt: at(0), askedAfter: 5000 })).toBe(
    order({ firstSeenAt: at(0), askedAfter: 499 }),
  );
  expect(order({ firstSeenAt: at(0), askedAfter: 5000 })).toBeLessThan(order({ firstSeenAt: at(0.001) }));
});
