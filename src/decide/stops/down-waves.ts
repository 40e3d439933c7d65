import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Wave } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";

/** A wave begins above this share, if at least {@link FEWEST} nodes are down. */
const SHARE_WAVE = 0.3;
const FEWEST = 2;
/** More nodes of one array than this are a wave, whatever their share is. */
const MOST_OF_ARRAY = 20;
/** A wave ends after this time below half of these. */
const CALM_SECONDS: Seconds = 600;

/** How many nodes are down, and of how many: by array, and `undefined` for all arrays together. */
export type DownCounts = ReadonlyMap<ArrayName | undefined, { readonly down: number; readonly of: number }>;

/** The waves after an observation. */
export function nextWaves(before: readonly Wave[], counts: DownCounts, now: Instant): readonly Wave[] {
  const scopes = new Set([...before.map(({ array }) => array), ...counts.keys()]);
  return [...scopes].flatMap((array): readonly Wave[] => {
    const old = before.find((wave) => wave.array === array);
    const { down, of } = counts.get(array) ?? { down: 0, of: 0 };
    if (isMany(array, down, of)) return [{ ...named(array), since: old?.since ?? now }];
    if (old === undefined) return [];
    if (!isCalm(array, down, of)) return [{ ...named(array), since: old.since }];
    const calmSince = old.calmSince ?? now;
    return secondsBetween(calmSince, now) >= CALM_SECONDS ? [] : [{ ...old, calmSince }];
  });
}

const named = (array: ArrayName | undefined): Pick<Wave, "array"> => (array === undefined ? {} : { array });

function isMany(array: ArrayName | undefined, down: number, of: number): boolean {
  return (down >= FEWEST && down > of * SHARE_WAVE) || (array !== undefined && down > MOST_OF_ARRAY);
}

/** Below half of what begins a wave. */
function isCalm(array: ArrayName | undefined, down: number, of: number): boolean {
  const isFewOfArray = array === undefined || down <= MOST_OF_ARRAY / 2;
  return down === 0 || (down <= (of * SHARE_WAVE) / 2 && isFewOfArray);
}

/** Whether a node of this array is in a wave. */
export function isInWave(waves: readonly Wave[], array: ArrayName): boolean {
  return waves.some((wave) => wave.array === undefined || wave.array === array);
}

/** The ledger in which the clocks of nodes that are still down begin again, where a wave has ended. */
export function restartAfterWaves(
  ledger: Ledger,
  before: readonly Wave[],
  waves: readonly Wave[],
  now: Instant,
): Ledger {
  const ended = before.filter((old) => !waves.some(({ array }) => array === old.array));
  if (ended.length === 0) return ledger;
  const next = new Map<NodeId, LedgerNode>(ledger);
  ledger.forEach((node, id) => {
    if (node.down === undefined || node.goneAt !== undefined || !isInWave(ended, node.array)) return;
    next.set(id, { ...node, down: { ...node.down, clockFrom: now, observations: 1 } });
  });
  return next;
}
