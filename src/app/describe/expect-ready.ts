import type { Bodies } from "../../domain/bodies.ts";
import type { Node } from "../../domain/cluster.ts";
import type { MachineType, NodeId } from "../../domain/ids.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { latest, plusSeconds, secondsBetween } from "../../domain/units.ts";

/** Duration from a node's first observation to Ready, if no node of the cluster has come up yet. */
const DEFAULT_BOOT_SECONDS: Seconds = 300;

/** When coming nodes can be expected to be Ready. */
interface ReadyTimes {
  /** Undefined if the node is not coming, or is down. A moment in the past means that it takes longer than others did. */
  readonly of: (node: Node) => Instant | undefined;
  /** Median seconds from a node's first observation to Ready, over all known nodes. */
  readonly usualSeconds: Seconds;
}

/** Based on the boot times of nodes that are still in the ledger: the median of the VM size, else of all sizes, else a default. */
export function expectReady({ seen, ledger }: Pick<Bodies, "seen" | "ledger">): ReadyTimes {
  const sizes = new Map((seen?.nodes ?? []).map(({ nodeId, machineType }) => [nodeId, machineType]));
  const all: number[] = [];
  const bySize = new Map<MachineType, number[]>();
  for (const { nodeId, firstSeenAt, firstReadyAt } of ledger.values()) {
    if (firstReadyAt === undefined) continue;
    const seconds = secondsBetween(firstSeenAt, firstReadyAt);
    // Ready at the first observation: the duration is unknown.
    if (seconds <= 0) continue;
    all.push(seconds);
    const size = sizes.get(nodeId);
    if (size === undefined) continue;
    const ofSize = bySize.get(size);
    if (ofSize === undefined) bySize.set(size, [seconds]);
    else ofSize.push(seconds);
  }
  const usualSeconds = medianOf(all) ?? DEFAULT_BOOT_SECONDS;
  const usualOf = new Map([...bySize].map(([size, seconds]) => [size, medianOf(seconds)]));
  return {
    usualSeconds,
    of({ nodeId, machineType, phase }) {
      const known = ledger.get(nodeId);
      if (phase !== "coming" || known === undefined || known.down !== undefined) return undefined;
      const since = known.start?.since ?? known.firstSeenAt;
      return plusSeconds(since, usualOf.get(machineType) ?? usualSeconds);
    },
  };
}

/** When the last node that carries a waiting demand can be expected. A node that no observation has shown yet takes as long as others did. */
export function readyForDemand(
  {
    pending,
    places,
  }: { readonly pending: number; readonly places: readonly { readonly nodeId?: NodeId | undefined }[] },
  bodies: Bodies,
  now: Instant,
): Instant | undefined {
  const { plan, seen } = bodies;
  const { creates = [], starts = [] } = plan?.withheld ?? {};
  // It is unknown when nodes come that are not requested yet.
  if (pending === 0 || plan?.mode === "observe" || creates.length + starts.length > 0) return undefined;
  const ready = expectReady(bodies);
  const on = new Set(places.map(({ nodeId }) => nodeId));
  const shown = (seen?.nodes ?? [])
    .filter(({ nodeId }) => on.has(nodeId))
    .map((node) => ready.of(node))
    .filter((at) => at !== undefined);
  const unseen = shown.length === 0 || on.has(undefined) ? [plusSeconds(now, ready.usualSeconds)] : [];
  return latest(...shown, ...unseen);
}

/** For an even number of values the lower one of the middle two. Undefined for none. */
function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
}
