import { describe, expect, test } from "vitest";
import { applyAction } from "../../../src/decide/stops/scale-down.ts";
import type { NodeId } from "../../../src/domain/ids.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { at, buildNode, buildSnapshot, NOW, rememberNode } from "../../support/build-node.ts";
import { excludedNodes } from "../../../src/decide/nodes/doubt.ts";
import { idle, mark, none, terminate } from "./node-rows.ts";

const isExcluded = (known: LedgerNode, stopping: readonly NodeId[] = []): boolean => {
  const ledger = new Map([[known.nodeId, known]]);
  const excluded = excludedNodes(buildSnapshot(), ledger, new Set(stopping), DEFAULT_POLICY, NOW);
  return excluded.has(known.nodeId);
};

describe("an action on the ledger", () => {
  const known = rememberNode(buildNode("n1"), idle);

  test("a mark notes when, by whom and with which plan", () => {
    expect(applyAction(known, { kind: "mark", by: "idle" }, 7, NOW).draining).toEqual({
      since: NOW,
      by: "idle",
      plan: 7,
      attempts: 0,
    });
  });

  test("a terminate keeps the mark's time and the attempts, and forgets when the last was sent", () => {
    const marked = { ...known, ...mark({ attempts: 2, sentAt: at(-120) }) };
    expect(applyAction(marked, terminate("stuck"), 7, NOW).draining).toEqual({
      since: at(-30),
      by: "stuck",
      plan: 7,
      attempts: 2,
    });
  });

  test("a node that is taken out of draining starts its idle time again", () => {
    const after = applyAction({ ...known, ...mark() }, { kind: "undrain" }, 7, NOW);
    expect(after).toEqual({ ...known, busyness: { state: "unknown", since: NOW } });
  });

  test("nothing to do: the same object", () => {
    expect(applyAction(known, none, 7, NOW)).toBe(known);
  });
});

test.each([
  { name: "not marked", known: {}, excluded: false },
  {
    name: "our own mark for idleness: it can be taken back",
    known: mark({ since: at(-500) }),
    excluded: false,
  },
  {
    name: "a callback's mark: the node may still be told to stay",
    known: mark({ by: "callback" }),
    excluded: false,
  },
  { name: "the mark of an unfit node", known: mark({ by: "unhealthy", since: at(-59.999) }), excluded: true },
  {
    name: "the mark of an unhealthy node that no stop followed",
    known: mark({ by: "unhealthy", since: at(-60) }),
    excluded: false,
  },
  { name: "its terminate was accepted", known: mark({ sentAt: at(-119.999) }), excluded: true },
  { name: "its terminate had no effect in time", known: mark({ sentAt: at(-120) }), excluded: false },
])("a node is no capacity while it is being stopped: $name -> $excluded", ({ known, excluded }) => {
  expect(isExcluded(rememberNode(buildNode("n1"), known))).toBe(excluded);
});

test.each([
  { by: "idle", excluded: false },
  { by: "callback", excluded: false },
  { by: "unhealthy", excluded: true },
  { by: "boot-timeout", excluded: false },
  { by: "failed", excluded: false },
] as const)("a node with a committed stop, $by, is no capacity for that: $excluded", ({ by, excluded }) => {
  const known = rememberNode(buildNode("n1"), mark({ by, sentAt: at(-500) }));
  expect(isExcluded(known, [nodeId("n1")])).toBe(excluded);
});
