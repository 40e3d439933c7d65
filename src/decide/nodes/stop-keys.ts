import type { Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord, StopKeyUse } from "../../domain/record.ts";
import { isOurs } from "../../domain/exclusive.ts";

/**
 * Counts the live nodes by the key of their stop URL. The counts are in the record so that the health answer need not load the ledger.
 */
export function withStopKeys(record: ClusterRecord, ledger: Ledger): ClusterRecord {
  const { stopKeys: _before, ...rest } = record;
  const stopKeys = countKeys(ledger);
  return stopKeys.every(({ keyId }) => keyId === undefined) ? rest : { ...rest, stopKeys };
}

function countKeys(ledger: Ledger): readonly StopKeyUse[] {
  const counts = new Map<string | undefined, number>();
  ledger.forEach((node) => {
    if (node.goneAt !== undefined || !isOurs(node, {})) return;
    counts.set(node.keyId, (counts.get(node.keyId) ?? 0) + 1);
  });
  return [...counts].map(([keyId, nodes]) => (keyId === undefined ? { nodes } : { keyId, nodes }));
}
