import { NODE_PROPERTIES } from "../../src/domain/constraint.ts";
import type { Fields } from "./clusters.ts";
import type { Try } from "./inputs.ts";
import { constraintTry } from "./inputs.ts";

type Value = string | number | boolean | null;

/** For each property of a node a value that a node of one of the clusters has, or a new one would have. */
export const PROPERTY_VALUES: Readonly<Record<(typeof NODE_PROPERTIES)[number], Value>> = {
  name: "execute-2",
  nodearray: "execute",
  bucket_id: "bucket of Standard_D4s_v5",
  vm_size: "Standard_D4s_v5",
  vm_family: "standardDSv5Family",
  hostname: "ip-execute-2",
  fqdn: "ip-execute-2",
  hostname_or_uuid: "ip-execute-2",
  private_ip: "10.0.0.4",
  instance_id: "vm of execute-2",
  location: "westus2",
  spot: true,
  vcpu_count: 4,
  pcpu_count: 44,
  gpu_count: 1,
  memory: 16,
  infiniband: true,
  state: "Ready",
  exists: true,
  colocated: false,
  placement_group: null,
  keep_alive: false,
  create_time_unix: 1_763_632_800,
  last_match_time_unix: 1_763_636_340,
  delete_time_unix: null,
  create_time: "2025-11-20T10:00:00Z",
  last_match_time: "2025-11-20T10:59:00Z",
  delete_time: null,
  create_time_remaining: 3500,
  cores_per_socket: 2,
  version: "7.9",
};

/** Each property with the value of a node, with one that no node has, and turned round. */
export const PROPERTY_TRIES: readonly Try[] = NODE_PROPERTIES.flatMap((property) => {
  const value = PROPERTY_VALUES[property];
  const none = typeof value === "string" ? "no-such" : -77;
  return [
    constraintTry(`node.${property}`, { [`node.${property}`]: value }),
    constraintTry(`node.${property} of no node`, { [`node.${property}`]: none }, 2),
    constraintTry(`node.${property}, not`, { not: { [`node.${property}`]: value } }, 2),
    constraintTry(`no node.${property}`, { [`node.${property}`]: null }, 2),
    constraintTry(`any node.${property}`, { not: { [`node.${property}`]: null } }, 2),
  ];
});

const of = (name: string, keys: Fields, others: readonly Fields[] = []): Try => ({
  name: `${String(keys["Name"])}: ${name}`,
  message: { nodearrays: [keys, ...others] },
});

/** Every attribute of a node array alone, for one array of each cluster. */
export const NODEARRAY_TRIES: readonly Try[] = [
  ...["execute", "htc", "hpc", "lowprio"].flatMap((Name) => [
    of("TargetCount", { Name, TargetCount: 3 }),
    of("TargetCount of nothing", { Name, TargetCount: 0 }),
    of("too large a TargetCount", { Name, TargetCount: 1000 }),
    of("TargetCoreCount", { Name, TargetCoreCount: 20 }),
    of("groups of nodes", { Name, TargetGroupCount: 2, GroupInstanceCount: 2 }),
    of("groups of cores", { Name, TargetGroupCount: 1, GroupCoreCount: 8 }),
    of("too large a group", { Name, TargetGroupCount: 1, GroupInstanceCount: 200 }),
    of("MachineType", { Name, TargetCount: 2, MachineType: "Standard_D4s_v5" }),
    of("MachineType list", { Name, TargetCount: 2, MachineType: ["Standard_F16", "Standard_D4s_v5"] }),
    of("Configuration", { Name, TargetCount: 2, Configuration: { licence: "x" } }),
    of("Interruptible", { Name, TargetCount: 2, Interruptible: true }),
    of("another attribute", { Name, TargetCount: 8, ImageName: "cycle.image.ubuntu22" }),
    of("a dynamic array", { Name: `${Name}-own`, Dynamic: true, Extends: Name, TargetCount: 2 }),
    of("a dynamic array of spot nodes", {
      Name: `${Name}-spot`,
      Dynamic: true,
      Extends: Name,
      TargetCount: 3,
      Interruptible: true,
    }),
    of("two targets", { Name, TargetCount: 2 }, [{ Name, TargetCoreCount: 16 }]),
  ]),
  { name: "one array without a list", message: { nodearrays: { Name: "execute", TargetCount: 2 } } },
  {
    name: "Extends that is not there",
    message: { nodearrays: [{ Name: "mine", Dynamic: true, Extends: "exe", TargetCount: 1 }] },
  },
];
