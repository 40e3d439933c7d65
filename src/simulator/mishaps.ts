import type { Fleet } from "./fleet.ts";
import type { SimulatedNode } from "./node.ts";
import { describeNode } from "./node.ts";

/** What goes wrong with nodes: failures, shutdowns and restarts from inside, and VMs that disappear. */

/** A health event on a running node, or a failed start of one that was not Ready (cyclecloud-wire.md A.5). */
export function failNode(fleet: Fleet, node: SimulatedNode, message: string, now: number): void {
  if (node.targetState !== "Started") return;
  fleet.unveil(node);
  node.status = "Failed";
  node.message = message;
  node.failedAt = now;
  fleet.change(node);
  const phase = node.wasReady ? "running" : "starting";
  fleet.emit({ kind: "node-failed", ...describeNode(node, now), phase, message });
}

/** The node is shut down from inside. A VM that is stopped and not deallocated keeps its quota, its capacity and its address. */
export function shutDownNode(fleet: Fleet, node: SimulatedNode, now: number): void {
  if (node.targetState !== "Started" || node.status !== "Ready") return;
  takeDown(fleet, node, "Off", now);
}

/** The node restarts and is Ready again after its time to prepare. No effect on a node that never was Ready, or that is being stopped. */
export function restartNode(fleet: Fleet, node: SimulatedNode, now: number): void {
  if (!canRestart(node)) return;
  takeDown(fleet, node, "Restarting", now);
  fleet.agenda.schedule(node, "finish-start", now + node.fate.prepare);
}

/** The node restarts and stays in Restarting for ever. No effect on the same nodes as above. */
export function hangInRestart(fleet: Fleet, node: SimulatedNode, now: number): void {
  if (canRestart(node)) takeDown(fleet, node, "Restarting", now);
}

function canRestart({ targetState, wasReady }: SimulatedNode): boolean {
  return targetState === "Started" && wasReady;
}

function takeDown(fleet: Fleet, node: SimulatedNode, status: "Off" | "Restarting", now: number): void {
  fleet.unveil(node);
  node.status = status;
  node.message = undefined;
  node.failedAt = undefined;
  fleet.change(node);
  fleet.emit({ kind: "node-down", ...describeNode(node, now), status });
}

/** The VM disappears without a request to CycleCloud, and the node with it. */
export function vanishNode(fleet: Fleet, node: SimulatedNode, now: number): void {
  if (!node.holdsQuota) return;
  fleet.unveil(node);
  fleet.releaseVm(node, "vanished", now);
  fleet.forget(node);
}
