import { type MachineType, sameMachineType } from "../../domain/ids.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { SizeBoots } from "../../domain/virtual-fleet.ts";
import { DEFAULT_BOOT_SECONDS } from "../../domain/virtual-fleet.ts";
import { bootingSince } from "../intents/node-starts.ts";

/** Maximum number of samples of each VM size, and of sizes. The newest are kept. */
const MOST_SAMPLES = 31;
const MOST_SIZES = 200;

/**
 * Adds the boots that ended after `since`, of nodes that were observed before they were Ready. Undefined: all boots of the ledger.
 */
export function noteBoots(
  boots: readonly SizeBoots[],
  { nodes }: Pick<Snapshot, "nodes">,
  ledger: Ledger,
  since: Instant | undefined,
): readonly SizeBoots[] {
  let next = boots;
  for (const { nodeId, machineType } of nodes) {
    const seconds = bootSecondsOf(ledger.get(nodeId), since);
    if (seconds !== undefined) next = addSample(next, machineType, seconds);
  }
  return next;
}

function bootSecondsOf(known: LedgerNode | undefined, since: Instant | undefined): number | undefined {
  if (known?.firstReadyAt === undefined) return undefined;
  if (since !== undefined && known.firstReadyAt <= since) return undefined;
  const seconds = secondsBetween(bootingSince(known), known.firstReadyAt);
  // The first observation showed it Ready, so its boot time is not known.
  return seconds > 0 ? seconds : undefined;
}

function addSample(boots: readonly SizeBoots[], size: MachineType, seconds: Seconds): readonly SizeBoots[] {
  const isSame = ({ machineType }: SizeBoots): boolean => sameMachineType(machineType, size);
  const samples = boots.find(isSame)?.seconds ?? [];
  const others = boots.filter((one) => !isSame(one));
  const grown = { machineType: size, seconds: [...samples, seconds].slice(-MOST_SAMPLES) };
  return [...others, grown].slice(-MOST_SIZES);
}

/** How long a new node of the size takes to boot: the median of its boots, else of all boots seen, else the default. */
export function bootSecondsFor(boots: readonly SizeBoots[], size: MachineType): number {
  const own = boots.find(({ machineType }) => sameMachineType(machineType, size))?.seconds;
  return medianOf(own ?? []) ?? medianOf(boots.flatMap(({ seconds }) => seconds)) ?? DEFAULT_BOOT_SECONDS;
}

/** The lower one of the middle two if their number is even. Undefined if there are none. */
function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2) - 1];
}
