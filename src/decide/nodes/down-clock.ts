import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Down, Ledger, LedgerNode } from "../../domain/ledger.ts";
import { OBSERVATIONS_DOWN } from "../../domain/ledger.ts";
import type { Observation } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";

/**
 * The clock of nodes that were Ready, are wanted and are shown as shut down or failed (docs/protocol.md, Nodes that are down). It counts
 * from the first such observation and not from the moment at which the node left Ready: a node that restarts for five minutes may show Off
 * once (docs/decisions.md, "Nodes that are down have a clock of their own").
 */

/** CycleCloud's Status of a node without a running VM. */
const SHUT_DOWN = new Set(["off", "terminated"]);

/**
 * The ledger with the clocks after an observation. `isRestart`: the nodes were not observed for some time, so that all clocks begin again. A
 * slow status moves no clock, and neither does an early one: what it shows may be old.
 */
export function followDown(
  ledger: Ledger,
  before: Snapshot | undefined,
  { snapshot, slow }: Pick<Observation, "snapshot" | "slow">,
  { isRestart }: { readonly isRestart: boolean },
  now: Instant,
): Ledger {
  const isVague = slow === true || snapshot.early === true;
  const wasUnwanted = unwantedIn(before);
  let changed: Map<NodeId, LedgerNode> | undefined;
  snapshot.nodes.forEach((node) => {
    // Most nodes are up. The ledger has forgotten their clock already.
    if (node.phase === "ready") return;
    const known = ledger.get(node.nodeId);
    if (known?.firstReadyAt === undefined) return;
    const before = isRestart ? undefined : known.down;
    const down = nextDown(before, howDown(node), isVague, now);
    const isStartedAgain = known.leftReadyAt === now && wasUnwanted(node.nodeId);
    if (down === known.down && !isStartedAgain) return;
    const { down: _before, ...rest } = known;
    (changed ??= new Map(ledger)).set(node.nodeId, {
      ...rest,
      ...(down === undefined ? {} : { down }),
      ...(isStartedAgain ? { startedAgainAt: now } : {}),
    });
  });
  return changed ?? ledger;
}

/** How a node that was Ready and is wanted is down. Undefined if it is not, or if the observation does not show it. */
function howDown({ phase, status, missing }: Node): Down["how"] | undefined {
  if (missing !== undefined) return undefined;
  if (phase === "failed") return "failed";
  return phase === "coming" && SHUT_DOWN.has(status.toLowerCase()) ? "off" : undefined;
}

function nextDown(
  old: Down | undefined,
  how: Down["how"] | undefined,
  isSlow: boolean,
  now: Instant,
): Down | undefined {
  if (how === undefined) return undefined;
  if (old?.how !== how) return { how, since: now, observations: isSlow ? 0 : 1 };
  if (isSlow || old.observations >= OBSERVATIONS_DOWN) return old;
  return { ...old, observations: old.observations + 1 };
}

/** Whether the last observation showed a node as stopped or being stopped. The nodes are searched only if one is asked for. */
function unwantedIn(before: Snapshot | undefined): (node: NodeId) => boolean {
  let unwanted: ReadonlySet<NodeId> | undefined;
  return (id) => {
    unwanted ??= new Set(
      (before?.nodes ?? []).flatMap(({ nodeId, phase }) =>
        phase === "going" || phase === "off" ? [nodeId] : [],
      ),
    );
    return unwanted.has(id);
  };
}
