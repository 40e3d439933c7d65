import type { HostAmounts, Overlaid } from "../../src/decide/world/host-view.ts";
import { overlayLeft, overlayTotals } from "../../src/decide/world/host-view.ts";
import type { Resources } from "../../src/domain/resources.ts";

/** A report over computed resources: its totals, and what is left of them. */
export function overlayReport(computed: Resources, { resources, available }: HostAmounts): Overlaid {
  return overlayLeft(overlayTotals(computed, resources), available);
}
