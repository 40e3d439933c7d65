import { playAlwaysOn } from "../workload/always-on.ts";
import { describeViolation } from "../workload/describe-violation.ts";
import type { AuditReport } from "../workload/audit-events.ts";
import type { Distortion, Play, Played } from "./play.ts";
import { bootSeconds } from "./cluster.ts";
import type { Seconds } from "../../domain/units.ts";

/** The figures of a run; the keys are contract (`--json`). Times in simulated seconds, hours in node-hours. */
interface Figures {
  readonly jobsSubmitted: number;
  readonly jobsCompleted: number;
  readonly jobsTooWide: number;
  readonly jobsKilled: number;
  readonly busyNodesStopped: number;
  readonly limitsExceeded: number;
  readonly nodesBeyondDemand: number;
  readonly messagesRejected: number;
  readonly nodesCreated: number;
  readonly nodeHours: number;
  readonly leastNodeHours: number;
  /** 1.5 x least + nodes created x (boot + idle): a bound for an autoscaler with five minutes of each. */
  readonly nodeHoursBound: number;
  readonly bootNodeHours: number;
  readonly idleNodeHours: number;
  readonly cost: number;
  readonly meanWaitSeconds: Seconds;
  readonly p95WaitSeconds: Seconds;
  readonly scaleUps: number;
  readonly scaleDowns: number;
  readonly stopsGranted: number;
  readonly stopsRefused: number;
  readonly mostLiveNodes: number;
  readonly simulatedHours: number;
}

const IDLE_HOURS = 5 / 60;

export function figuresOf(
  play: Play,
  played: Played,
): { readonly figures: Figures; readonly audit: AuditReport } {
  const audit = played.feed.auditor.report(played.endedAt);
  const statistics = played.scheduler.statistics();
  const least = played.scheduler.leastNodeHours(play.cluster.coresPerNode);
  const { granted, refused } = played.agent.refusals;
  const figures: Figures = {
    jobsSubmitted: statistics.submitted,
    jobsCompleted: statistics.completed,
    jobsTooWide: played.agent.tooWide,
    jobsKilled: statistics.killed,
    busyNodesStopped: audit.busyNodesStopped,
    limitsExceeded: audit.limitsExceeded,
    nodesBeyondDemand: audit.nodesBeyondDemand,
    messagesRejected: played.messagesRejected,
    nodesCreated: audit.nodesCreated,
    nodeHours: round(audit.nodeHours),
    leastNodeHours: round(least),
    nodeHoursBound: round(1.5 * least + audit.nodesCreated * (bootSeconds(play.cluster) / 3600 + IDLE_HOURS)),
    bootNodeHours: round(audit.bootNodeHours),
    idleNodeHours: round(audit.idleNodeHours),
    cost: round(audit.nodeHours * play.cluster.pricePerHour),
    meanWaitSeconds: round(statistics.meanWaitSeconds),
    p95WaitSeconds: round(statistics.p95WaitSeconds),
    scaleUps: audit.scaleUps,
    scaleDowns: audit.scaleDowns,
    stopsGranted: granted,
    stopsRefused: [...refused.values()].reduce((sum, count) => sum + count, 0),
    mostLiveNodes: audit.mostLiveNodes,
    simulatedHours: round((played.endedAt - played.startedAt) / 3_600_000),
  };
  return { figures, audit };
}

/** Every job ran, and the auditor found nothing. */
export function isClean(figures: Figures, finished: boolean): boolean {
  const found = figures.busyNodesStopped + figures.limitsExceeded + figures.nodesBeyondDemand;
  return (
    finished && figures.jobsCompleted === figures.jobsSubmitted && figures.jobsTooWide === 0 && found === 0
  );
}

/** Whether the nodes ran for no longer than the run's own bound says. */
export function isWithinBound({ nodeHours, nodeHoursBound }: Figures): boolean {
  return nodeHours <= nodeHoursBound;
}

