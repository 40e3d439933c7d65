import { describe, expect, test } from "vitest";
import { standingsOf } from "../../../src/decide/nodes/standing.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY, type Policy } from "../../../src/domain/policy.ts";
import type { Ledger, LedgerNode } from "../../../src/domain/ledger.ts";
import {
  at,
  buildLedger,
  buildNode,
  buildNodes,
  buildSnapshot,
  notOurs,
  NOW,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";

function uselessIn(nodes: readonly Node[], ledger: Ledger, policy: Policy = DEFAULT_POLICY) {
  const standings = [
    ...standingsOf({ snapshot: buildSnapshot(nodes), ledger, open: new Set() }, policy, NOW),
  ];
  const [replaced, kept] = (["replaced", "kept"] as const).map((which) =>
    standings.flatMap(([id, { kind }]) => (kind === which ? [id] : [])),
  );
  return { replaced, kept };
}

const counts = (nodes: readonly Node[], more: Partial<LedgerNode> = {}) => {
  const { replaced, kept } = uselessIn(nodes, rememberNodes(nodes, more));
  return [replaced?.length, kept?.length];
};

describe("nodes of no use: at most a tenth of an array is replaced at a time, and at least 3", () => {
  const failed = (count: number) => buildNodes("f", count, { phase: "failed" });
  test.each([
    { name: "three of four", of: 4, useless: 4, replaced: 3 },
    { name: "three of 39", of: 39, useless: 20, replaced: 3 },
    { name: "four of 40", of: 40, useless: 20, replaced: 4 },
    { name: "ten of 100", of: 100, useless: 40, replaced: 10 },
    { name: "all, if they are fewer", of: 100, useless: 2, replaced: 2 },
  ])("$name", ({ of, useless, replaced }) => {
    const nodes = [...failed(useless), ...buildNodes("n", of - useless)];
    expect(counts(nodes)).toEqual([replaced, useless - replaced]);
  });

  test("each array by itself; nodes without a VM do not count", () => {
    const others = buildNodes("g", 4, { phase: "failed", array: arrayName("gpu") });
    const off = buildNodes("o", 100, { phase: "off" });
    expect(counts([...failed(4), ...others, ...off])).toEqual([6, 2]);
  });

  const mixed = (nodes: readonly Node[], policy: Policy = DEFAULT_POLICY) => {
    const ledger = buildLedger(
      nodes.map((node) => (node.nodeId.startsWith("x") ? notOurs(rememberNode(node)) : rememberNode(node))),
    );
    return uselessIn(nodes, ledger, policy);
  };

  test("failed nodes of another tool, which we never stop, take no turn of ours", () => {
    const { replaced, kept } = mixed([...buildNodes("x", 5, { phase: "failed" }), ...failed(4)]);
    expect([replaced, kept]).toEqual([
      ["x1", "x2", "x3", "f1", "f2", "f3"],
      ["x4", "x5", "f4"],
    ]);
  });

  test("40 of ours and 40 of another tool: a tenth of either", () => {
    const { replaced } = mixed([
      ...buildNodes("x", 10, { phase: "failed" }),
      ...buildNodes("xn", 30),
      ...failed(10),
      ...buildNodes("n", 30),
    ]);
    expect(replaced).toEqual(["x1", "x2", "x3", "x4", "f1", "f2", "f3", "f4"]);
  });

  test("in an array that no other tool manages, all nodes share one tenth", () => {
    const nodes = [...buildNodes("x", 2, { phase: "failed" }), ...failed(4)];
    const { replaced } = mixed(nodes, { ...DEFAULT_POLICY, exclusiveArrays: true });
    expect(replaced).toEqual(["x1", "x2", "f1"]);
  });

  test("one on which a job is reported or placed is not replaced, and does not count against the limit", () => {
    const nodes = failed(5);
    const ledger = buildLedger(
      nodes.map((node, i) =>
        rememberNode(node, i === 0 ? { busyness: { state: "busy", since: at(-90) } } : {}),
      ),
    );
    const { replaced, kept } = uselessIn(nodes, ledger);
    expect([replaced, kept]).toEqual([
      ["f2", "f3", "f4"],
      ["f1", "f5"],
    ]);
  });
});

test.each<{ name: string; node: Partial<Node>; known?: Partial<LedgerNode>; useless: number }>([
  { name: "up", node: {}, useless: 0 },
  { name: "on its way up", node: { phase: "coming" }, known: { firstSeenAt: at(-3599) }, useless: 0 },
  { name: "not Ready in time", node: { phase: "coming" }, known: { firstSeenAt: at(-3600) }, useless: 1 },
  {
    name: "not Ready in time, and missing in the observation",
    node: { phase: "coming", missing: { since: NOW, observations: 1 } },
    known: { firstSeenAt: at(-3600) },
    useless: 1,
  },
  { name: "unclear", node: { phase: "unknown" }, known: { unclearSince: at(-3599) }, useless: 0 },
  {
    name: "unclear, and long since first seen",
    node: { phase: "unknown" },
    known: { firstSeenAt: at(-9000), unclearSince: at(-3599) },
    useless: 0,
  },
  {
    name: "unclear for too long",
    node: { phase: "unknown" },
    known: { unclearSince: at(-3600) },
    useless: 1,
  },
  {
    name: "down",
    node: { phase: "coming", status: "Off", unexpectedStatus: true },
    known: { firstReadyAt: at(-9000), leftReadyAt: at(-60) },
    useless: 1,
  },
  { name: "going", node: { phase: "going" }, useless: 0 },
])("of no use: $name: $useless", ({ node: more, known, useless }) => {
  const node = buildNode("n1", more);
  expect(counts([node], known)).toEqual([useless, 0]);
});
