import type { History, HistoryRow } from "../../app/ports/record-store.ts";
import type { ClusterName } from "../../domain/ids.ts";

/** History in memory. Appending in order of time is cheap; anything else sorts. */
export function memoryHistory(): History {
  const clusters = new Map<ClusterName, HistoryRow[]>();
  const rowsOf = (cluster: ClusterName): HistoryRow[] => {
    const rows = clusters.get(cluster) ?? [];
    clusters.set(cluster, rows);
    return rows;
  };
  return {
    async append(cluster, row) {
      const rows = rowsOf(cluster);
      const last = rows.at(-1);
      if (last === undefined || last.at < row.at) {
        rows.push(row);
        return;
      }
      const others = rows.filter(({ at }) => at !== row.at);
      clusters.set(
        cluster,
        [...others, row].toSorted((a, b) => a.at - b.at),
      );
    },
    async read(cluster, from, to, limit) {
      const inRange = rowsOf(cluster).filter(({ at }) => from <= at && at <= to);
      return inRange.toReversed().slice(0, limit);
    },
    async prune(cluster, before) {
      const rows = rowsOf(cluster);
      // Rows are in order of time, and usually none is old: a virtual run calls this at every tick.
      const kept = rows.findIndex(({ at }) => at >= before);
      return rows.splice(0, kept < 0 ? rows.length : kept).length;
    },
  };
}
