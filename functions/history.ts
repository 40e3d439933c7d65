import { describeHistory } from "../src/app/describe/describe-history.ts";
import type { Problem } from "../src/domain/demand.ts";
import { instant } from "../src/domain/units.ts";
import { forCluster } from "./for-cluster.ts";
import { readLimit, readTime } from "./history-query.ts";
import { badRequest } from "./problem.ts";

/** Rows newest first, and the kept plans of that time. `from` and `to` are ISO-8601, `limit` at most 10,000. */
export const answerHistory = forCluster(async ({ app }, { cluster }, { query }) => {
  const problems: Problem[] = [];
  const from = readTime(query, "from", problems) ?? instant(0);
  const to = readTime(query, "to", problems) ?? app.ports.clock.now();
  const limit = readLimit(query, problems);
  if (problems.length > 0) return badRequest(problems);
  return { status: 200, jsonBody: await describeHistory(app, cluster, { from, to, limit }) };
});
