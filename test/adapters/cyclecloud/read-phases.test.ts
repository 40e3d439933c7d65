import { expect, test } from "vitest";
import { readNode } from "../../../src/adapters/cyclecloud/read-node.ts";

test.each([
  {
    name: "Ready with an address",
    status: "Ready",
    target: "Started",
    address: { PrivateIp: "10.0.0.4" },
    phase: "ready",
  },
  {
    name: "Started with a host name only",
    status: "Started",
    target: "Started",
    address: { Hostname: "h" },
    phase: "ready",
  },
  { name: "Ready without an address", status: "Ready", target: "Started", address: {}, phase: "coming" },
  { name: "just added", status: "Allocation", target: "Started", address: {}, phase: "coming" },
  { name: "waiting for capacity", status: "Acquiring", target: "Started", address: {}, phase: "coming" },
  {
    name: "installing",
    status: "Preparing",
    target: "Started",
    address: { PrivateIp: "10.0.0.4" },
    phase: "coming",
  },
  {
    name: "a Status nobody knows",
    status: "Levitating",
    target: "Started",
    address: { PrivateIp: "10.0.0.4" },
    phase: "coming",
  },
  {
    name: "reimaging",
    status: "Reimaging",
    target: "Started",
    address: { PrivateIp: "10.0.0.4" },
    phase: "coming",
  },
  {
    name: "started again from deallocated",
    status: "Deallocated",
    target: "Started",
    address: {},
    phase: "coming",
  },
  {
    name: "failed while starting",
    status: "Failed",
    target: "Started",
    address: { PrivateIp: "10.0.0.4" },
    phase: "failed",
  },
  {
    name: "failed, as the documentation calls it",
    status: "Error",
    target: "Started",
    address: {},
    phase: "failed",
  },
  {
    name: "evicted or without capacity",
    status: "Unavailable",
    target: "Started",
    address: {},
    phase: "failed",
  },
  {
    name: "termination failed",
    status: "Failed",
    target: "Terminated",
    address: { PrivateIp: "10.0.0.4" },
    phase: "going",
  },
  { name: "deallocation failed", status: "Failed", target: "Deallocated", address: {}, phase: "going" },
  {
    name: "Ready but told to go",
    status: "Ready",
    target: "Terminated",
    address: { PrivateIp: "10.0.0.4" },
    phase: "going",
  },
  { name: "terminating", status: "Terminating", target: "Terminated", address: {}, phase: "going" },
  { name: "deallocating", status: "Stopping", target: "Deallocated", address: {}, phase: "going" },
  { name: "terminated, still listed", status: "Terminated", target: "Terminated", address: {}, phase: "off" },
  { name: "off", status: "Off", target: "Terminated", address: {}, phase: "off" },
  { name: "deallocated", status: "Deallocated", target: "Deallocated", address: {}, phase: "deallocated" },
  {
    name: "no target, though Ready",
    status: "Ready",
    target: undefined,
    address: { PrivateIp: "10.0.0.4" },
    phase: "unknown",
  },
  {
    name: "no target, a word that we do not know",
    status: "Odd",
    target: undefined,
    address: {},
    phase: "unknown",
  },
  {
    name: "a target that we do not know, though Ready",
    status: "Ready",
    target: "Reticulated",
    address: { PrivateIp: "10.0.0.4" },
    phase: "unknown",
  },
  {
    name: "a target that we do not know, off",
    status: "Off",
    target: "Reticulated",
    address: {},
    phase: "off",
  },
  { name: "a target in another case", status: "Off", target: "TERMINATED", address: {}, phase: "off" },
  { name: "no target, off", status: "Off", target: undefined, address: {}, phase: "off" },
  { name: "no target, terminating", status: "Terminating", target: undefined, address: {}, phase: "going" },
  { name: "no target, failed", status: "Failed", target: undefined, address: {}, phase: "failed" },
  {
    name: "a word that we do not know, wanted",
    status: "Odd",
    target: "Started",
    address: {},
    phase: "coming",
  },
  {
    name: "a word that we do not know, not wanted",
    status: "Odd",
    target: "Terminated",
    address: {},
    phase: "going",
  },
])("phase of a node: $name -> $phase", ({ status, target, address, phase }) => {
  const record = {
    NodeId: "n",
    Status: status,
    ...(target === undefined ? {} : { TargetState: target }),
    ...address,
  };
  expect(readNode(record)?.phase).toBe(phase);
});

test("without a Status the State counts", () => {
  expect(
    readNode({ NodeId: "n", State: "Started", TargetState: "Started", PrivateIp: "10.0.0.4" })?.phase,
  ).toBe("ready");
});

test.each([
  { name: "a number", memory: 448, gib: 448 },
  { name: "a number as text", memory: "3.5", gib: 3.5 },
  { name: "gigabytes", memory: "448 GB", gib: 448 },
  { name: "megabytes", memory: "512m", gib: 0.5 },
  { name: "terabytes", memory: "2TiB", gib: 2048 },
  { name: "no amount at all", memory: "plenty", gib: undefined },
])("memory given as $name", ({ memory, gib }) => {
  expect(readNode({ NodeId: "n", Memory: memory })?.memoryGib).toBe(gib);
});
