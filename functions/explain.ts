import type { Question, Explanation } from "../src/app/describe/explain-cluster.ts";
import { explain } from "../src/app/describe/explain-cluster.ts";
import type { Problem } from "../src/domain/demand.ts";
import { setName } from "../src/domain/ids.ts";
import { forCluster, badRequest, problem } from "./answering.ts";
import { excerpt } from "../src/wire/json/problem.ts";
import type { HttpResponseInit } from "@azure/functions";
import type { Site } from "../src/app/ports/ports.ts";
import { problemText } from "../src/domain/shown.ts";
import { describeHistory } from "../src/app/describe/describe-history.ts";
import { describeNodeHistory } from "../src/app/describe/describe-node-history.ts";
import { PAGE_EXPECTED } from "../src/app/describe/pages.ts";
import { isLifeKey } from "../src/domain/node-life.ts";
import { withoutAbsent } from "../src/domain/without-absent.ts";
import type { Instant } from "../src/domain/units.ts";
import { instant } from "../src/domain/units.ts";

/**
 * Why a job has its placement, or why a node stays or is stopped. Exactly one of `job` (with `set` if several have one) and `node`. `plan`
 * asks for the explanation of a past plan.
 */
export const answerExplain = forCluster(async (composed, site, request) => {
  const question = readQuestion(request.query);
  return question.kind === "problems"
    ? badRequest(question.problems)
    : explanation(site, question, await explain(composed.app, site.cluster, question));
});

function readQuestion(
  query: URLSearchParams,
): Question | { readonly kind: "problems"; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const job = query.get("job") ?? "";
  const node = query.get("node") ?? "";
  if ((job === "") === (node === "")) {
    const found = job === "" ? "neither" : "both";
    problems.push({ path: "", found, expected: "one of the parameters job and node" });
  }
  const number = readPlanNumber(query, problems);
  if (problems.length > 0) return { kind: "problems", problems };
  const plan = number === undefined ? {} : { plan: number };
  if (node !== "") return { kind: "node", node, ...plan };
  const set = query.get("set");
  return { kind: "job", job, ...(set === null ? {} : { set: setName(set) }), ...plan };
}

function readPlanNumber(query: URLSearchParams, problems: Problem[]): number | undefined {
  const text = query.get("plan");
  if (text === null) return undefined;
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  problems.push({ path: "plan", found: excerpt(text), expected: "the number of a plan" });
  return undefined;
}

function explanation(site: Site, question: Question, answer: Explanation): HttpResponseInit {
  const name = question.kind === "job" ? question.job : question.node;
  switch (answer.kind) {
    case "explained":
      return { status: 200, jsonBody: answer.body };
    case "not-planned":
      return problem(503, "Cannot tell now", `no plan has seen ${question.kind} "${name}" yet`, {
        retryAfterSeconds: 10,
      });
    case "not-kept": {
      const near =
        answer.near.length === 0 ? "no plan near it is kept" : `kept near it: ${answer.near.join(", ")}`;
      const detail = `plan ${question.plan} changed nothing, or is not kept any more (${near})`;
      return problem(404, "Unknown plan", detail, { near: answer.near });
    }
    case "left-out": {
      const detail = `plan ${question.plan} was too large to be kept whole, and ${question.kind} "${name}" is not in what was kept of it`;
      return problem(404, `Unknown ${question.kind}`, detail);
    }
    case "rejected": {
      const why = answer.problems.map(problemText).join("; ");
      return problem(404, "Rejected job", `job "${name}" could not be read, and is left out: ${why}`, {
        jobProblems: answer.problems,
      });
    }
    case "unknown": {
      const near = answer.nearest.length === 0 ? "" : ` (nearest: ${answer.nearest.join(", ")})`;
      const detail = `cluster "${site.cluster}" has no ${question.kind} "${name}"${near}`;
      return problem(404, `Unknown ${question.kind}`, detail, { nearest: answer.nearest });
    }
  }
}

/** Rows newest first, and the kept plans of that time. `from` and `to` are ISO-8601, `limit` at most 10,000, `points` at most 2,000. */
export const answerHistory = forCluster(async ({ app }, { cluster }, { query }) => {
  const problems: Problem[] = [];
  const from = readTime(query, "from", problems) ?? instant(0);
  const to = readTime(query, "to", problems) ?? app.ports.clock.now();
  const limit = readLimit(query, problems, { usual: DAY_OF_TICKS, most: 10_000 });
  const points = readCount(query, "points", 2000, problems);
  if (problems.length > 0) return badRequest(problems);
  const range = { from, to, limit, ...withoutAbsent({ points }) };
  return { status: 200, jsonBody: await describeHistory(app, cluster, range) };
});

const DAY_OF_TICKS = 1440;

/** The nodes of a time, in pages. `from` and `to` are ISO-8601, `limit` at most 2,000, `page` is `next` of the answer before. */
export const answerNodeHistory = forCluster(async ({ app }, { cluster }, { query }) => {
  const problems: Problem[] = [];
  const from = readTime(query, "from", problems) ?? instant(0);
  const to = readTime(query, "to", problems) ?? app.ports.clock.now();
  const limit = readLimit(query, problems, { usual: 1000, most: 2000 });
  const after = query.get("page") ?? undefined;
  if (after !== undefined && !isLifeKey(after))
    problems.push({ path: "page", found: excerpt(after), expected: PAGE_EXPECTED });
  if (problems.length > 0) return badRequest(problems);
  const range = { from, to, limit, ...withoutAbsent({ after }) };
  return { status: 200, jsonBody: await describeNodeHistory(app, cluster, range) };
});

function readTime(query: URLSearchParams, name: string, problems: Problem[]): Instant | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const at = Date.parse(text);
  // Rows are named by their time, and none is from before 1970.
  if (!Number.isNaN(at)) return instant(Math.max(0, at));
  problems.push({ path: name, found: excerpt(text), expected: "a time, as 2026-01-31T12:00:00Z" });
  return undefined;
}

function readCount(
  query: URLSearchParams,
  name: string,
  most: number,
  problems: Problem[],
): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  problems.push({ path: name, found: excerpt(text), expected: `a whole number from 1 to ${most}` });
  return undefined;
}

function readLimit(
  query: URLSearchParams,
  problems: Problem[],
  { usual, most }: { readonly usual: number; readonly most: number },
): number {
  return readCount(query, "limit", most, problems) ?? usual;
}