/** The summary for people, with node-hours and cost if `money`. `verbose` adds what only the authors need: bound, scaling, refusals by reason, messages and distortion. */
export function renderSummary(
  play: Play,
  played: Played,
  {
    figures,
    audit,
    verbose,
    money,
  }: {
    readonly figures: Figures;
    readonly audit: AuditReport;
    readonly verbose: boolean;
    readonly money: boolean;
  },
): string {
  const excess =
    figures.leastNodeHours > 0
      ? ` (${(figures.nodeHours / figures.leastNodeHours).toFixed(2)} times as much)`
      : "";
  const refused = [...played.agent.refusals.refused].sort(([, a], [, b]) => b - a);
  const forAuthors = (...lines: readonly string[]): readonly string[] => (verbose ? lines : []);
  const lines = [
    `jobs          ${figures.jobsCompleted} of ${figures.jobsSubmitted} completed${figures.jobsTooWide > 0 ? `, ${figures.jobsTooWide} too wide for the cluster` : ""}${figures.jobsKilled > 0 ? `, ${figures.jobsKilled} killed and run again` : ""}${played.finished ? "" : "; given up"}`,
    `waits         mean ${Math.round(figures.meanWaitSeconds)} s, 95 % within ${Math.round(figures.p95WaitSeconds)} s`,
    `nodes         ${figures.nodesCreated} created, at most ${figures.mostLiveNodes} of ${play.cluster.nodes} at once`,
    ...(money
      ? [
          `node-hours    ${figures.nodeHours} used, ${figures.leastNodeHours} the least possible${excess}; ${figures.bootNodeHours} booting, ${figures.idleNodeHours} idle${verbose ? `; bound ${figures.nodeHoursBound}` : ""}`,
          `cost          ${figures.cost} USD at ${play.cluster.pricePerHour.toFixed(3)} for a node and hour`,
        ]
      : []),
    ...forAuthors(`scaling       ${figures.scaleUps} scale-ups, ${figures.scaleDowns} scale-downs`),
    `autostop      ${figures.stopsGranted} granted, ${figures.stopsRefused} refused`,
    ...forAuthors(...refused.slice(0, 6).map(([why, count]) => `              ${count} x ${why}`)),
    ...forAuthors(`messages      ${figures.messagesRejected} rejected`, ...renderLeftOut(played)),
    `audit         ${figures.busyNodesStopped} busy nodes stopped, ${figures.limitsExceeded} limits exceeded, ${figures.nodesBeyondDemand} nodes beyond demand`,
    ...audit.violations
      .slice(0, 10)
      .map((violation) => `              ${describeViolation(violation, played.startedAt)}`),
    ...(played.distortion === undefined
      ? []
      : forAuthors(renderDistortion(played.distortion, bootSeconds(play.cluster)))),
  ];
  return lines.join("\n");
}

function renderLeftOut({ leftOut }: Played): readonly string[] {
  if (leftOut === undefined) return [];
  return [`left out      ${round(leftOut / 3_600_000)} simulated hours in which nothing changes`];
}

/** The same jobs on a cluster of which no node ever stops: what the autoscaler saved, and how much longer jobs waited for it. */
export function renderAlwaysOn({ cluster, jobs }: Play, figures: Figures): string {
  const { nodeHours, meanWaitSeconds } = playAlwaysOn(jobs, cluster);
  const saved = nodeHours > 0 ? Math.round(100 * (1 - figures.nodeHours / nodeHours)) : 0;
  return (
    `always on     ${nodeHours.toFixed(1)} node-hours, ${(nodeHours * cluster.pricePerHour).toFixed(2)} USD; the autoscaler ` +
    `${saved >= 0 ? `saved ${saved} %` : `took ${-saved} % more`}; jobs waited ${Math.round(figures.meanWaitSeconds - meanWaitSeconds)} s longer on average`
  );
}

/** On a fast clock, the app's own latency is longer in simulated time than in real use. This line shows by how much. */
function renderDistortion({ latencySeconds, speed }: Distortion, boot: number): string {
  const real = ((1000 * latencySeconds) / speed).toFixed(0);
  const share = ((100 * latencySeconds) / boot).toFixed(1);
  return (
    `distortion    from a push to the create it led to, 95 % within ${real} ms x ${speed} = ` +
    `${latencySeconds.toFixed(1)} simulated s: ${share} % of the boot time of ${boot} s`
  );
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
