import type { Allocation, World } from "../../src/domain/allocation.ts";
import type { GroupDemand, JobDemand, RankedDemand } from "../../src/domain/demand.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";

/**
 * Judges an allocation by counting, one thing at a time and with no regard to speed. Shares nothing with src/decide: it adds up what the
 * answer asks for and holds it against the world. Answers with sentences, one per broken rule.
 */
export function findFaults(
  world: World,
  demands: readonly RankedDemand[],
  answer: Allocation,
): readonly string[] {
  return [
    ...outcomeFaults(demands, answer),
    ...limitFaults(world, answer),
    ...groupFaults(world, demands, answer),
    ...capacityFaults(world, demands, answer),
    ...spareFaults(world, demands, answer),
  ];
}

const same = (a: BucketKey, b: BucketKey): boolean => a.array === b.array && a.machineType === b.machineType;
const sameGroup = (a: BucketKey, b: BucketKey): boolean =>
  same(a, b) && a.placementGroup === b.placementGroup;

/** P2: placed + unmet = asked, in each demand's unit, and a reason for whatever is unmet. */
function outcomeFaults(demands: readonly RankedDemand[], answer: Allocation): string[] {
  const faults: string[] = [];
  if (answer.outcomes.length !== demands.length) faults.push(`${answer.outcomes.length} outcomes`);
  for (const { set, demand } of demands) {
    const outcome = answer.outcomes.find((one) => one.set === set && one.id === demand.id);
    if (outcome === undefined) {
      faults.push(`${demand.id} has no outcome`);
      continue;
    }
    const asked =
      demand.kind === "target"
        ? demand.amount.count
        : demand.kind === "groups"
          ? demand.groups
          : demand.iterations * (demand.nodeCount ?? 1);
    if (outcome.asked !== asked) faults.push(`${demand.id} asked ${asked}, not ${outcome.asked}`);
    if (outcome.placed < 0 || outcome.placed > asked)
      faults.push(`${demand.id} placed ${outcome.placed} of ${asked}`);
    if (outcome.pending < 0 || outcome.pending > outcome.placed)
      faults.push(`${demand.id} pending ${outcome.pending}`);
    if (outcome.placed < asked !== outcome.reasons.length > 0) {
      faults.push(`${demand.id} placed ${outcome.placed} of ${asked} with ${outcome.reasons.length} reasons`);
    }
  }
  return faults;
}

/** P3: no limit is exceeded, nothing is made where nothing may be made. */
function limitFaults(world: World, answer: Allocation): string[] {
  const faults: string[] = [];
  const taken = world.limits.map(() => 0);
  for (const create of answer.creates) {
    const offer = world.buckets.find((one) => same(one.bucket, create.bucket));
    if (offer === undefined) {
      faults.push(`created in no bucket: ${create.bucket.machineType}`);
      continue;
    }
    if (world.closed !== undefined || offer.refusal !== undefined)
      faults.push("created where nothing may be");
    if (!(create.count > 0) || !Number.isInteger(create.count)) faults.push(`create of ${create.count}`);
    for (const { limit, amount } of offer.charges) taken[limit] = (taken[limit] ?? 0) + amount * create.count;
    const group = create.bucket.placementGroup;
    if (group === undefined) continue;
    if (offer.groupRefusals?.has(group) === true) faults.push(`${group} is paused and gets nodes`);
    const isFresh =
      !offer.groupSizes.has(group) && !world.nodes.some(({ bucket }) => bucket.placementGroup === group);
    if (isFresh && offer.groupRefusals !== undefined) faults.push(`${group} evades a pause`);
    let size = offer.groupSizes.get(group) ?? 0;
    for (const other of answer.creates) if (sameGroup(other.bucket, create.bucket)) size += other.count;
    if (size > (offer.maxPlacementGroupSize ?? 0)) faults.push(`${group} has ${size} nodes`);
  }
  world.limits.forEach((limit, index) => {
    if ((taken[index] ?? 0) > limit.left) {
      faults.push(`${limit.id.kind} ${limit.id.name}: ${taken[index]} taken, ${limit.left} left`);
    }
  });
  return faults;
}

/** All nodes after the plan, each by itself. */
function nodesAfter(world: World, answer: Allocation) {
  const existing = world.nodes.map((node) => ({
    ...node,
    spare: !answer.needed.has(node.nodeId),
    fresh: false,
  }));
  const coming = [
    ...world.inFlight.map((entry) => ({ ...entry, fresh: false })),
    ...answer.creates.map((create) => {
      const offer = world.buckets.find((one) => same(one.bucket, create.bucket));
      return { ...create, resources: offer?.resources ?? {}, cores: offer?.cores ?? 0, fresh: true };
    }),
  ].flatMap((entry) => Array.from({ length: entry.count }, () => ({ ...entry, spare: false })));
  return [...existing, ...coming];
}

