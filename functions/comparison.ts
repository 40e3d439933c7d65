import { describeComparison } from "../src/app/describe/describe-comparison.ts";
import type { Problem } from "../src/domain/demand.ts";
import { forCluster } from "./for-cluster.ts";
import { badRequest } from "./problem.ts";
import { excerpt } from "../src/wire/json/problem.ts";

/** The comparison of the real and the virtual fleet, by day and node array. `since` and `until` are days in UTC, or moments. */
export const answerComparison = forCluster(async (composed, site, request) => {
  const problems: Problem[] = [];
  const since = readDay(request.query, "since", problems);
  const until = readDay(request.query, "until", problems);
  if (problems.length > 0) return badRequest(problems);
  const days = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) };
  return { status: 200, jsonBody: await describeComparison(composed.app, site.cluster, days) };
});

function readDay(query: URLSearchParams, name: string, problems: Problem[]): string | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return new Date(at).toISOString().slice(0, 10);
  problems.push({ path: name, found: excerpt(text), expected: "a day, as 2026-01-31, or a time" });
  return undefined;
}
