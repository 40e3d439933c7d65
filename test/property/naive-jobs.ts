import type { NodeLoad } from "../../src/domain/allocation.ts";
import type { JobDemand } from "../../src/domain/demand.ts";
import { countOf, isAtMost, takingOf, waysOf } from "./naive-constraints.ts";
import type { Taking } from "./naive-constraints.ts";
import type { NaiveNode, RankedJob, Sheet } from "./naive-nodes.ts";
import { hostAt, jobsOf, nameOf, outcomeOf, placeText, shareOf, textOf } from "./naive-nodes.ts";

/** P2, P3 and P4 for jobs: what the loads say is what was promised, on nodes that will do, with room on each. */
export function jobFaults(sheet: Sheet): readonly string[] {
  return [
    ...nameFaults(sheet),
    ...jobsOf(sheet.demands).flatMap((job) => [
      ...countFaults(sheet, job),
      ...boundFaults(sheet, job),
      ...placeOfJobFaults(sheet, job),
      ...gangFaults(sheet, job),
      ...crowdFaults(sheet, job),
    ]),
    ...sheet.nodes.flatMap((node) => [
      ...roomFaults(sheet, node),
      ...companyFaults(sheet, node),
      ...nothingFaults(sheet, node),
      ...needFaults(sheet, node),
    ]),
    ...poolFaults(sheet),
  ];
}

type Part = NodeLoad["jobs"][number];

const slotsOn = (jobs: readonly Part[], by: string, isBound: boolean): number =>
  jobs
    .filter((part) => part.by === by && part.bound === isBound)
    .reduce((total, { slots }) => total + slots, 0);

const carries = (node: NaiveNode, by: string): boolean => slotsOn(node.jobs, by, false) > 0;

function nameFaults({ nodes, demands }: Sheet): readonly string[] {
  const names = new Set(jobsOf(demands).map(nameOf));
  return nodes
    .flatMap(({ jobs }) => jobs)
    .flatMap(({ by, slots }) => [
      ...(names.has(by) ? [] : [`slots of ${by}, which is no job`]),
      ...(slots > 0 && Number.isInteger(slots) ? [] : [`${slots} slots of ${by}`]),
    ]);
}

/** Slots that run already: on the hosts that the scheduler names, ours or not. */
export function boundSlots({ placed, iterations, nodeCount }: JobDemand): number {
  const share = nodeCount === undefined || nodeCount === 0 ? undefined : iterations;
  const slots = placed.reduce((total, one) => total + (share ?? one.iterations), 0);
  return Math.min(slots, iterations * (nodeCount ?? 1));
}

/** P2: the slots over all nodes are what was promised, bound ones included once; those on nodes that are not up are pending. */
function countFaults(sheet: Sheet, job: RankedJob): readonly string[] {
  const outcome = outcomeOf(sheet, job);
  if (outcome === undefined) return [];
  const by = nameOf(job);
  const loose = sheet.nodes.reduce((total, { jobs }) => total + slotsOn(jobs, by, false), 0);
  const waiting = sheet.nodes.reduce(
    (total, node) => total + (node.ready ? 0 : slotsOn(node.jobs, by, false)),
    0,
  );
  const bound = boundSlots(job.demand);
  return [
    ...(bound + loose === outcome.placed
      ? []
      : [`${by}: ${outcome.placed} promised, ${loose} put and ${bound} bound`]),
    ...(waiting === outcome.pending
      ? []
      : [`${by}: ${outcome.pending} pending, ${waiting} on nodes that are not up`]),
  ];
}

/** What runs already is where the scheduler says, and nowhere else. */
function boundFaults(sheet: Sheet, job: RankedJob): readonly string[] {
  const by = nameOf(job);
  const expected = new Map<NaiveNode, number>();
  for (const { hostname, iterations } of job.demand.placed) {
    const host = hostAt(sheet.nodes, hostname);
    if (host !== undefined)
      expected.set(host, (expected.get(host) ?? 0) + (shareOf(job.demand) ?? iterations));
  }
  return sheet.nodes.flatMap((node) => {
    const here = slotsOn(node.jobs, by, true);
    const there = expected.get(node) ?? 0;
    return here === there
      ? []
      : [`${by}: ${there} run on ${node.hostname ?? textOf(node.bucket)}, and ${here} are bound`];
  });
}

