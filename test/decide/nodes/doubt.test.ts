import { describe, expect, test } from "vitest";
import { standingsOf } from "../../../src/decide/nodes/standing.ts";
import { findSpare } from "../../../src/decide/need/spare.ts";
import { nodeId, setName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Draining } from "../../../src/domain/ledger.ts";
import { at, buildNodes, buildSnapshot, NOW, rememberNodes } from "../../support/build-node.ts";
import { buildTarget } from "../../support/build-record.ts";

const two = buildNodes("n", 2);

describe("a stop whose outcome is not known", () => {
  const marked = (by: Draining["by"], more: Partial<Draining> = {}) =>
    rememberNodes(two, { draining: { since: at(-30), by, plan: 6, attempts: 0, ...more } });
  const doubted = (ledger: ReturnType<typeof marked>, ...stopped: readonly string[]) => {
    const seen = { snapshot: buildSnapshot(two), ledger, open: new Set(stopped.map(nodeId)) };
    const standings = standingsOf(seen, DEFAULT_POLICY, NOW);
    return [...standings].flatMap(([id, { kind }]) => (kind === "doubted" ? [id] : [])).join(" ");
  };

  test("puts the node in doubt, by whatever it is idle", () => {
    expect(doubted(marked("idle"), "n1")).toBe("n1");
    expect(doubted(marked("callback", { sentAt: at(-200) }), "n2")).toBe("n2");
    expect(doubted(rememberNodes(two), "n1")).toBe("n1");
  });

  test("does so from the mark of the node's own question on, until that is the trace of a crash", () => {
    expect(doubted(marked("callback", { since: at(-59.999) }))).toBe("n1 n2");
    expect(doubted(marked("callback", { since: at(-60) }))).toBe("");
    expect(doubted(marked("idle"))).toBe("");
  });

  test("does not for a node that is of no use either way, nor for one that the observation does not show", () => {
    for (const by of ["failed", "boot-timeout", "stuck", "unhealthy"] as const)
      expect(doubted(marked(by), "n1")).toBe("");
    expect(doubted(marked("idle"), "n3")).toBe("");
  });
});

test("a node in doubt stands in for no other, and is there for creates", () => {
  const supply = {
    snapshot: buildSnapshot(two),
    ledger: rememberNodes(two),
    inFlight: [],
    pendingCreates: [],
    backoffs: [],
    policy: DEFAULT_POLICY,
    excluded: new Set<never>(),
    now: NOW,
  };
  const demands = [{ set: setName("s"), demand: buildTarget(1) }];
  const spare = (doubted: readonly string[]) =>
    [
      ...findSpare(
        { ...supply, standings: new Map(doubted.map((id) => [nodeId(id), { kind: "doubted" }])) },
        { demands },
        new Set([nodeId("n1")]),
        NOW,
      ).spare,
    ].join(" ");
  expect(spare([])).toBe("n1");
  expect(spare(["n2"])).toBe("");
});
