import { expect, test } from "vitest";
import { readNode } from "../../../src/adapters/cyclecloud/read-node.ts";

const address = { PrivateIp: "10.0.0.4", Hostname: "h" };

test.each([
  { status: "Allocation", unexpected: undefined },
  { status: "Allocating", unexpected: undefined },
  { status: "Acquiring", unexpected: undefined },
  { status: "Preparing", unexpected: undefined },
  { status: "REIMAGING", unexpected: undefined },
  { status: "Restarting", unexpected: undefined },
  { status: "Off", unexpected: true },
  { status: "Terminated", unexpected: true },
  { status: "Deallocated", unexpected: true },
  { status: "WaitingForEviction", unexpected: true },
])("a wanted node that is $status: its Status is unexpected: $unexpected", ({ status, unexpected }) => {
  const node = readNode({ NodeId: "n", TargetState: "Started", Status: status, ...address });
  expect([node?.phase, node?.unexpectedStatus]).toEqual(["coming", unexpected]);
});

test("no Status at all is unexpected; where State stands in for it, Configuration is a way up", () => {
  const wanted = { NodeId: "n", TargetState: "Started", ...address };
  expect(readNode(wanted)?.unexpectedStatus).toBe(true);
  expect(readNode({ ...wanted, State: "Configuration" })).not.toHaveProperty("unexpectedStatus");
});

test.each([
  { name: "up", record: { TargetState: "Started", Status: "Ready", ...address } },
  { name: "without an address yet", record: { TargetState: "Started", Status: "Ready" } },
  { name: "failed", record: { TargetState: "Started", Status: "Failed" } },
  { name: "gone", record: { TargetState: "Terminated", Status: "Off" } },
  { name: "without a TargetState", record: { Status: "Off" } },
])("nothing is unexpected of a node that is $name", ({ record }) => {
  expect(readNode({ NodeId: "n", ...record })).not.toHaveProperty("unexpectedStatus");
});
