import type { DryRunAnswer } from "../client/plans.ts";
import { modeText } from "./render-status.ts";

/** The planned actions, the unmet demands with their reasons, and the effect of the changes, if there are any. */
export function renderDryRun(
  { acting, currency, mode, observed, plan, difference, rejectedJobs }: DryRunAnswer,
  hasChanges: boolean,
): string {
  const price =
    plan.pricePerHour === undefined
      ? []
      : [`new nodes cost ${withCurrency(String(plan.pricePerHour), currency)} an hour`];
  const deeds = [
    ...plan.creates.map(
      ({ count = 0, nodearray = "?", machineType = "?", placementGroup }) =>
        `create ${count} x ${[nodearray, machineType, placementGroup].filter((part) => part !== undefined).join("/")}`,
    ),
    ...plan.starts.map((name) => `start ${name}`),
    ...plan.terminates.map((name) => `stop ${name}`),
  ];
  const short = plan.outcomes.filter(({ asked = 0, placed = 0 }) => placed < asked);
  const leftOut = rejectedJobs.flatMap(({ requestSet = "?", jobs }) =>
    jobs.map(({ name = "?" }) => `left out because it cannot be read: ${requestSet}/${name}`),
  );
  const held = acting === false;
  return [
    ...(mode === undefined ? [] : [`mode: ${modeText({ mode, observed })}`]),
    ...(held && deeds.length === 0
      ? ["the mode is observe, or the cluster is not started: none of this would be done"]
      : []),
    ...(deeds.length === 0 ? ["nothing to do"] : held ? deeds.map(whileOff) : deeds),
    ...price,
    ...renderUnmet(short, plan.unmet ?? short.length),
    ...leftOut,
    ...(difference === undefined ? [] : renderDifference(difference, currency, hasChanges)),
  ].join("\n");
}

const whileOff = (deed: string): string => `would ${deed}, but the mode is observe`;

/** Of thousands of jobs the others have the same reasons. --json has more. */
const SHOWN = 20;

function renderUnmet(unmet: DryRunAnswer["plan"]["outcomes"], count: number): readonly string[] {
  const shown = unmet.slice(0, SHOWN);
  const lines = shown.flatMap(({ requestSet, id, asked = 0, placed = 0, unit, reasons, binding }) => [
    `unmet: ${requestSet ?? "?"}/${id ?? "?"} has ${placed} of ${asked} ${unit ?? ""}`.trimEnd(),
    ...reasons.map((reason) => `  ${reason}`),
    ...(binding === undefined ? [] : [`  ${binding}`]),
  ]);
  return count > shown.length ? [...lines, `and ${count - shown.length} more`] : lines;
}

function renderDifference(
  { nodesCreated = 0, pricePerHour, demands }: NonNullable<DryRunAnswer["difference"]>,
  currency: string | undefined,
  hasChanges: boolean,
): readonly string[] {
  const price = pricePerHour === undefined ? "" : `, ${withCurrency(signed(pricePerHour), currency)} an hour`;
  const changed = demands.map(
    ({ requestSet = "?", id = "?", unit = "", asked = 0, placed = 0, askedWithout = 0, placedWithout = 0 }) =>
      `  ${requestSet}/${id}: ${placed} of ${asked} ${unit} instead of ${placedWithout} of ${askedWithout}`,
  );
  if (nodesCreated === 0 && changed.length === 0) return hasChanges ? ["the changes change nothing"] : [];
  return [`compared with no changes: ${signed(nodesCreated)} new nodes${price}`, ...changed];
}

function signed(amount: number): string {
  return amount > 0 ? `+${amount}` : String(amount);
}

function withCurrency(amount: string, currency: string | undefined): string {
  return currency === undefined ? amount : `${amount} ${currency}`;
}
