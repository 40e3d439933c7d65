import type { Violation } from "./audit-events.ts";

/** A violation in one line, for the summary of a run. Times are seconds since `origin`. */
export function describeViolation(violation: Violation, origin = 0): string {
  const seconds = (at: number): string => `${((at - origin) / 1000).toFixed(1)} s`;
  const when = `${seconds(violation.at)}: node ${violation.nodeId}`;
  if (violation.kind === "busy-node-stopped")
    return `${when} was stopped with a job on it since ${seconds(violation.busySince)}`;
  if (violation.kind === "limit-exceeded")
    return `${when} brought ${violation.limit} to ${violation.used} of ${violation.most}`;
  return (
    `${when} was created although ${violation.liveNodes} live nodes with ${violation.liveCores} cores met ` +
    `the largest demand in force: ${violation.slotsAsked} slots (${violation.nodesNeeded} nodes of its size)`
  );
}
