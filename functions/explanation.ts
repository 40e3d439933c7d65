import type { HttpResponseInit } from "@azure/functions";
import type { Explanation, Question } from "../src/app/describe/explain-cluster.ts";
import type { Site } from "../src/app/ports/site.ts";
import { problem } from "./problem.ts";
import { problemText } from "../src/domain/problem-text.ts";

export function explanation(site: Site, question: Question, answer: Explanation): HttpResponseInit {
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
