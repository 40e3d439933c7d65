import type { CaseFacts, JobFacts, NodeFacts, Outcome } from "./allocator-case.ts";
import { readFacts, readOutcome, someMember } from "./allocator-case.ts";
import type { Json } from "./compare.ts";
import type { NaiveWorld } from "./naive-world.ts";
import { readNaiveWorld } from "./naive-world.ts";
import type { NaiveNode } from "./naive-judge.ts";
import { judgeSlot, putSlot } from "./naive-judge.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";

/** The library's plan of a case, and what its predicates ask of it. */
export interface LibraryPlan {
  readonly input: VectorCase["input"];
  readonly facts: CaseFacts;
  readonly outcome: Outcome;
  /** Our plan: what is shown at the end is counted from what it makes. Predicates of jobs do not look at it. */
  readonly ours: Outcome;
  readonly vmSizes: Json;
  /** Nodes before each job, as the library's placements up to there leave them. */
  readonly nodesBefore: (at: number) => ReadonlyMap<string, NaiveNode>;
  /** A node before any job, also one that the plan makes; undefined: there is none, or it is no healthy one. */
  readonly nodeAtFirst: (name: string) => NaiveNode | undefined;
}

export function readPlan(one: VectorCase, answer: Json, surroundings: Surroundings): LibraryPlan {
  const facts = readFacts(one);
  const outcome = readOutcome(one.expected);
  const world = readNaiveWorld(one, facts, surroundings);
  return {
    input: one.input,
    facts,
    outcome,
    ours: readOutcome(answer),
    vmSizes: surroundings.vmSizes,
    nodesBefore: (at) => (world === undefined ? new Map() : reenact(world, facts, outcome, at)),
    nodeAtFirst: (name) =>
      world?.buckets.flatMap(({ nodes }) => nodes).find((node) => node.name === name) ??
      (world === undefined ? undefined : exampleOf(world, outcome, name)),
  };
}

/** What a node that the plan makes is like. */
function exampleOf(world: NaiveWorld, outcome: Outcome, name: string): NaiveNode | undefined {
  const bucket = outcome.nodes.find((node) => node.name === name)?.bucket;
  return world.buckets.find(({ id, of }) => id === bucket && of !== undefined)?.example;
}

/** Follows the library's placements of the first jobs; what it takes where our judge would not is not taken. */
function reenact(
  world: NaiveWorld,
  facts: CaseFacts,
  outcome: Outcome,
  jobs: number,
): ReadonlyMap<string, NaiveNode> {
  const fresh = (node: NaiveNode, name: string): NaiveNode => ({
    ...node,
    name,
    resources: new Map(node.resources),
    jobs: new Set(node.jobs),
  });
  const nodes = new Map<string, NaiveNode>();
  for (const bucket of world.buckets)
    for (const node of bucket.nodes) nodes.set(node.name, fresh(node, node.name));
  const pools = {
    left: new Map([...world.pools.left.keys()].map((pool) => [pool, Infinity])),
    values: world.pools.values,
    once: new Set<string>(),
  };
  outcome.jobs.slice(0, jobs).forEach(({ nodes: used }, i) => {
    const job = facts.jobs[i];
    for (const { name, slots } of job === undefined ? [] : used) {
      const example = exampleOf(world, outcome, name);
      const node = nodes.get(name) ?? (example === undefined ? undefined : fresh(example, name));
      if (node === undefined || job === undefined) continue;
      nodes.set(name, node);
      const { jobs: others, owner } = node;
      for (let slot = 0; slot < slots; slot += 1) {
        const alone = { ...node, jobs: new Set<string>(), owner: undefined };
        const take = judgeSlot(job.members, alone, pools, job.name);
        if (take !== undefined) putSlot(take, node, pools, job.name);
      }
      others.add(job.name);
      node.owner ??= owner;
    }
  });
  return nodes;
}

export const asks = (job: JobFacts | undefined, test: (key: string, value: Json) => boolean): boolean =>
  someMember(job?.members, test);

/** Gone, off or deallocated: it has no machine. */
export function hasNoMachine({ status, target }: NodeFacts): boolean {
  return status === target && target !== "Started";
}
