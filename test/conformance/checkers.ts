import type { CaseFacts, JobFacts, JobOutcome, Outcome } from "./allocator-case.ts";
import { readFacts, readOutcome } from "./allocator-case.ts";
import type { Json } from "./compare.ts";
import { naiveFirstFit } from "./naive-first-fit.ts";
import { readNaiveWorld } from "./naive-world.ts";
import type { NaiveWorld } from "./naive-world.ts";
import type { NaiveNode } from "./naive-judge.ts";
import { isOpen, judgeSlot, putSlot } from "./naive-judge.ts";
import { exceededLimits } from "./naive-limits.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";

/**
 * What is wrong with an answer, whatever is expected. Nothing of the product decides here: limits are counted from the status, each slot
 * is put on its node once more by the naive judge, and the naive first fit is what the answer must not fall short of.
 */
export function findFaults(one: VectorCase, answer: Json, surroundings: Surroundings): readonly string[] {
  const facts = readFacts(one);
  const outcome = readOutcome(answer);
  const world = readNaiveWorld(one, facts, surroundings);
  if (world === undefined) return [];
  const readable = facts.jobs.map((_, i) => outcome.jobs[i]?.refused !== true);
  const least = naiveFirstFit(world, readable);
  return [
    ...exceededLimits(facts, surroundings.vmSizes, outcome.created),
    ...facts.jobs.flatMap((job, i) => brokenRules(job, outcome.jobs[i])),
    ...overdrawnNodes(world, facts, outcome),
    ...shortfall(facts, outcome, least),
  ];
}

/** What is whole is in one bucket, which has the placement group in its name; a number of nodes is of distinct nodes. */
function brokenRules(job: JobFacts, outcome: JobOutcome | undefined): readonly string[] {
  if (outcome === undefined) return [`${job.name}: no answer`];
  const faults: string[] = [];
  const slots = outcome.nodes.reduce((sum, node) => sum + node.slots, 0);
  const wanted = job.nodeCount > 0 ? job.nodeCount : job.iterations;
  if (slots !== outcome.allocated)
    faults.push(`${job.name}: ${outcome.allocated} allocated, ${slots} on nodes`);
  if (slots > wanted) faults.push(`${job.name}: ${slots} of ${wanted}`);
  if (job.whole && slots > 0 && slots < wanted)
    faults.push(`${job.name}: ${slots} of ${wanted}, all or none`);
  if (job.whole && outcome.buckets.length > 1)
    faults.push(`${job.name}: in ${outcome.buckets.join(" and ")}`);
  const names = outcome.nodes.map(({ name }) => name);
  if (job.nodeCount > 0 && outcome.nodes.some((node) => node.slots > 1))
    faults.push(`${job.name}: several times on a node`);
  if (job.nodeCount > 0 && new Set(names).size < names.length) faults.push(`${job.name}: a node twice`);
  return faults;
}

/** Puts every slot of the answer where it says, in order; one that the naive judge refuses is a fault. */
function overdrawnNodes(world: NaiveWorld, facts: CaseFacts, outcome: Outcome): readonly string[] {
  const nodes = new Map<string, NaiveNode>();
  for (const node of world.buckets.flatMap((bucket) => bucket.nodes))
    nodes.set(node.name, { ...node, resources: new Map(node.resources), jobs: new Set(node.jobs) });
  const { left, values } = world.pools;
  const pools = { left: new Map(left), values, once: new Set<string>() };
  const faults: string[] = [];
  outcome.jobs.forEach((answer, i) => {
    const job = facts.jobs[i];
    if (job === undefined) return;
    // Two jobs of one name are two jobs.
    const owner = `${job.name}#${i}`;
    for (const { name, fresh, slots } of answer.nodes) {
      const node = fresh ? newNode(world, outcome, name) : nodes.get(name);
      if (node === undefined) {
        faults.push(`${job.name}: ${name} is no healthy node of a bucket`);
        continue;
      }
      nodes.set(name, node);
      for (let slot = 0; slot < slots; slot += 1) {
        const take = judgeSlot(job.members, node, pools, owner);
        if (take === undefined || !isOpen(node, owner, take)) {
          faults.push(`${job.name}: slot ${slot + 1} of ${slots} is too much for ${name}`);
          break;
        }
        putSlot(take, node, pools, owner);
      }
    }
  });
  return faults;
}

function newNode(world: NaiveWorld, outcome: Outcome, name: string): NaiveNode | undefined {
  const bucket = outcome.nodes.find((node) => node.name === name)?.bucket;
  const example = world.buckets.find(({ id, of }) => id === bucket && of !== undefined)?.example;
  return example === undefined
    ? undefined
    : { ...example, name, failure: -1, resources: new Map(example.resources), jobs: new Set() };
}

/** Slots and nodes in all, against those of the naive first fit. */
function shortfall(
  facts: CaseFacts,
  outcome: Outcome,
  naively: readonly ReadonlyMap<string, number>[],
): readonly string[] {
  const least = naively.map((placed) => [...placed.values()].reduce((sum, one) => sum + one, 0));
  const total = outcome.jobs.reduce((sum, { allocated }) => sum + allocated, 0);
  const naive = least.reduce((sum, one) => sum + one, 0);
  const detail = facts.jobs
    .map(({ name }, i) => `${name} ${outcome.jobs[i]?.allocated}/${least[i]}`)
    .join(", ");
  return total < naive ? [`placed ${total}, a naive first fit places ${naive}: ${detail}`] : [];
}
