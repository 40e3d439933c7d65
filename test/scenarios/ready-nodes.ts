import { readStopUrl } from "../../src/local/play/stop-url.ts";
import type { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";

/** A Ready node, and what it knows of itself. */
export interface ReadyNode {
  readonly nodeId: string;
  readonly hostname: string;
  readonly instanceId: string;
  readonly stopUrl: string;
}

/** The nodes of a simulated CycleCloud that are Ready and that CycleCloud was not asked to stop, in the order in which they came up. */
export class ReadyNodes {
  readonly #ready = new Map<string, ReadyNode>();

  constructor(simulator: Simulator) {
    simulator.onEvent((event) => this.#note(event));
  }

  get all(): readonly ReadyNode[] {
    return [...this.#ready.values()];
  }

  #note(event: SimulatorEvent): void {
    if (event.kind === "node-ready") {
      const { nodeId, hostname, instanceId } = event;
      const stopUrl = readStopUrl(event.configuration);
      if (stopUrl !== undefined) this.#ready.set(nodeId, { nodeId, hostname, instanceId, stopUrl });
    } else if (
      event.kind === "terminate-accepted" ||
      event.kind === "deallocate-accepted" ||
      event.kind === "node-down" ||
      event.kind === "node-gone"
    ) {
      this.#ready.delete(event.nodeId);
    }
  }
}

/** The query of GET on the node's stop URL, and the parts of its path, as the autostop function gets them. */
export function stopRequest(
  { stopUrl, instanceId }: Pick<ReadyNode, "stopUrl" | "instanceId">,
  query: Readonly<Record<string, string>> = {},
) {
  const [cluster = "", token = ""] = new URL(stopUrl).pathname.split("/").slice(-2).map(decodeURIComponent);
  return {
    params: { cluster, token },
    query: new URLSearchParams({ instance: instanceId, ...query }),
  };
}
