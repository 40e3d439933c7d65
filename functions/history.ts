import { firstBytes } from "../src/app/describe/pages.ts";
import type { Problem } from "../src/domain/demand.ts";
import { instant, isoTime } from "../src/domain/units.ts";
import { forCluster } from "./for-cluster.ts";
import { readLimit, readTime } from "./history-query.ts";
import { badRequest } from "./problem.ts";

/**
 * Rows newest first. `from` and `to` are ISO-8601, `limit` at most 10,000. `keptPlans`: plans of that time that changed something and can
 * be explained, with their counts in `planCounts`. If the answer is too large, `next` is the `to` of the next request.
 */
export const answerHistory = forCluster(async (composed, site, request) => {
  const { clock, history, plans } = composed.app.ports;
  const problems: Problem[] = [];
  const from = readTime(request.query, "from", problems) ?? instant(0);
  const to = readTime(request.query, "to", problems) ?? clock.now();
  const limit = readLimit(request.query, problems);
  if (problems.length > 0) return badRequest(problems);
  const read = await history.read(site.cluster, from, to, limit);
  const rows = firstBytes(read, MOST_BYTES);
  const oldest = rows.at(-1);
  // A row shows the last plan of its minute. The other plans of the oldest minute come after the row before.
  const since = oldest?.at ?? from;
  const [before] = await history.read(site.cluster, instant(0), instant(since - 1), 1);
  const listed = await plans.list(
    site.cluster,
    (before?.plan ?? 0) + 1,
    Number.MAX_SAFE_INTEGER - 1,
    MOST_PLANS,
  );
  const kept = listed.filter(({ at }) => from <= at && at <= to);
  return {
    status: 200,
    jsonBody: {
      cluster: site.cluster,
      rows: rows.map((row) => ({ ...row, at: isoTime(row.at) })),
      ...(oldest === undefined || rows.length === read.length
        ? {}
        : { next: isoTime(instant(oldest.at - 1)) }),
      keptPlans: kept.map(({ number }) => number),
      planCounts: kept.map(({ number, at, counts }) => ({ plan: number, at: isoTime(at), ...counts })),
    },
  };
});

const MOST_PLANS = 1000;

/** Maximum size of the rows. An answer stays below 2 MiB. */
const MOST_BYTES = 1_500_000;
