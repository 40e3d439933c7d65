/** Where a job goes that asks for a property of a node, or for its opposite: on a cluster that is empty, one that boots, one that runs. */
import { expect, test } from "vitest";
import type { NodeProperty } from "../../src/domain/constraint.ts";
import { NODE_PROPERTIES } from "../../src/domain/constraint.ts";
import { MODES } from "../support/modes.ts";
import type { Cluster, Fields } from "./clusters.ts";
import { tryOut } from "./try-out.ts";

const SIZE = { vcpuCount: 4, memory: 8, gpuCount: 0, infiniband: false };

/** One array of nodes of 4 cores, with these nodes. */
function clusterOf(name: string, nodes: readonly Fields[]): Cluster {
  const bucket = {
    bucketId: "b0",
    definition: { machineType: "Standard_F4s_v2" },
    valid: true,
    activeCount: nodes.length,
    availableCount: 10 - nodes.length,
    maxPlacementGroupSize: 100,
    placementGroups: [],
    virtualMachine: SIZE,
  };
  const nodearray = { Name: "execute", Region: "westus2" };
  const started = { state: "Started", targetState: "Started" };
  return {
    name,
    status: { ...started, nodearrays: [{ name: "execute", nodearray, buckets: [bucket] }], nodes },
    config: {},
  };
}

const BOOTING = {
  NodeId: "af71",
  Name: "execute-1",
  Template: "execute",
  MachineType: "Standard_F4s_v2",
  Status: "Preparing",
  TargetState: "Started",
};
const HOST = { Hostname: "ip-1.example.net", PrivateIp: "10.0.0.4", InstanceId: "vm-1" };
const CLUSTERS: readonly Cluster[] = [
  clusterOf("empty", []),
  clusterOf("booting", [BOOTING]),
  clusterOf("running", [{ ...BOOTING, ...HOST, Status: "Ready" }]),
];

/** To the node that is there, to a new one, or nowhere. */
type Goes = "node" | "new" | "-";

function goesTo(cluster: Cluster, constraint: Fields, mode: (typeof MODES)[number]): Goes {
  const { allocation, problems } = tryOut(cluster, mode, { jobs: [{ name: "j", constraints: constraint }] });
  expect(problems).toEqual([]);
  const [load] = allocation.loads.filter(({ jobs }) => jobs.length > 0);
  if (load === undefined) return "-";
  return load.origin === "existing" ? "node" : "new";
}

type Row = readonly [property: NodeProperty, value: unknown, is: string, isNot: string];

/** Empty, booting and running, for a constraint and for its opposite. */
const ROWS: readonly Row[] = [
  // Of the array and size: the same for each node, whether it exists or not.
  ["nodearray", "execute", "new node node", "- - -"],
  ["bucket_id", "b0", "new node node", "- - -"],
  ["vm_size", "Standard_F4s_v2", "new node node", "- - -"],
  ["vm_family", "standardFSv2Family", "new node node", "- - -"],
  ["location", "westus2", "new node node", "- - -"],
  ["spot", false, "new node node", "- - -"],
  ["vcpu_count", 4, "new node node", "- - -"],
  ["pcpu_count", 2, "new node node", "- - -"],
  ["gpu_count", 0, "new node node", "- - -"],
  ["memory", 8, "new node node", "- - -"],
  ["memory", "memory::8g", "new node node", "- - -"],
  ["infiniband", false, "new node node", "- - -"],
  ["cores_per_socket", 2, "new node node", "- - -"],
  ["placement_group", null, "new node node", "new new new"],
  ["placement_group", "mine", "- - -", "new node node"],
  ["colocated", true, "new new new", "new node node"],
  ["version", "7.9", "new node node", "- - -"],
  ["memory", "4g", "- - -", "new node node"],
  // A new node has these when it exists. One value is that of another node, a pattern may be its own.
  ["name", "execute-1", "- node node", "new new new"],
  ["name", "execute-*", "new node node", "- - -"],
  ["name", "execute-[12]", "- node node", "- - -"],
  ["name", "other-*", "- - -", "new node node"],
  ["hostname", "ip-1", "- - node", "new node new"],
  ["hostname", "ip-*", "- - node", "- node -"],
  ["hostname", null, "- node -", "- - node"],
  ["fqdn", "ip-1.example.net", "- - node", "new node new"],
  ["fqdn", "*.example.net", "- - node", "- node -"],
  ["hostname_or_uuid", "ip-1", "- - node", "new node new"],
  ["hostname_or_uuid", "af71", "- node -", "new new node"],
  ["private_ip", "10.0.0.4", "- - node", "new node new"],
  ["instance_id", "vm-1", "- - node", "new node new"],
  ["create_time", "2025-11-20T10:00:00Z", "- - node", "new node new"],
  ["create_time", "2025-11-20*", "- node node", "- - -"],
  ["create_time_unix", 1_763_636_300, "- node -", "new new node"],
  ["create_time_unix", 0, "- - -", "new node node"],
  ["create_time_remaining", 3500, "- node -", "new new node"],
  ["create_time_remaining", null, "- - node", "- node -"],
  ["create_time_remaining", -1, "- - -", "new node node"],
  ["last_match_time", "2025-11-20T10:59:00Z", "- node node", "new new new"],
  ["last_match_time_unix", 1_763_636_340, "- node node", "new new new"],
  ["last_match_time_unix", null, "- - -", "- node node"],
  // These change when a new node comes up.
  ["exists", true, "- node node", "- - -"],
  ["exists", false, "- - -", "- node node"],
  ["state", "Ready", "- - node", "- node -"],
  ["state", "Off", "- - -", "- node node"],
  ["state", "Preparing", "- node -", "- - node"],
  ["state", "Failed", "- - -", "new node node"],
  ["state", "*", "new node node", "- - -"],
  // No node that a job may use is protected or deleted here.
  ["keep_alive", false, "new node node", "- - -"],
  ["delete_time", null, "new node node", "- - -"],
  ["delete_time", "20*", "- - -", "new node node"],
  ["delete_time_unix", null, "new node node", "- - -"],
];

test("each property is tried", () => {
  const tried = new Set(ROWS.map(([property]) => property));
  expect(NODE_PROPERTIES.filter((property) => !tried.has(property))).toEqual([]);
});

test.each(
  ROWS.flatMap((row) => MODES.slice(0, 3).map((mode) => ({ row, mode, property: row[0], value: row[1] }))),
)(
  "node.$property $value, in $mode.preference and $mode.among",
  ({ row: [property, value, is, isNot], mode }) => {
    const asked = { [`node.${property}`]: value };
    const found = [asked, { not: asked }].map((constraint) =>
      CLUSTERS.map((cluster) => goesTo(cluster, constraint, mode)).join(" "),
    );
    expect(found).toEqual([is, isNot]);
  },
);
