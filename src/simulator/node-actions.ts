import { capacityMessage } from "./fate.ts";
import type { Fleet } from "./fleet.ts";
import type { SimulatedNode } from "./node.ts";
import { describeNode } from "./node.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

/** What requests do to existing nodes (cyclecloud-wire.md A.5, A.7). */

/** Begins to delete the node's VM. No effect on a node that is already going or gone. */
export function terminateNode(
  fleet: Fleet,
  node: SimulatedNode,
  requestId: string | undefined,
  now: number,
): void {
  const goingAlready = node.targetState === "Terminated" && node.status !== "Failed";
  if (goingAlready) return;
  fleet.unveil(node);
  fleet.emit({
    kind: "terminate-accepted",
    ...describeNode(node, now),
    ...withoutAbsent({ requestId }),
  });
  node.targetState = "Terminated";
  node.status = "Terminating";
  beginStop(fleet, node);
  fleet.agenda.schedule(node, "finish-termination", now + node.fate.terminate);
}

/** Begins to switch the node's VM off and to keep its disks. No effect on a node that is being stopped. */
export function deallocateNode(
  fleet: Fleet,
  node: SimulatedNode,
  requestId: string | undefined,
  now: number,
): void {
  if (node.targetState !== "Started") return;
  fleet.unveil(node);
  fleet.emit({ kind: "deallocate-accepted", ...describeNode(node, now), ...withoutAbsent({ requestId }) });
  node.targetState = "Deallocated";
  node.status = "Stopping";
  beginStop(fleet, node);
  fleet.agenda.schedule(node, "finish-deallocation", now + node.fate.terminate);
}

function beginStop(fleet: Fleet, node: SimulatedNode): void {
  node.message = undefined;
  node.failedAt = undefined;
  fleet.holdings.releaseActive(node);
  fleet.change(node);
}

/**
 * Begins to start a deallocated node. Returns the reason if it cannot. No effect on a node whose target state is Started. The limits of
 * array and cluster do not apply here (cyclecloud-wire.md A.3, semantics 3). Without capacity the node waits for ever (A.5).
 */
export function startNode(
  fleet: Fleet,
  node: SimulatedNode,
  requestId: string | undefined,
  now: number,
): string | undefined {
  if (node.targetState === "Started") return undefined;
  if (node.refusesStart !== undefined) return node.refusesStart;
  if (node.status !== "Deallocated") return `The node is ${node.status} and cannot be started`;
  const shortage = fleet.holdings.findQuotaShortage(node);
  if (shortage !== undefined) return shortage;
  const { startRefusalShare: refused = 0 } = fleet.options;
  if (refused > 0 && fleet.random() < refused) return "The virtual machine could not be started";
  fleet.emit({
    kind: "start-accepted",
    ...describeNode(node, now),
    ...withoutAbsent({ requestId }),
  });
  fleet.veil(node);
  node.targetState = "Started";
  node.status = "Acquiring";
  node.wasReady = false;
  fleet.holdings.takeActive(node);
  fleet.holdings.takeQuota(node);
  const acquires = node.fate.start !== "never-acquires" && fleet.holdings.takeCapacity(node, now);
  node.message = acquires ? undefined : (node.fate.stuckMessage ?? capacityMessage);
  fleet.change(node);
  if (node.veil !== undefined) fleet.agenda.schedule(node, "unveil", now + node.fate.lag);
  if (acquires) fleet.agenda.schedule(node, "raise", now + node.fate.acquire);
  return undefined;
}

/**
 * Restarts or reimages the node's VM. Returns the reason if it cannot: only nodes of scale sets, which array nodes are, that are up or
 * failed (cyclecloud-wire.md A.2, 8.8). The node is Ready again after its time to prepare.
 */
export function cycleNode(
  fleet: Fleet,
  node: SimulatedNode,
  how: "Restarting" | "Reimaging",
  now: number,
): string | undefined {
  if (node.array === undefined) return "The node is not part of a scale set";
  if (node.address === undefined || node.targetState !== "Started")
    return `The node is ${node.status} and has no VM to work on`;
  fleet.unveil(node);
  node.status = how;
  node.message = undefined;
  node.failedAt = undefined;
  fleet.change(node);
  fleet.agenda.schedule(node, "finish-start", now + node.fate.prepare);
  return undefined;
}

/** Begins the failed phase of a node again. No effect on a node that has not failed. */
export function retryNode(fleet: Fleet, node: SimulatedNode, now: number): void {
  if (node.status !== "Failed") return;
  if (node.targetState === "Terminated") {
    terminateNode(fleet, node, undefined, now);
    return;
  }
  node.status = node.address === undefined ? "Acquiring" : "Preparing";
  node.message = undefined;
  node.failedAt = undefined;
  fleet.change(node);
  if (node.address !== undefined) fleet.agenda.schedule(node, "finish-start", now + node.fate.prepare);
  else if (node.fate.start !== "never-acquires")
    fleet.agenda.schedule(node, "raise", now + node.fate.acquire);
}
