import type { MissingBodies } from "../../domain/missing-bodies.ts";
import type { Digest } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { entriesOf } from "../../domain/request-sets.ts";
import type { BodyRows } from "./bodies.ts";
import type { BodyIndex, BodyRef, EntryKey } from "./body-index.ts";
import { demandKey, reportKey } from "./body-index.ts";
import { clusterPartition } from "./keys.ts";
import { packOf } from "./packs.ts";

/**
 * The bodies that the index names and storage lacks, and their contents. Undefined if none is missing. The remembered parts of finished
 * sets do not count: a missing shard counts as empty.
 */
export async function findMissing(
  bodies: BodyRows,
  record: ClusterRecord,
  { seen, ledger, questions, plan, packs, own }: BodyIndex,
): Promise<MissingBodies | undefined> {
  const partition = clusterPartition(record.cluster);
  const refs = [seen, ledger, questions, plan, ...packs, ...own.values()].filter((ref) => ref !== undefined);
  const found = await Promise.all(
    refs.map(async (ref) => ({ ref, isThere: await bodies.isThere(partition, ref) })),
  );
  const ids = new Set(found.filter(({ isThere }) => !isThere).map(({ ref }) => ref.id));
  if (ids.size === 0) return undefined;
  const isMissing = (ref: BodyRef | undefined): boolean => ref !== undefined && ids.has(ref.id);
  const isLost = (key: EntryKey): boolean => isMissing(own.get(key) ?? packs[packOf(key, packs.length)]);
  const digests = new Set<Digest>();
  for (const entry of entriesOf(record)) {
    if (!entry.live) continue;
    if (isLost(demandKey(entry))) digests.add(entry.digest);
    const key = reportKey(entry);
    if (key !== undefined && entry.report !== undefined && isLost(key)) digests.add(entry.report);
  }
  return {
    ids: [...ids].toSorted(),
    seen: isMissing(seen),
    ledger: isMissing(ledger),
    questions: isMissing(questions),
    plan: isMissing(plan),
    digests,
  };
}
