import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { Scene, State } from "./scene.ts";

/** What must be the same after a crash as without: the nodes as CycleCloud knows them, the demand as the record holds it. */
export interface Outcome {
  /** Per array. */
  readonly created: Readonly<Record<string, number>>;
  readonly alive: Readonly<Record<string, number>>;
  /** Every node that was ever told to stop, once: by array, or "the asker". */
  readonly stopped: readonly string[];
  readonly demand: State["demand"];
  readonly unmet: number | undefined;
  readonly intents: number;
  readonly inFlight: number;
  readonly messagesLeft: number;
  readonly messagesPutAside: number;
}

/** `asker`: the node whose stop is wanted. */
export async function readOutcome(scene: Scene, asker: string | undefined): Promise<Outcome> {
  scene.system.simulator.advance();
  const { log } = scene.system.simulator;
  const created = log.filter((event) => event.kind === "node-created");
  const stopped = unique(log.filter((event) => event.kind === "terminate-accepted"));
  const gone = new Set([...stopped, ...log.filter((event) => event.kind === "node-gone")].map(idOf));
  const { demand, plan, intents, inFlight } = await scene.state();
  return {
    created: countByArray(created),
    alive: countByArray(created.filter((event) => !gone.has(event.nodeId))),
    stopped: stopped.map((event) => (event.nodeId === asker ? "the asker" : event.array)).sort(),
    demand: demand.toSorted((a, b) => (a.requestSet < b.requestSet ? -1 : 1)),
    unmet: plan?.unmetCount,
    intents: intents.length,
    inFlight: inFlight.length,
    // Beside the wake message that ticks next in the place of a silent timer.
    messagesLeft: Math.max(0, (await scene.messages("demand")) - 1),
    messagesPutAside: (await scene.messages("demand-poison")) + (await scene.messages("demand-rejected")),
  };
}

type OfNode = Extract<SimulatorEvent, { readonly nodeId: string }>;

const idOf = (event: OfNode) => event.nodeId;

function unique<E extends OfNode>(events: readonly E[]): readonly E[] {
  return [...new Map(events.map((event) => [event.nodeId, event])).values()];
}

function countByArray(events: readonly OfNode[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { array } of events) counts[array] = (counts[array] ?? 0) + 1;
  return counts;
}
