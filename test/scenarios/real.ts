import type { LocalSystem } from "../../src/local/system.ts";
import { readStopUrl } from "../../src/local/play/stop-url.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { sendDemand } from "../../src/client/send.ts";
import type { ReadyNode } from "./ready-nodes.ts";
import type { ClusterState } from "./state.ts";
import { readState } from "./state.ts";
import { PATIENCE_MS } from "../support/patience.ts";

/** What these tests do with a running system: everything goes over HTTP. */

/** Polls every 20 ms until `isSo`. Fails after this many real seconds, and names what it waited for. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  realSeconds = PATIENCE_MS / 1000,
): Promise<void> {
  const end = Date.now() + realSeconds * 1000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${realSeconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Replaces a request set over HTTP. Fails unless it is accepted. */
export async function put(system: LocalSystem, message: DemandMessage, url = system.url): Promise<void> {
  await sendDemand({ api: { url, key: system.keys.host } }, message, { now: system.clock.now() });
}

/** Runs a tick of the cluster now, on one of the hosts. Returns the kind of the outcome. */
export async function tick(system: LocalSystem, cluster: string, url = system.url): Promise<string> {
  const response = await fetch(`${url}/api/clusters/${cluster}/tick`, {
    method: "POST",
    headers: { "x-functions-key": system.keys.host },
  });
  const body: unknown = await response.json();
  return typeof body === "object" && body !== null && "outcome" in body ? String(body.outcome) : "";
}

export async function stateOf(system: LocalSystem, cluster: string): Promise<ClusterState> {
  const response = await fetch(`${system.url}/api/clusters/${cluster}`, {
    headers: { "x-functions-key": system.keys.host },
  });
  return readState(await response.json());
}

/** GET of the node's stop URL, on its own host or on another one. Returns 0 if no host answers. */
export async function askStop(node: ReadyNode, host?: string): Promise<number> {
  const told = new URL(node.stopUrl);
  const url = host === undefined ? told : new URL(told.pathname, host);
  url.searchParams.set("instance", node.instanceId);
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

/** Nodes that are Ready and that CycleCloud was not asked to stop. */
export function readyNodes(system: LocalSystem): readonly ReadyNode[] {
  const ready = new Map<string, ReadyNode>();
  for (const event of system.simulator.log) {
    if (event.kind === "node-ready") {
      const { nodeId, hostname, instanceId, configuration } = event;
      ready.set(nodeId, { nodeId, hostname, instanceId, stopUrl: readStopUrl(configuration) ?? "" });
    } else if (event.kind === "terminate-accepted" || event.kind === "node-gone") {
      ready.delete(event.nodeId);
    }
  }
  return [...ready.values()];
}

export function countEvents(
  system: LocalSystem,
  kind: LocalSystem["simulator"]["log"][number]["kind"],
): number {
  return system.simulator.log.filter((event) => event.kind === kind).length;
}

/** Waits until the autoscaler has seen the nodes as Ready, not only CycleCloud. */
export async function untilSeenReady(system: LocalSystem, cluster: string, count: number): Promise<void> {
  await until(`${count} nodes are seen Ready`, async () => {
    const { nodes } = await stateOf(system, cluster);
    return (nodes.byPhase["ready"] ?? 0) === count;
  });
}

/** The last plan knows the demand, and scale-down does not rest. */
export async function untilSettled(system: LocalSystem, cluster: string): Promise<void> {
  await until("the demand is planned for and the rest is over", async () => {
    const { health, generation, observedGeneration } = await stateOf(system, cluster);
    return health.ok && health.restingUntil === undefined && generation === observedGeneration;
  });
}

/**
 * An origin for the scaled clock with which a full simulated minute begins right now. The first tick is then a whole minute away, and a
 * test can push its demand before it. A record whose first observation finds live demand rests only until that demand is pushed again.
 */
export function originAtFullMinute(speed: number): number {
  const now = Date.now();
  // The simulated time is now + (now - origin) x (speed - 1). This origin makes it a full minute.
  const missing = 60_000 - (now % 60_000);
  return now - missing / (speed - 1);
}