/** What a slot of the job takes of a node; undefined: the node will not do. */
export function takingOn(sheet: Sheet, { demand }: RankedJob, node: NaiveNode): Taking | undefined {
  if (demand.spot === "never" && node.isSpot) return undefined;
  if (demand.spot === "only" && !node.isSpot) return undefined;
  return takingOf(demand.constraints, node, sheet.pools);
}

/**
 * P3: each node that gets a slot does what the job asks of nodes. Exactly one of several amounts may hold on a node that is partly used, and
 * not on an empty one: the reference engine of the conformance tests judges that.
 */
function placeOfJobFaults(sheet: Sheet, job: RankedJob): readonly string[] {
  const by = nameOf(job);
  if (job.demand.constraints.some(({ kind }) => kind === "xor")) return [];
  return sheet.nodes.flatMap((node) =>
    carries(node, by) && takingOn(sheet, job, node) === undefined
      ? [`${by} is on ${node.nodeId ?? textOf(node.bucket)}, which does not meet its constraints`]
      : [],
  );
}

/** P4: gangs and colocated jobs whole or not at all, in one place, unless a part of the gang will do; each node of a gang with the whole share, and only once. */
function gangFaults(sheet: Sheet, job: RankedJob): readonly string[] {
  const { demand } = job;
  const by = nameOf(job);
  const share = shareOf(demand);
  const outcome = outcomeOf(sheet, job);
  if ((share === undefined && !demand.colocated) || outcome === undefined) return [];
  const faults: string[] = [];
  const used = sheet.nodes.filter((node) => carries(node, by));
  const isPartial = demand.partial === true && !demand.colocated;
  if (!isPartial && used.length > 0 && outcome.placed < outcome.asked) faults.push(`${by} is placed in part`);
  const isSpread = isPartial || (demand.span === true && !demand.colocated);
  if (!isSpread && new Set(used.map(({ bucket }) => placeText(bucket))).size > 1)
    faults.push(`${by} is split over buckets`);
  if (demand.colocated) faults.push(...togetherFaults(sheet, job, used));
  if (share === undefined) return faults;
  for (const { jobs, nodeId, bucket } of used) {
    const slots = slotsOn(jobs, by, false);
    if (slots !== share) faults.push(`${by} has ${slots} slots of ${share} on a node`);
    if (slotsOn(jobs, by, true) > 0) faults.push(`${by} is on ${nodeId ?? textOf(bucket)} twice`);
  }
  return faults;
}

/** A job whose slots take nothing of a node has one of them there, as in scalelib where a job says nothing at all. */
export function crowdFaults(sheet: Sheet, job: RankedJob): readonly string[] {
  if (shareOf(job.demand) !== undefined) return [];
  return sheet.nodes.flatMap((node) => {
    const slots = slotsOn(node.jobs, nameOf(job), false);
    const ways = slots > 1 ? waysOf(job.demand.constraints, node, sheet.pools) : [];
    const isFree = ways.length > 0 && ways.every((way) => way.node.size === 0);
    return isFree ? [`${nameOf(job)}: ${slots} slots that take nothing on ${textOf(node.bucket)}`] : [];
  });
}

/** One placement group; where the job runs in groups already, in one of those. */
function togetherFaults(sheet: Sheet, job: RankedJob, used: readonly NaiveNode[]): readonly string[] {
  const by = nameOf(job);
  const faults: string[] = [];
  const groups = new Set(used.map(({ bucket }) => textOf(bucket)));
  if (groups.size > 1) faults.push(`${by} is split over placement groups`);
  if (used.some(({ bucket }) => bucket.placementGroup === undefined))
    faults.push(`${by} is in no placement group`);
  const homes = sheet.nodes
    .filter((node) => slotsOn(node.jobs, by, true) > 0 && node.bucket.placementGroup !== undefined)
    .map(({ bucket }) => textOf(bucket));
  if (homes.length > 0 && [...groups].some((group) => !homes.includes(group)))
    faults.push(`${by} runs in another group`);
  return faults;
}

function takingsOn(sheet: Sheet, node: NaiveNode, isBound: boolean) {
  return jobsOf(sheet.demands).flatMap((job) => {
    const slots = slotsOn(node.jobs, nameOf(job), isBound);
    const taking = slots > 0 ? takingOf(job.demand.constraints, node, sheet.pools) : undefined;
    return taking === undefined ? [] : [{ job, slots, taking }];
  });
}

