import { describeHistory } from "../src/app/describe/describe-history.ts";
import type { Problem } from "../src/domain/demand.ts";
import { instant } from "../src/domain/units.ts";
import { forCluster } from "./answering.ts";
import { badRequest } from "./problem.ts";
import type { Instant } from "../src/domain/units.ts";
import { excerpt } from "../src/wire/json/problem.ts";

/** Rows newest first, and the kept plans of that time. `from` and `to` are ISO-8601, `limit` at most 10,000. */
export const answerHistory = forCluster(async ({ app }, { cluster }, { query }) => {
  const problems: Problem[] = [];
  const from = readTime(query, "from", problems) ?? instant(0);
  const to = readTime(query, "to", problems) ?? app.ports.clock.now();
  const limit = readLimit(query, problems);
  if (problems.length > 0) return badRequest(problems);
  return { status: 200, jsonBody: await describeHistory(app, cluster, { from, to, limit }) };
});

const DAY_OF_TICKS = 1440;

function readTime(query: URLSearchParams, name: string, problems: Problem[]): Instant | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const at = Date.parse(text);
  // Rows are named by their time, and none is from before 1970.
  if (!Number.isNaN(at)) return instant(Math.max(0, at));
  problems.push({ path: name, found: excerpt(text), expected: "a time, as 2026-01-31T12:00:00Z" });
  return undefined;
}

function readLimit(query: URLSearchParams, problems: Problem[]): number {
  const text = query.get("limit") ?? String(DAY_OF_TICKS);
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
    problems.push({
      path: "limit",
      found: excerpt(text),
      expected: "a whole number from 1 to 10000",
    });
  }
  return limit;
}
