import { compileAll, compile } from "../../src/decide/constraints/match.ts";
import type { NodeView } from "../../src/domain/node-view.ts";
import { sharedStateOf } from "../../src/decide/constraints/shared-pools.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { Refusal } from "../../src/domain/refusal.ts";
import { isSize, sizeJson } from "../../src/domain/size.ts";
import { readConstraints } from "../../src/wire/constraint/constraint.ts";
import { newNotes } from "../../src/wire/json/problems.ts";
import type { Json } from "./compare.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";
import { readCluster, readRules } from "./vector-cluster.ts";
import type { Judgement } from "../../src/decide/constraints/judge.ts";
import { takeFrom } from "../../src/decide/constraints/judge.ts";

/** Names that the vectors have for our refusals. */
export const STATUSES: Readonly<Record<Refusal["code"], string>> = {
  "undefined-resource": "UndefinedResource",
  "insufficient-resource": "InsufficientResource",
  "not-an-amount": "NotAnAmount",
  "invalid-option": "InvalidOption",
  "not-yet": "InvalidOption",
  "not-exclusive": "ExclusiveRequirementFailed",
  "not-in-a-placement-group": "NotInAPlacementGroup",
  "in-a-placement-group": "InAPlacementGroup",
  "no-alternative": "CompoundFailure",
  "several-alternatives": "XORFailed",
  holds: "not(success)",
  never: "Never",
  "pool-short": "SharedLimitReached",
  "unknown-pool": "SharedLimitReached",
  "pool-value": "InvalidSharedValue",
  "capacity-failure-backoff": "CapacityFailureBackoff",
};

/** "As often as you like", where a constraint has an opinion. */
const WITHOUT_END = 2 ** 31;

/** Judges the constraint on every bucket and node of the world, and takes one slot on those nodes that will do. */
export function answerEvaluate({ input }: VectorCase, surroundings: Surroundings): Json {
  const { world } = surroundings;
  if (world === undefined) throw new Error("the case names a world that is not there");
  const read = readRules(world, surroundings);
  const notes = newNotes();
  const constraints = readConstraints(input["constraint"], "constraint", notes);
  const [problem] = notes.problems.all();
  if (read.kind === "refused" || problem !== undefined)
    return { raises: problem?.expected ?? "default_resources" };
  const cluster = readCluster(world, read.rules);
  const buckets = [...cluster.buckets].map(([id, view]) => [id, judge(constraints, view, false)] as const);
  const nodes = [...cluster.nodes].map(([id, view]) => [id, judge(constraints, view, true)] as const);
  return { buckets: Object.fromEntries(buckets), nodes: Object.fromEntries(nodes) };
}

/** One constraint is judged as itself: in a list its score and space would be those of the list. */
function judge(constraints: readonly Constraint[], view: NodeView, take: boolean): Json {
  const [only] = constraints;
  const matcher = constraints.length === 1 && only !== undefined ? compile(only) : compileAll(constraints);
  const judgement = matcher(view, sharedStateOf([], constraints));
  const verdict = {
    satisfied: judgement.kind === "met",
    status: judgement.kind === "met" ? "success" : STATUSES[judgement.refusal.code],
    score: judgement.kind === "met" ? judgement.score : null,
    space: judgement.space === undefined ? -1 : Math.min(judgement.space, WITHOUT_END),
  };
  return judgement.kind === "met" && take ? { ...verdict, take_one: takeOne(judgement, view) } : verdict;
}

function takeOne(judgement: Judgement & { kind: "met" }, view: NodeView): Json {
  const changed: [string, Json][] = [];
  for (const [resource, amount] of judgement.takes) {
    const left = takeFrom(view.available[resource], amount);
    const isNothing = isSize(amount) ? amount.amount === 0 : amount === 0;
    if (!isNothing) changed.push([resource, isSize(left) ? sizeJson(left) : left]);
  }
  return {
    returns: true,
    ...(changed.length === 0 ? {} : { available: Object.fromEntries(changed) }),
    ...(judgement.closes === undefined ? {} : { closed: true }),
  };
}
