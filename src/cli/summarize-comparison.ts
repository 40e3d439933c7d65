import type { ComparisonAnswer, FleetAnswer } from "../client/comparison.ts";

/** Whether the autoscaler is cheaper and whether jobs wait longer, in the days shown. Empty if there are none. */
export function summarizeComparison({ days }: ComparisonAnswer): readonly string[] {
  const rows = days.flatMap(({ nodearrays }) => nodearrays);
  if (rows.length === 0) return [];
  const sum = (of: (fleet: FleetAnswer) => number | undefined): Both =>
    addAll(
      rows.map(({ real, virtual }) => ({ real: real && of(real), virtual: virtual && of(virtual) })),
    ) ?? { real: 0, virtual: 0 };
  const nodeHours = sum((fleet) => fleet.nodeHours);
  const idle = sum((fleet) => fleet.idleNodeHours);
  const isPriced = rows.some(({ real, virtual }) => (real?.cost ?? virtual?.cost) !== undefined);
  const cost = isPriced ? sum((fleet) => fleet.cost) : undefined;
  const unpriced = sum((fleet) => fleet.unpricedNodeHours);
  const waited = addAll(days.flatMap(({ waitingJobHours }) => waitingJobHours ?? []));
  const currency = days.find((day) => day.currency !== undefined)?.currency;
  const observed = Math.max(...rows.map(({ observedHours = 0 }) => observedHours));
  return [
    `verdict: ${verdict(cost ?? nodeHours, cost !== undefined, waited)}`,
    `  cost        ${cost === undefined ? "not known: the configuration has no prices" : sideBySide(cost, currency)}${unpricedText(unpriced)}`,
    `  node-hours  ${sideBySide(nodeHours)}; idle: ${idle.real} and ${idle.virtual}`,
    `  jobs waited ${waited === undefined ? "not known: no request set has jobs" : sideBySide(waited, "h")}`,
    ...(days.length > 1 || observed >= DAY_HOURS
      ? []
      : [`  observed for ${observed} h only: let a week pass before you decide`]),
  ];
}

const DAY_HOURS = 24;

interface Both {
  readonly real: number;
  readonly virtual: number;
}

type MaybeBoth = { readonly [K in keyof Both]?: number | undefined };

/** Undefined for an empty list. */
function addAll(all: readonly MaybeBoth[]): Both | undefined {
  if (all.length === 0) return undefined;
  const total = (of: keyof Both): number => round(all.reduce((sum, one) => sum + (one[of] ?? 0), 0));
  return { real: total("real"), virtual: total("virtual") };
}

const round = (value: number): number => Number(value.toFixed(2));

/** A difference of less than one percent counts as the same. */
function compare({ real, virtual }: Both): "less" | "same" | "more" {
  if (Math.abs(virtual - real) <= 0.01 * Math.max(real, virtual)) return "same";
  return virtual < real ? "less" : "more";
}

function verdict(cost: Both, isPriced: boolean, waited: Both | undefined): string {
  const money = {
    less: isPriced
      ? "the autoscaler would have been cheaper"
      : "the autoscaler would have used fewer node-hours",
    same: isPriced
      ? "the autoscaler would have cost as much"
      : "the autoscaler would have used as many node-hours",
    more: isPriced
      ? "the autoscaler would have been more expensive"
      : "the autoscaler would have used more node-hours",
  }[compare(cost)];
  if (waited === undefined) return `${money}; how long jobs waited is not known`;
  const isLess = compare(cost) === "less";
  switch (compare(waited)) {
    case "less":
      return `${money}, ${isLess ? "and" : "but"} jobs would have waited less`;
    case "same":
      return `${money}, and jobs would have waited as long`;
    case "more":
      return `${money}, ${isLess ? "but" : "and"} jobs would have waited longer`;
  }
}

/** "31.2 EUR real, 19.2 EUR with the autoscaler: 12 EUR less (38 %)". */
function sideBySide(both: Both, unit?: string): string {
  const { real, virtual } = both;
  const of = (value: number): string => `${value}${unit === undefined ? "" : ` ${unit}`}`;
  const apart = round(Math.abs(virtual - real));
  const share = real === 0 ? "" : ` (${Math.round((100 * apart) / real)} %)`;
  const how = virtual < real ? "less" : "more";
  const difference = apart === 0 ? "the same" : `${of(apart)} ${how}${share}`;
  return `${of(real)} real, ${of(virtual)} with the autoscaler: ${difference}`;
}

const unpricedText = ({ real, virtual }: Both): string =>
  real + virtual === 0 ? "" : `; without the ${real} and ${virtual} node-hours whose price is not known`;
