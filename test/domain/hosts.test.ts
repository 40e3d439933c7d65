import { expect, test } from "vitest";
import { hostFinder } from "../../src/domain/hosts.ts";
import type { SupplyNode } from "../../src/domain/world.ts";
import { arrayName, machineType, nodeId } from "../../src/domain/ids.ts";

const node = (id: string, hostname: string, ready = true): SupplyNode => ({
  nodeId: nodeId(id),
  hostname,
  bucket: { array: arrayName("execute"), machineType: machineType("D4") },
  purpose: { kind: "array" },
  resources: {},
  cores: 4,
  order: 0,
  ready,
});

const nodes = [
  node("n0", "IP-0A000004"),
  node("n1", "web.a.example"),
  node("n2", "WEB.b.example"),
  node("n3", "10.0.0.4"),
  node("n4", "twice", false),
  node("n5", "twice"),
  node("n6", ""),
];

test.each([
  { name: "the same spelling", asked: "IP-0A000004", found: 0 },
  { name: "another case", asked: "ip-0a000004", found: 0 },
  { name: "with a domain", asked: "ip-0a000004.internal.cloudapp.net", found: 0 },
  { name: "exactly, rather than by its first label", asked: "web.b.example", found: 2 },
  { name: "by its first label, the lowest NodeId of several", asked: "web", found: 1 },
  { name: "an address whole", asked: "10.0.0.4", found: 3 },
  { name: "another address with the same beginning", asked: "10.0.0.5", found: undefined },
  { name: "one that is up, of two with one name", asked: "twice", found: 5 },
  { name: "unknown", asked: "login", found: undefined },
  { name: "no name at all", asked: "", found: undefined },
])("$name", ({ asked, found }) => {
  expect(hostFinder(nodes)(asked)).toBe(found);
});
