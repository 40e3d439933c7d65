import { describe, expect, test } from "vitest";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import { settle } from "../../../src/decide/intents/settle.ts";
import { withStopKeys } from "../../../src/decide/nodes/stop-keys.ts";
import { nodeId, requestId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import {
  at,
  buildLedger,
  buildNode,
  buildNodes,
  buildSnapshot,
  notOurs,
  rememberNode,
} from "../../support/build-node.ts";
import { BUCKET, buildIntent, buildState, OURS } from "../../support/build-record.ts";
import type { Evidence } from "../../../src/decide/intents/evidence.ts";

/** Which key's stop URL a node carries, from the create that made it. */

const R1 = requestId("r-1");
const create = buildIntent("r-1", {
  effect: { kind: "create", sets: [{ bucket: BUCKET, count: 2, purpose: { kind: "array" } }] },
});

/** The ledger of two nodes after their create was settled and an observation shows them. */
function nodesAfter(evidence: Evidence) {
  const { record, bodies } = buildState({ record: { intents: [create] } });
  const settled = settle({ record, ledger: bodies.ledger }, R1, evidence, at(5));
  const nodes = buildNodes("n", 2);
  const observation = {
    snapshot: buildSnapshot(nodes, { at: at(60) }),
    requestNodes: new Map([[R1, { askedAt: at(60), nodes }]]),
  };
  const decision = decide(
    settled.record,
    { ...bodies, ledger: settled.ledger },
    observation,
    DEFAULT_POLICY,
    at(60),
    OURS,
  );
  return {
    keys: [...decision.ledger.values()].map(({ keyId }) => keyId),
    counts: decision.record.stopKeys,
    decision,
    bodies,
    nodes,
  };
}

describe("a node's key", () => {
  test("comes from the answer to its create, and is counted with the plan", () => {
    const { keys, counts } = nodesAfter({ kind: "accepted", sets: [{ added: 2 }], keyId: "k2" });
    expect(keys).toEqual(["k2", "k2"]);
    expect(counts).toEqual([{ keyId: "k2", nodes: 2 }]);
  });

  test("also where the answer was lost and the request is found", () => {
    expect(nodesAfter({ kind: "found", keyId: "k2" }).keys).toEqual(["k2", "k2"]);
  });

  test("is not known if it is unknown which instance sent the create; then nothing is counted", () => {
    const { keys, counts } = nodesAfter({ kind: "found" });
    expect(keys).toEqual([undefined, undefined]);
    expect(counts).toBeUndefined();
  });

  test("stays when its request is over, and when the node changes", () => {
    const { decision, bodies } = nodesAfter({ kind: "accepted", sets: [{ added: 2 }], keyId: "k2" });
    const renamed = buildNodes("n", 2, { hostname: "other" });
    const observation = { snapshot: buildSnapshot(renamed, { at: at(120) }), requestNodes: new Map() };
    const later = decide(
      decision.record,
      { ...bodies, ledger: decision.ledger },
      observation,
      DEFAULT_POLICY,
      at(120),
      OURS,
    );
    expect(later.ledger.get(nodeId("n1"))).toMatchObject({ keyId: "k2", hostname: "other" });
  });
});

test("only live nodes of ours are counted, by key", () => {
  const { record } = buildState({ record: { stopKeys: [{ keyId: "gone", nodes: 9 }] } });
  const ours = { requestId: R1 };
  const ledger = buildLedger([
    rememberNode(buildNode("a"), { ...ours, keyId: "k1" }),
    rememberNode(buildNode("b"), { ...ours, keyId: "k2" }),
    rememberNode(buildNode("c"), { ...ours, keyId: "k2" }),
    rememberNode(buildNode("d"), ours),
    rememberNode(buildNode("e"), { ...ours, keyId: "k1", goneAt: at(-60) }),
    notOurs(rememberNode(buildNode("f"))),
  ]);
  expect(withStopKeys(record, ledger).stopKeys).toEqual([
    { keyId: "k1", nodes: 1 },
    { keyId: "k2", nodes: 2 },
    { nodes: 1 },
  ]);
  expect(withStopKeys(record, new Map())).not.toHaveProperty("stopKeys");
});