/** P3: no node gives more than it has. What runs already need not fit; nothing more is put where it leaves nothing. */
function roomFaults(sheet: Sheet, node: NaiveNode): readonly string[] {
  const held = new Map<string, number>();
  for (const { slots, taking } of takingsOn(sheet, node, true))
    for (const [name, amount] of taking.node) held.set(name, (held.get(name) ?? 0) + amount * slots);
  const taken = new Map<string, number>();
  for (const { slots, taking } of takingsOn(sheet, node, false))
    for (const [name, amount] of taking.node) taken.set(name, (taken.get(name) ?? 0) + amount * slots);
  return [...taken].flatMap(([name, amount]) => {
    const free = Math.max(0, countOf(node.resources[name]) - (held.get(name) ?? 0));
    return isAtMost(amount, free)
      ? []
      : [`${node.nodeId ?? textOf(node.bucket)}: ${amount} ${name} taken, ${free} free`];
  });
}

/** P3: who wants to be alone is, and has one slot (a gang: its share) on the node. */
function companyFaults(sheet: Sheet, node: NaiveNode): readonly string[] {
  const faults: string[] = [];
  const where = node.nodeId ?? textOf(node.bucket);
  const loose = takingsOn(sheet, node, false);
  for (const { job, slots, taking } of loose) {
    if (taking.alone === undefined) continue;
    const by = nameOf(job);
    if (node.jobs.some((part) => part.by !== by)) faults.push(`${by} is not alone on ${where}`);
    if (taking.alone === "job" && slots > (shareOf(job.demand) ?? 1))
      faults.push(`${by} has ${slots} slots on ${where}`);
    if (taking.alone === "job" && slotsOn(node.jobs, by, true) > 0)
      faults.push(`${by} joins itself on ${where}`);
  }
  for (const { job, taking } of takingsOn(sheet, node, true)) {
    const others = loose.filter((one) => nameOf(one.job) !== nameOf(job));
    if (taking.alone !== undefined && others.length > 0) faults.push(`${nameOf(job)} was alone on ${where}`);
  }
  return faults;
}

/** P3: of a job whose slots take nothing of a node there is one on it. What alternatives take is not known here. */
function nothingFaults(sheet: Sheet, node: NaiveNode): readonly string[] {
  return takingsOn(sheet, node, false).flatMap(({ job, slots, taking }) => {
    const { constraints } = job.demand;
    if (taking.node.size > 0 || /"kind":"(or|xor)"/.test(JSON.stringify(constraints))) return [];
    const all = slots + slotsOn(node.jobs, nameOf(job), true);
    return shareOf(job.demand) !== undefined || all === 1
      ? []
      : [`${nameOf(job)} asks for no amount, and has ${all} slots on ${node.nodeId ?? textOf(node.bucket)}`];
  });
}

/** Maximum number of names for which a node is needed. */
const MOST_NAMES = 5;

/** A node that exists and carries slots is needed, by whom it carries. */
function needFaults({ answer }: Sheet, { nodeId, jobs }: NaiveNode): readonly string[] {
  if (nodeId === undefined) return [];
  const by = answer.needed.get(nodeId);
  return jobs.flatMap((part) => {
    if (by === undefined) return [`${nodeId} carries ${part.by} and is not needed`];
    return by.includes(part.by) || by.length >= MOST_NAMES
      ? []
      : [`${nodeId} carries ${part.by}, which is not named`];
  });
}

/** P3: no pool gives more than it has left. What runs already is in what the pool says is used. */
function poolFaults(sheet: Sheet): readonly string[] {
  return [...drainedOf(sheet)].flatMap(([name, amount]) => {
    const left = sheet.pools.left.get(name) ?? 0;
    return isAtMost(amount, left) ? [] : [`pool ${name}: ${amount} taken, ${left} left`];
  });
}

export function drainedOf(sheet: Sheet): ReadonlyMap<string, number> {
  const drained = new Map<string, number>();
  for (const node of sheet.nodes) {
    for (const { slots, taking } of takingsOn(sheet, node, false))
      for (const [name, amount] of taking.pools) drained.set(name, (drained.get(name) ?? 0) + amount * slots);
  }
  return drained;
}
