import { expect, test } from "vitest";
import { findLacking } from "../../../src/decide/nodes/missing.ts";
import { standingsOf } from "../../../src/decide/nodes/standing.ts";
import { followNodes } from "../../../src/decide/nodes/ledger.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { at, buildNode, buildNodes, buildSnapshot, NOW, rememberNodes } from "../../support/build-node.ts";

const lacking = (count: number) => buildNodes("u", count, { phase: "unknown", noTargetState: true });

test.each([
  { name: "four of four: too few to tell", without: 4, others: 0, found: undefined },
  { name: "five of ten: half", without: 5, others: 5, found: undefined },
  { name: "five of nine", without: 5, others: 4, found: [5, 9] },
])("records without TargetState: $name", ({ without, others, found }) => {
  const snapshot = buildSnapshot([...lacking(without), ...buildNodes("n", others)]);
  const lack = findLacking({}, snapshot);
  expect(lack === undefined ? undefined : [lack.lacking, lack.of]).toEqual(found);
});

test("such a status is not believed for ten minutes from the first of an unbroken line", () => {
  const snapshot = buildSnapshot(lacking(5));
  expect(findLacking({}, snapshot)).toMatchObject({ since: NOW, until: at(600) });
  expect(findLacking({ targetStatesLackedSince: at(-599) }, snapshot)).toMatchObject({ until: at(1) });
});

test("a node is unclear from the first observation that shows it so, until one shows it clearly", () => {
  const clear = buildNode("n1");
  const unclear = buildNode("n1", { phase: "unknown" });
  const observation = (nodes: readonly (typeof clear)[]) => ({
    snapshot: buildSnapshot(nodes),
    requestNodes: new Map(),
  });
  const since = (ledger: ReturnType<typeof rememberNodes>) => [...ledger.values()][0]?.unclearSince;
  const first = followNodes(
    { ledger: rememberNodes([clear]), isRestart: false },
    observation([unclear]),
    [],
    new Map(),
    at(0),
  );
  expect(since(first)).toBe(at(0));
  const second = followNodes(
    { ledger: first, isRestart: false },
    observation([unclear]),
    [],
    new Map(),
    at(60),
  );
  expect(second).toBe(first);
  expect(
    since(followNodes({ ledger: second, isRestart: false }, observation([clear]), [], new Map(), at(120))),
  ).toBeUndefined();
});

test("an unclear node is in doubt for the boot timeout; then it counts as there only if too many others are replaced", () => {
  const nodes = lacking(4);
  const doubted = (seconds: number) => {
    const ledger = rememberNodes(nodes, { unclearSince: at(-seconds) });
    const standings = standingsOf(
      { snapshot: buildSnapshot(nodes), ledger, open: new Set() },
      DEFAULT_POLICY,
      NOW,
    );
    return [...standings].flatMap(([id, { kind }]) => (kind === "replaced" ? [] : [id])).join(" ");
  };
  expect(doubted(3599)).toBe("u1 u2 u3 u4");
  expect(doubted(3600)).toBe("u4");
});
