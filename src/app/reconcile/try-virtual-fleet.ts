import type { Decision } from "../../domain/decision.ts";
import { withVirtualFleet, type VirtualInput } from "../../decide/virtual/plan-virtual.ts";
import type { ReconcileFailure } from "../../domain/troubles.ts";
import type { Log } from "../ports/log.ts";

const LONGEST_MESSAGE = 300;

/**
 * The decision with what the virtual fleet did. Never throws: the virtual fleet changes nothing in CycleCloud, so a fault in it must not stop the
 * real plan. The fleet and the comparison stay as they were then, the log has `virtual-plan-failed`, and the record a failure until a
 * plan succeeds.
 */
export function tryVirtualFleet(decision: Decision, input: VirtualInput, log: Log): Decision {
  try {
    return withVirtualFleet(decision, input);
  } catch (error) {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const { record } = decision;
    log("virtual-plan-failed", { cluster: record.cluster, message: text });
    const message = `the virtual fleet was not planned, the real plan was made: ${text.slice(0, LONGEST_MESSAGE)}`;
    const failure: ReconcileFailure = { at: input.now, kind: "failed", message };
    return { ...decision, record: { ...record, trouble: failure } };
  }
}
