import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { compress } from "../../../src/adapters/tables/compress.ts";
import { ROW_BYTES } from "../../../src/adapters/tables/rows.ts";
import { storedText } from "../../support/stored-text.ts";
import { virtualCodec } from "../../../src/adapters/tables/plan-codec.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import type { VirtualFleet, VirtualNode } from "../../../src/domain/virtual-fleet.ts";
import { at, buildNode, NOW, rememberNode } from "../../support/build-node.ts";

/** Ids like CycleCloud's: 122 bits that nothing compresses. */
const uuid = (n: number): string => {
  const hex = createHash("sha256").update(String(n)).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    "-",
  );
};

function virtualNode(id: string, hostname: string): VirtualNode {
  const { instanceId: _vm, ...node } = buildNode(id, { hostname, privateIp: "10.0.0.4" });
  const { instanceId: _itsVm, ...known } = rememberNode(node, {
    busyness: { state: "busy", since: at(-Number.parseInt(id.slice(0, 3), 16)) },
    lastNeededAt: at(-30),
  });
  return { node, known };
}

const fleetOf = (nodes: readonly VirtualNode[], moved: VirtualFleet["moved"]): VirtualFleet => ({
  at: NOW,
  arrays: [],
  nodes,
  moved,
  boots: [],
  made: 0,
  comparison: { days: [] },
});

test("a fleet comes back as it went in: same and other names, jobs of its own, of another and of no known node", () => {
  const own = virtualNode("a1", "ip-1");
  const { hostname: _none, ...nameless } = own.known;
  const nodes = [
    own,
    { ...virtualNode("a2", "ip-2"), known: nameless },
    { ...virtualNode("a3", "ip-3"), readyAt: at(5) },
  ];
  const moved = [
    { real: nodeId("r9"), to: nodeId("a3") },
    { real: nodeId("a1"), to: nodeId("a1") },
    { real: nodeId("r8"), to: nodeId("gone") },
  ];
  const fleet = fleetOf(nodes, moved);
  expect(virtualCodec.read(storedText(virtualCodec, fleet))).toStrictEqual(fleet);
});

test("a fleet that was stored whole can be read", () => {
  const fleet = fleetOf([virtualNode("a1", "ip-1")], [{ real: nodeId("a1"), to: nodeId("a1") }]);
  expect(virtualCodec.read(JSON.stringify(fleet))).toStrictEqual(fleet);
});

test("10,000 nodes with jobs fit into one row, also where each has the jobs of another real node", async () => {
  const numbers = Array.from({ length: 10_000 }, (_, n) => n);
  const nodes = numbers.map((n) => virtualNode(uuid(n), `ip-${(0x0a000000 + n).toString(16).toUpperCase()}`));
  for (const from of [0, 10_000]) {
    const moved = numbers.map((n) => ({ real: nodeId(uuid(from + n)), to: nodeId(uuid(n)) }));
    const bytes = await compress(storedText(virtualCodec, fleetOf(nodes, moved)));
    expect(bytes.length).toBeLessThan(ROW_BYTES);
  }
});
