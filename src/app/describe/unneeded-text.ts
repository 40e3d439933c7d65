import { BUSY_STATE_UNKNOWN } from "../../domain/node-verdict.ts";
import type { Unneeded } from "../../domain/unneeded.ts";
import { isoTime } from "../../domain/units.ts";

/** A warning about nodes that no demand needs: their number, since when, their cost, and what ends them. */
export function unneededText({ nodes, since, sizes, cost }: Unneeded): string {
  const one = nodes === 1;
  const named = sizes.map((size) => `${size.nodes} x ${size.array}/${size.machineType}`).join(", ");
  const rest = nodes - sizes.reduce((sum, size) => sum + size.nodes, 0);
  const all = rest === 0 ? named : `${named} and ${rest} more`;
  return [
    one
      ? `1 node has not been needed since ${isoTime(since)};`
      : `${nodes} nodes are not needed, the first of them since ${isoTime(since)};`,
    `${BUSY_STATE_UNKNOWN}.`,
    cost === undefined ? `${all}.` : `${one ? "It costs" : "They cost"} ${costText(cost)}: ${all}.`,
    `${one ? "It stays" : "Each stays"} until its autostop callback asks, a report names it idle, or it is terminated in CycleCloud.`,
  ].join(" ");
}

/** "at least 0.40 USD an hour". */
export function costText({ perHour, currency, unpriced }: NonNullable<Unneeded["cost"]>): string {
  const least = unpriced === 0 ? "" : "at least ";
  return `${least}${perHour.toFixed(2)} ${currency} an hour`;
}
