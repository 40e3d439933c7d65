import type { ClusterName } from "../../domain/ids.ts";
import type { Bytes, Instant } from "../../domain/units.ts";
import { instant, isoTime } from "../../domain/units.ts";
import type { HistoryShown } from "../../wire/api/explanation-answers.ts";
import type { App } from "../process/lanes.ts";
import { firstBytes } from "./pages.ts";

/** The requested time, and the maximum number of rows. */
interface HistoryRange {
  readonly from: Instant;
  readonly to: Instant;
  readonly limit: number;
}

/**
 * Rows newest first, and the plans of that time that changed something and can be explained. If the answer would be too large, `next` is
 * the `to` of the next request.
 */
export async function describeHistory(
  { ports: { history, plans } }: App,
  cluster: ClusterName,
  { from, to, limit }: HistoryRange,
): Promise<HistoryShown> {
  const read = await history.read(cluster, from, to, limit);
  const rows = firstBytes(read, MOST_BYTES);
  const oldest = rows.at(-1);
  // A row shows the last plan of its minute. The other plans of the oldest minute come after the row before.
  const since = oldest?.at ?? from;
  const [before] = await history.read(cluster, instant(0), instant(since - 1), 1);
  const listed = await plans.list(cluster, (before?.plan ?? 0) + 1, Number.MAX_SAFE_INTEGER - 1, MOST_PLANS);
  const kept = listed.filter(({ at }) => from <= at && at <= to);
  const isWhole = oldest === undefined || rows.length === read.length;
  return {
    cluster,
    rows: rows.map((row) => ({ ...row, at: isoTime(row.at) })),
    next: isWhole ? undefined : isoTime(instant(oldest.at - 1)),
    keptPlans: kept.map(({ number }) => number),
    planCounts: kept.map(({ number, at, counts }) => ({ plan: number, at: isoTime(at), ...counts })),
  };
}

const MOST_PLANS = 1000;

/** Maximum size of the rows. An answer stays below 2 MiB. */
const MOST_BYTES: Bytes = 1_500_000;
