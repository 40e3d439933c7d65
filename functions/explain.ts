import type { Question } from "../src/app/describe/explain-cluster.ts";
import { explain } from "../src/app/describe/explain-cluster.ts";
import type { Problem } from "../src/domain/demand.ts";
import { setName } from "../src/domain/ids.ts";
import { explanation } from "./explanation.ts";
import { forCluster } from "./for-cluster.ts";
import { badRequest } from "./problem.ts";
import { excerpt } from "../src/wire/json/problem.ts";

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
