import { groupText } from "../../domain/bucket.ts";
import type { LedgerNode } from "../../domain/ledger.ts";

/** Why a node is gone, as far as this app knows. */
export function endText({ draining }: Pick<LedgerNode, "draining">): string {
  if (draining === undefined)
    return "this app did not stop it; it was ended in CycleCloud, or its machine was lost or evicted";
  const { by, plan, attempts } = draining;
  const why = STOPPED_BY[by];
  return attempts === 0
    ? `plan ${plan} marked it, because ${why}, and no stop of ours was accepted`
    : `plan ${plan} stopped it, because ${why}`;
}

const STOPPED_BY: Readonly<Record<NonNullable<LedgerNode["draining"]>["by"], string>> = {
  callback: "it asked to be stopped and was not needed",
  unhealthy: "it called itself unhealthy",
  idle: "it was idle and not needed",
  "boot-timeout": "it was not Ready within its boot timeout",
  failed: "it failed",
  down: "it was down: shown as Off or Terminated, or failed after it was Ready",
  stuck: "it was Failed and never became Ready",
  "deallocated-timeout": "it had been deallocated for its deallocatedTimeout",
  quota: "it was deallocated, and demand needed the quota that it held",
};

/** For what a node was made, and by whom. */
export function originText(
  { array, purpose }: Pick<LedgerNode, "array" | "purpose">,
  { isOurs }: { readonly isOurs: boolean },
): string {
  const grouped = purpose.kind === "group" ? groupText(purpose) : undefined;
  if (purpose.kind === "named" && isOurs) return `made by its name in array ${array}`;
  const text = grouped ?? (purpose.kind === "dynamic" ? `dynamic array ${purpose.array}` : `array ${array}`);
  return isOurs ? `made for ${text}` : `made by another tool; counts for ${text}`;
}
