import type { DemandExplained, NodeExplained, Unknown } from "../decide/explain.ts";
import { explainJob, explainNode } from "../decide/explain.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { ClusterName, SetName } from "../domain/ids.ts";
import { renderReason } from "../domain/reason.ts";
import type { App } from "./commit.ts";
import { loadWhole } from "./commit.ts";

/** What somebody wants explained. */
export type Question =
  | { readonly kind: "job"; readonly job: string; readonly set?: SetName }
  | { readonly kind: "node"; readonly node: string };

export type Explanation =
  | { readonly kind: "explained"; readonly body: Readonly<Record<string, unknown>> }
  | Unknown
  /** It was pushed, and no plan has seen it yet. */
  | { readonly kind: "not-planned" }
  /** It was pushed and could not be read. */
  | { readonly kind: "rejected"; readonly problems: readonly unknown[] };

/** Explains a job or a node of a cluster by its last plan: data, with all of it in words as `text`. */
export async function explain(app: App, cluster: ClusterName, question: Question): Promise<Explanation> {
  const { bodies } = await loadWhole(app, cluster);
  const { plan, ledger } = bodies;
  if (plan === undefined) return { kind: "not-planned" };
  const answer =
    question.kind === "node"
      ? explainNode(plan, ledger, question.node)
      : explainJob(plan, ledger, question.job, question.set);
  if (answer.kind !== "unknown") return { kind: "explained", body: bodyOf(answer, plan.number) };
  return question.kind === "job" ? lookInDemand(bodies, question.job, answer) : answer;
}

function bodyOf(answer: DemandExplained | NodeExplained, plan: number): Readonly<Record<string, unknown>> {
  if (answer.kind === "node") return { plan, ...answer };
  return { plan, ...answer, reasonTexts: answer.reasons.map(renderReason) };
}

/** What the plan does not know may have come after it, or may have been refused by itself. */
function lookInDemand({ demands }: Bodies, job: string, unknown: Unknown): Explanation {
  for (const set of demands.values()) {
    const rejected = set.rejectedJobs.find(({ name }) => name === job);
    if (rejected !== undefined) return { kind: "rejected", problems: rejected.problems };
    if (set.demands.some(({ id }) => id === job)) return { kind: "not-planned" };
  }
  return unknown;
}
