import { expect } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";

/** When a node is shut down and started again, in minutes from the beginning. */
export interface Off {
  readonly from: number;
  readonly until: number;
}

/**
 * Nodes of pure target demand, of which some are shown as Off for a time, by their number. Returns how many were terminated until half an hour
 * later, and how many the app held for down at once.
 */
export async function playWrongStatus(
  count: number,
  off: (index: number) => Off | undefined,
): Promise<{ readonly ended: number; readonly down: number }> {
  const stage = new Stage({ simulator: oneArray("demo", { maxCount: 2 * count }) });
  await stage.during(stage.push(target("demo", count, { expirationInterval: 86_400 })));
  await stage.pass(600);
  expect(stage.readyNodes).toHaveLength(count);
  const { faults } = stage.simulator;
  const hasEnded = (id: string) => stage.eventsOf("terminate-accepted").some(({ nodeId }) => nodeId === id);
  const changes = stage.readyNodes.flatMap(({ nodeId }, index) => {
    const when = off(index);
    if (when === undefined) return [];
    return [
      { minute: when.from, change: () => faults.shutDown(nodeId) },
      {
        minute: when.until,
        change: () => {
          if (!hasEnded(nodeId)) faults.restart(nodeId);
        },
      },
    ];
  });
  let minute = 0;
  let down = 0;
  for (const { minute: at, change } of changes.toSorted((a, b) => a.minute - b.minute)) {
    if (at > minute) {
      await stage.pass((at - minute) * 60);
      const { nodes } = await stage.state("demo");
      down = Math.max(down, nodes.byPhase["down"] ?? 0);
    }
    minute = at;
    change();
  }
  await stage.pass(1800);
  return { ended: stage.eventsOf("terminate-accepted").length, down };
}
