import type { Composition } from "../../compose.ts";
import { installCore } from "../host/core.ts";
import type { Doors } from "./doors.ts";
import { readReply } from "./doors.ts";

/** The app's functions, called in this process as the host would call them. */
export interface Functions {
  /** Delivers a message of the queue. `insertedAt` is in ms since 1970. */
  readonly demand: (message: object, insertedAt: number) => Promise<void>;
  readonly tick: () => Promise<void>;
  readonly stop: Doors["askStop"];
}

/** Loads the functions over this composition. Rejects with the error of a function that does not load. */
export async function loadFunctions(composed: Composition): Promise<Functions> {
  // The functions register themselves when they are loaded, which needs a registry. Nothing is called through it here.
  installCore();
  const { handleDemand } = await import("../../../functions/demand.ts");
  const { handleSnapshot } = await import("../../../functions/snapshot.ts");
  const { handleAutostop } = await import("../../../functions/autostop.ts");
  let messages = 0;
  return {
    demand(message, insertedAt) {
      const id = `message-${(messages += 1)}`;
      const triggerMetadata = { id, insertionTime: new Date(insertedAt) };
      return handleDemand(composed, message, { invocationId: id, triggerMetadata });
    },
    tick: () => handleSnapshot(composed),
    async stop(url, asked) {
      const request = { params: stopUrlParts(url), query: new URLSearchParams(asked) };
      const { status, body } = await handleAutostop(composed, request);
      return readReply(status ?? 200, typeof body === "string" ? JSON.parse(body) : undefined);
    },
  };
}

/** The parameters in the path of a stop URL, which ends in /CLUSTER/TOKEN. */
function stopUrlParts(url: string): { readonly cluster: string; readonly token: string } {
  const [cluster, token] = new URL(url).pathname.split("/").slice(-2).map(decodeURIComponent);
  if (cluster === undefined || token === undefined)
    throw new Error("a stop URL without a cluster and a token");
  return { cluster, token };
}
