import { beginEpochSetBack } from "../../decide/record/epoch.ts";
import type { ClusterName, Epoch } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";
import { commitRecord } from "./commit.ts";
import type { App } from "../process/lanes.ts";

/** The result of declaring a restore. */
interface EpochBegun {
  readonly epoch: Epoch;
  readonly plan: number;
  readonly restingUntil: Instant;
  /** If the cluster has nodes, no create is sent before this. */
  readonly createsFrom: Instant;
}

/**
 * An operator declares that the record was restored from a backup: a new epoch begins, whatever plan numbers are known. Undefined if others
 * saved first every time: try again.
 */
export async function declareRestored(app: App, cluster: ClusterName): Promise<EpochBegun | undefined> {
  const { clock, entropy, log } = app.ports;
  const committed = await commitRecord(app, cluster, ({ record }) => {
    const next = beginEpochSetBack(record, { epoch: entropy.epoch(), plan: record.plan }, clock.now());
    const { epoch, plan, outage, createsFrom } = next;
    const result: EpochBegun = { epoch, plan, restingUntil: outage.until, createsFrom };
    return { save: { record: next, changes: {} }, result };
  });
  if (committed.kind === "contended") return undefined;
  log("record-restored", { cluster, plan: committed.result.plan });
  return committed.result;
}
