import type { Leave } from "../src/app/process/gate.ts";
import { PortError } from "../src/app/ports/port-error.ts";
import type { Composition } from "../src/compose.ts";
import type { RequestSetUpdate } from "../src/domain/demand.ts";
import { putBack } from "./put-back.ts";
import { putDeliveryAside } from "./put-message-aside.ts";
import type { Delivery } from "./queue-message.ts";
import { reconcileDemand } from "./reconcile.ts";

/** Writes the demand of a message into the record, and plans with it. Throws PortError while the record cannot be written. */
export async function recordUpdate(
  composed: Composition,
  message: unknown,
  context: Delivery,
  update: RequestSetUpdate,
  leave: Leave,
): Promise<void> {
  const { cluster, set } = update;
  const recorded = await composed.recorder.record(update);
  // The plan needs memory of its own.
  leave();
  composed.app.ports.log("demand", { cluster, set, outcome: recorded.kind });
  switch (recorded.kind) {
    case "accepted":
      return reconcileDemand(composed, cluster, recorded.record);
    case "contended":
      throw new PortError("throttled", `record demand of ${cluster}`, "the record is contended");
    case "newer-state":
      return putBack(composed, message, update);
    case "refused":
      return putDeliveryAside(composed, message, context, update, recorded.problems);
    case "too-much":
      return putDeliveryAside(composed, message, context, update, [recorded.problem]);
    default:
      return;
  }
}
