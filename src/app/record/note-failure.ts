import type { ClusterName } from "../../domain/ids.ts";
import type { ReconcileFailure } from "../../domain/troubles.ts";
import type { Change } from "./commit.ts";
import { commitRecord } from "./commit.ts";
import { PortError } from "../ports/port-error.ts";
import type { App } from "../process/lanes.ts";

const LONGEST_MESSAGE = 300;

/**
 * Reports failed work for a cluster: in the log as `event`. If storage or network is not the cause, also as a trouble of the cluster until
 * an observation leads to a plan again. Never throws: the next tick tries the failed work again, whether this is written or not.
 */
export async function noteFailure(
  app: App,
  cluster: ClusterName,
  event: "reconcile-failed" | "tick-failed",
  error: unknown,
): Promise<void> {
  const { clock, log } = app.ports;
  const kind = error instanceof PortError ? error.kind : "defect";
  log(event, { cluster, kind, message: error instanceof Error ? error.message : String(error) });
  if (kind !== "defect") return;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const message = text.slice(0, LONGEST_MESSAGE);
  try {
    await commitRecord(app, cluster, ({ record }): Change<undefined> => {
      const isKnown = record.trouble?.kind === "failed" && record.trouble.message === message;
      if (isKnown) return { result: undefined };
      const failure: ReconcileFailure = { at: clock.now(), kind: "failed", message };
      return { save: { record: { ...record, trouble: failure }, changes: {} }, result: undefined };
    });
  } catch (second) {
    log("failure-not-noted", { cluster, message: String(second) });
  }
}
