import { expect, test } from "vitest";
import { readStatus } from "../../../src/adapters/cyclecloud/read-status.ts";
import { autostopPath, stopKeyReader } from "../../../src/decide/autostop/autostop-token.ts";
import { followNodes } from "../../../src/decide/nodes/ledger.ts";
import { arrayName, clusterName, nodeId } from "../../../src/domain/ids.ts";
import { ownershipText } from "../../../src/domain/exclusive.ts";
import { NOW } from "../../support/build-node.ts";

const prod = clusterName("prod");
const keys = {
  current: "k2",
  byId: new Map([
    ["k1", "one secret"],
    ["k2", "another secret"],
  ]),
};
const urlOf = (current: string, cluster = "prod", array = "hpc", secrets = keys.byId) =>
  autostopPath("https://app.example", clusterName(cluster), arrayName(array), { current, byId: secrets });

function shown(configuration: unknown) {
  const node = {
    NodeId: "n1",
    Name: "hpc-1",
    Template: "hpc",
    TargetState: "Started",
    Status: "Ready",
    PrivateIp: "10.0.0.4",
    Configuration: configuration,
  };
  const status = { nodearrays: [{ name: "hpc", nodearray: {}, buckets: [] }], nodes: [node] };
  const reading = readStatus(status, prod, NOW, stopKeyReader(prod, keys));
  if (reading.kind === "malformed") throw new Error(reading.path);
  return reading.snapshot;
}

const others = new Map([["k1", "a secret of others"]]);

test.each([
  { name: "by the newest key", configuration: { autoscale: { stop_callback: urlOf("k2") } }, key: "k2" },
  {
    name: "by an older key, under the longer name",
    configuration: { cyclecloud: { cluster: { autoscale: { stop_callback: urlOf("k1") } } } },
    key: "k1",
  },
  {
    name: "signed with a secret that we do not know",
    configuration: { autoscale: { stop_callback: urlOf("k1", "prod", "hpc", others) } },
  },
  { name: "of another cluster", configuration: { autoscale: { stop_callback: urlOf("k2", "test") } } },
  { name: "of another array", configuration: { autoscale: { stop_callback: urlOf("k2", "prod", "htc") } } },
  { name: "CycleCloud's own URL", configuration: { autoscale: { stop_callback: "https://cc/stop" } } },
  { name: "a number", configuration: { autoscale: { stop_callback: 7 } } },
  { name: "no Configuration", configuration: undefined },
])("the key of a node's stop URL: $name", ({ configuration, key }) => {
  const snapshot = shown(configuration);
  expect(snapshot.nodes[0]?.stopKey).toBe(key);
  expect(JSON.stringify(snapshot)).not.toContain("stop_callback");
});

test("after a lost record a node with our stop URL is ours, and stays so when an observation lacks its Configuration", () => {
  const observation = (configuration: unknown) => ({
    snapshot: shown(configuration),
    requestNodes: new Map(),
  });
  const first = followNodes(
    { ledger: new Map(), isRestart: false },
    observation({ autoscale: { stop_callback: urlOf("k1") } }),
    [],
    new Map(),
    NOW,
  );
  const second = followNodes({ ledger: first, isRestart: false }, observation(undefined), [], new Map(), NOW);
  const bare = followNodes(
    { ledger: new Map(), isRestart: false },
    observation(undefined),
    [],
    new Map(),
    NOW,
  );
  const wordsOf = (ledger: typeof first) =>
    [...ledger.values()].map((known) => ownershipText(known, { exclusiveArrays: [] }));
  expect(wordsOf(first)).toEqual(["ours: it carries our stop URL"]);
  expect(second.get(nodeId("n1"))?.keyId).toBe("k1");
  expect(wordsOf(bare)).toEqual([
    "not ours: another tool made it, and exclusiveNodearrays does not cover hpc",
  ]);
});
