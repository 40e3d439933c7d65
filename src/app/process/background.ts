import type { ClusterName } from "../../domain/ids.ts";
import type { Log } from "../ports/ports.ts";
import { PortError } from "../ports/port-error.ts";

/** Work that no answer waits for. */
export interface Background {
  /** Starts it at once. Errors are logged as "reconcile-failed". */
  start(cluster: ClusterName, work: () => Promise<unknown>): void;
  /** Resolves when everything that was started has ended. For tests. */
  ended(): Promise<void>;
}

export function createBackground(log: Log): Background {
  const running = new Set<Promise<void>>();
  return {
    start(cluster, work) {
      const run = async (): Promise<void> => {
        try {
          await work();
        } catch (error) {
          const kind = error instanceof PortError ? error.kind : "defect";
          const message = error instanceof Error ? error.message : String(error);
          log("reconcile-failed", { cluster, kind, message });
        }
      };
      const done = run().finally(() => running.delete(done));
      running.add(done);
    },
    async ended() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