/** P4: what is made for a group makes it whole, in one bucket and one placement group; and there are as many as were promised. */
function groupFaults(world: World, demands: readonly RankedDemand[], answer: Allocation): string[] {
  const faults: string[] = [];
  const after = nodesAfter(world, answer);
  for (const { demand } of demands) {
    if (demand.kind !== "groups") continue;
    const key = `${demand.array}:${demand.size.count}${demand.size.unit === "nodes" ? "n" : ""}`;
    const groups = new Map<string, number>();
    const made = new Set<string>();
    for (const node of after) {
      if (node.purpose.kind !== "group" || node.purpose.key !== key) continue;
      if (node.purpose.group !== node.bucket.placementGroup)
        faults.push(`${node.purpose.group} lies elsewhere`);
      const place = `${node.bucket.machineType}/${node.bucket.placementGroup}`;
      const unit = demand.size.unit === "nodes" ? 1 : node.cores;
      groups.set(place, (groups.get(place) ?? 0) + unit);
      if (node.fresh) made.add(place);
    }
    for (const place of made) {
      if ((groups.get(place) ?? 0) < demand.size.count) faults.push(`${place} is made and not whole`);
    }
    const whole = [...groups.values()].filter((size) => size >= demand.size.count).length;
    const promised = placedOf(answer, demand);
    if (whole < promised) faults.push(`${demand.id}: ${promised} groups promised, ${whole} whole`);
  }
  return faults;
}

function placedOf(answer: Allocation, demand: GroupDemand): number {
  return answer.outcomes.find(({ id }) => id === demand.id)?.placed ?? 0;
}

/** Nobody is promised more than the needed, coming and new nodes hold: by resource for all jobs together, by node for each target. */
function capacityFaults(world: World, demands: readonly RankedDemand[], answer: Allocation): string[] {
  const faults: string[] = [];
  const after = nodesAfter(world, answer).filter(({ spare }) => !spare);
  for (const resource of ["ncpus", "mem"]) {
    const held = after.reduce((total, node) => total + Number(node.resources[resource] ?? 0), 0);
    let promised = 0;
    for (const { demand } of demands) {
      if (demand.kind !== "job") continue;
      // Each host of a running gang holds its whole share.
      const shares = demand.placed.map(({ hostname, iterations }) => [hostname, iterations] as const);
      const bound =
        demand.nodeCount === undefined
          ? shares.reduce((total, [, iterations]) => total + iterations, 0)
          : new Map(shares).size * demand.iterations;
      const placed = answer.outcomes.find(({ id }) => id === demand.id)?.placed ?? 0;
      promised += Math.max(0, placed - bound) * (needsOf(demand)[resource] ?? 0);
    }
    if (promised > held + 1e-6) faults.push(`${promised} ${resource} promised, ${held} held`);
  }
  for (const { demand } of demands) {
    if (demand.kind !== "target") continue;
    const held = after
      .filter(({ bucket }) => bucket.array === demand.array)
      .reduce((total, node) => total + (demand.amount.unit === "nodes" ? 1 : node.cores), 0);
    const placed = answer.outcomes.find(({ id }) => id === demand.id)?.placed ?? 0;
    if (placed > held) faults.push(`${demand.id}: ${placed} promised, ${held} held`);
  }
  return faults;
}

/** What each slot takes: the plain amounts of a job, which is all that these worlds know. */
function needsOf(job: JobDemand): Readonly<Record<string, number>> {
  const needs: Record<string, number> = {};
  for (const one of job.constraints) {
    if (one.kind === "amount" && typeof one.amount === "number") needs[one.resource] = one.amount;
  }
  return needs;
}

/** What a job says of a property; if nothing, that any value will do. */
function choicesOf(job: JobDemand, property: "nodearray" | "vm_size", any: string): readonly unknown[] {
  for (const one of job.constraints) {
    if (one.kind === "property-choice" && one.property === property) return one.choices;
  }
  return [any];
}

/** A node is not left over while a job or target that could use it is short. */
function spareFaults(world: World, demands: readonly RankedDemand[], answer: Allocation): string[] {
  const faults: string[] = [];
  for (const node of world.nodes) {
    if (answer.needed.has(node.nodeId)) continue;
    for (const { demand } of demands) {
      if (
        demand.kind === "groups" ||
        (demand.kind === "job" && (demand.nodeCount !== undefined || demand.colocated))
      )
        continue;
      const outcome = answer.outcomes.find(({ id }) => id === demand.id);
      if (outcome === undefined || outcome.placed >= outcome.asked) continue;
      const arrays =
        demand.kind === "target" ? [demand.array] : choicesOf(demand, "nodearray", node.bucket.array);
      if (!arrays.some((array) => array === node.bucket.array)) continue;
      const sizes =
        demand.kind === "target"
          ? (demand.machineTypes ?? [node.bucket.machineType])
          : choicesOf(demand, "vm_size", node.bucket.machineType);
      if (!sizes.some((size) => size === node.bucket.machineType)) continue;
      const needs = demand.kind === "job" ? Object.entries(needsOf(demand)) : [];
      const fits = needs.every(([name, amount]) => Number(node.resources[name] ?? 0) >= amount);
      if (fits) faults.push(`${node.nodeId} is left over, and ${demand.id} is short`);
    }
  }
  return faults;
}
