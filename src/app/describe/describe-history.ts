import { describeBound } from "./describe-plan.ts";
import type { ClusterName } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";
import { instant, isoTime } from "../../domain/units.ts";
import type { HistoryShown } from "../../wire/api/explanation-answers.ts";
import type { Ports } from "../ports/ports.ts";
import { firstBytes } from "./pages.ts";

/** The requested time, and the maximum number of rows: the newest ones, or with `points` the last one of each of so many equal steps. */
interface HistoryRange {
  readonly from: Instant;
  readonly to: Instant;
  readonly limit: number;
  readonly points?: number;
}

/**
 * Rows newest first, and the plans of that time that changed something and can be explained. If the answer would be too large, `next` is
 * the `to` of the next request.
 */
export async function describeHistory(
  { ports: { history, plans } }: { readonly ports: Pick<Ports, "history" | "plans"> },
  cluster: ClusterName,
  { from, to, limit, points }: HistoryRange,
): Promise<HistoryShown> {
  const read =
    points === undefined
      ? await history.read(cluster, from, to, limit)
      : thin(await history.read(cluster, from, to, ROWS_OF_30_DAYS), to, points);
  const rows = firstBytes(read);
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
    planCounts: kept.map(({ number, at, counts }) => ({
      plan: number,
      at: isoTime(at),
      ...counts,
      bound: describeBound(counts.bound),
    })),
  };
}

/** A row for each tick, as long as rows are kept. */
const ROWS_OF_30_DAYS = 43_300;

/** The newest row of each step, of rows that are the newest first. The steps begin at the oldest row, and end at `to`. */
function thin<Row extends { readonly at: Instant }>(
  rows: readonly Row[],
  to: Instant,
  points: number,
): readonly Row[] {
  const oldest = rows.at(-1);
  if (oldest === undefined || rows.length <= points) return rows;
  const step = (to - oldest.at + 1) / points;
  const stepOf = ({ at }: Row): number => Math.floor((to - at) / step);
  return rows.filter((row, index) => {
    const newer = rows[index - 1];
    return newer === undefined || stepOf(newer) !== stepOf(row);
  });
}

const MOST_PLANS = 1000;
