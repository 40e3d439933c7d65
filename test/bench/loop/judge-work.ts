import type { CycleCloudEvent } from "./simulator-process.ts";

/** What a node's scheduler lets it do. `closed`: the node asks whether it may stop, and gets no job. */
export type Work = "open" | "busy" | "closed";

/** `at` is simulated, in milliseconds since 1970. */
export interface WorkChange {
  readonly nodeId: string;
  readonly at: number;
  readonly work: Work;
}

/** Every figure but `stopped` ought to be 0. */
export interface WorkJudged {
  readonly stopped: number;
  /** Nodes that were open, and had no job, when CycleCloud began to stop them. */
  readonly stoppedOpen: number;
  /** Nodes that had a job when CycleCloud began to stop them. */
  readonly stoppedBusy: number;
  /** Nodes that opened, and may have got a job, after CycleCloud had begun to stop them. */
  readonly openedAfterStop: number;
}

/** Judges by what CycleCloud did, and by what each node's scheduler let it do at that moment. `changes` are in order of time. */
export function judgeWork(events: readonly CycleCloudEvent[], changes: readonly WorkChange[]): WorkJudged {
  const stoppedAt = new Map<string, number>();
  for (const event of events)
    if (event.kind === "terminate-accepted" && !stoppedAt.has(event.nodeId))
      stoppedAt.set(event.nodeId, event.at);
  const byNode = Map.groupBy(changes, ({ nodeId }) => nodeId);
  const stops = [...stoppedAt].map(([nodeId, at]) => {
    const all = byNode.get(nodeId) ?? [];
    const later = all.filter((change) => change.at > at);
    return { work: all.findLast((change) => change.at <= at)?.work, later };
  });
  return {
    stopped: stops.length,
    stoppedOpen: stops.filter(({ work }) => work === "open").length,
    stoppedBusy: stops.filter(({ work }) => work === "busy").length,
    openedAfterStop: stops.filter(
      ({ work, later }) => work === "closed" && later.some((change) => change.work !== "closed"),
    ).length,
  };
}
