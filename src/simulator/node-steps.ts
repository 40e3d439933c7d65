import type { Step } from "./agenda.ts";
import type { Fleet } from "./fleet.ts";
import { failNode } from "./mishaps.ts";
import type { Address, SimulatedNode } from "./node.ts";
import { describeNode } from "./node.ts";
import { drawUuid } from "./random.ts";

/** What time does to nodes: their way from Allocation to Ready, and from a stop until they are gone (cyclecloud-wire.md A.5). */

const bootTimeoutMessage = "Timeout awaiting system boot-up";

/** Takes every step that is due at `now`, in order of time. */
export function takeDueSteps(fleet: Fleet, now: number): void {
  for (;;) {
    const step = fleet.agenda.takeDue(now);
    if (step === undefined) return;
    takeStep(fleet, step);
  }
}

function takeStep(fleet: Fleet, { kind, node, at }: Step): void {
  switch (kind) {
    case "show":
      if (!fleet.holdBack(node)) fleet.show(node);
      return;
    case "unveil":
      if (!fleet.holdBack(node)) fleet.unveil(node);
      return;
    case "acquire":
      return acquire(fleet, node, at);
    case "raise":
      return raise(fleet, node, at);
    case "finish-start":
      return finishStart(fleet, node, at);
    case "finish-termination":
      return finishTermination(fleet, node, at);
    case "finish-deallocation":
      return finishDeallocation(fleet, node, at);
    case "forget":
      return fleet.forget(node);
  }
}

function acquire(fleet: Fleet, node: SimulatedNode, at: number): void {
  node.status = "Acquiring";
  node.message = node.fate.stuckMessage;
  fleet.change(node);
  if (node.fate.start !== "never-acquires") fleet.agenda.schedule(node, "raise", at + node.fate.acquire);
}

/** The VM is up. A node that was deallocated has kept its network interface, and with it its address. */
function raise(fleet: Fleet, node: SimulatedNode, at: number): void {
  const address = node.address ?? fleet.holdings.lendAddress(drawUuid(fleet.random));
  node.status = "Preparing";
  node.address = address;
  node.upAt = at;
  fleet.change(node);
  const { hostname, privateIp, instanceId } = address;
  fleet.agenda.schedule(node, "finish-start", at + node.fate.prepare);
  fleet.emit({ kind: "node-up", ...describeNode(node, at), hostname, privateIp, instanceId });
}

function finishStart(fleet: Fleet, node: SimulatedNode, at: number): void {
  if (node.fate.start === "fails-installation") return failNode(fleet, node, bootTimeoutMessage, at);
  const { hostname, instanceId } = requireAddress(node);
  node.status = "Ready";
  node.wasReady = true;
  fleet.change(node);
  const { configuration } = node;
  fleet.emit({ kind: "node-ready", ...describeNode(node, at), hostname, instanceId, configuration });
}

function requireAddress({ name, address }: SimulatedNode): Address {
  if (address === undefined) throw new Error(`node ${name} finishes its start without an address`);
  return address;
}

function finishTermination(fleet: Fleet, node: SimulatedNode, at: number): void {
  if (fleet.random() < (fleet.options.terminationFailureShare ?? 0)) {
    const message = "Failed to delete the virtual machine";
    node.status = "Failed";
    node.message = message;
    node.failedAt = at;
    fleet.change(node);
    fleet.emit({ kind: "node-failed", ...describeNode(node, at), phase: "terminating", message });
    return;
  }
  fleet.releaseVm(node, "terminated", at);
  const { retainedTerminatedSeconds } = fleet.world.quirks;
  if (node.array === undefined) node.status = "Off";
  else if (retainedTerminatedSeconds === 0) fleet.forget(node);
  else {
    node.status = "Terminated";
    fleet.agenda.schedule(node, "forget", at + retainedTerminatedSeconds * 1000);
  }
  fleet.roster.touch(node);
}

function finishDeallocation(fleet: Fleet, node: SimulatedNode, at: number): void {
  fleet.emit({ kind: "node-deallocated", ...describeNode(node, at) });
  node.status = "Deallocated";
  node.upAt = undefined;
  fleet.holdings.releaseCapacity(node);
  if (!fleet.world.quirks.deallocatedHoldsQuota) fleet.holdings.releaseQuota(node);
  fleet.change(node);
}
