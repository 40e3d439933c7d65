import type { Problem } from "../src/domain/demand.ts";
import type { Instant } from "../src/domain/units.ts";
import { instant } from "../src/domain/units.ts";
import { excerpt } from "../src/wire/json/problem.ts";

const DAY_OF_TICKS = 1440;

export function readTime(query: URLSearchParams, name: string, problems: Problem[]): Instant | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const at = Date.parse(text);
  // Rows are named by their time, and none is from before 1970.
  if (!Number.isNaN(at)) return instant(Math.max(0, at));
  problems.push({ path: name, found: excerpt(text), expected: "a time, as 2026-01-31T12:00:00Z" });
  return undefined;
}

export function readLimit(query: URLSearchParams, problems: Problem[]): number {
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
