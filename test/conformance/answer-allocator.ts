import { allocate } from "../../src/decide/search/allocate.ts";
import { compileAll } from "../../src/decide/constraints/match.ts";
import type { Allocation, PlacementOrder } from "../../src/domain/allocation.ts";
import type { BucketOffer, World } from "../../src/domain/world.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand } from "../../src/domain/demand.ts";
import type { PlacementGroup } from "../../src/domain/ids.ts";
import type { NodeView, SharedState } from "../../src/domain/node-view.ts";
import type { Resources, ResourceValue } from "../../src/domain/resources.ts";
import { equalSizes, isSize, sizeJson } from "../../src/domain/size.ts";
import { instant } from "../../src/domain/units.ts";
import { readConstraints } from "../../src/wire/constraint.ts";
import type { Notes } from "../../src/wire/notes.ts";
import { newNotes } from "../../src/wire/notes.ts";
import type { CaseWorld } from "./allocator-world.ts";
import { readCaseWorld, SET } from "./allocator-world.ts";
import { STATUSES } from "./answer-evaluate.ts";
import type { Json } from "./compare.ts";
import { isList, isObject, textOf } from "./compare.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";
import { readRules } from "./vector-cluster.ts";
import { takeFrom } from "../../src/decide/constraints/judge.ts";

const POLICY = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "bucket-order",
  among: "priority",
} as const;

/** Plans the case's jobs in `bucket-order` and shows the plan as the vectors show theirs. */
export function answerAllocator({ input, expected }: VectorCase, surroundings: Surroundings): Json {
  const read = readRules(input, surroundings);
  if (read.kind === "refused") return { problem: read.problem };
  const setting = readCaseWorld(input, read.rules);
  const items = isList(input["jobs"]) ? input["jobs"].filter(isObject) : [];
  const jobs = items.map((item, at) => readJob(item, at + setting.running.length));
  const demands = [...setting.running, ...jobs.flatMap(({ job }) => (job === undefined ? [] : [job]))];
  const allocation = allocate(
    setting.world,
    demands.map((demand) => ({ set: SET, demand })),
    POLICY,
    instant(0),
  );
  const replay = new Replay(setting);
  const shown = jobs.map(({ item, job, problem }) =>
    job === undefined
      ? { job: textOf(item["name"]), problem: problem ?? "" }
      : showJob(job, orderOf(allocation, job), replay),
  );
  const buckets = showBuckets(setting.world, allocation, wantsLimits(expected));
  return {
    jobs: shown,
    buckets,
    demand: replay.showDemand(),
    nodes: replay.showNodes(),
    ...(input["shared_resources"] === undefined
      ? {}
      : { shared_resources: showPools(input["shared_resources"], replay.drained) }),
  };
}

type Item = Readonly<Record<string, Json>>;

interface CaseJob {
  readonly item: Item;
  /** Absent: it cannot be read. */
  readonly job?: JobDemand;
  readonly problem?: string;
}

/** Reads a job as the product does. With a node count scalelib does not look at iterations. */
function readJob(item: Item, position: number): CaseJob {
  const notes = newNotes();
  const members = isList(item["constraints"]) ? item["constraints"] : [item["constraints"] ?? []];
  const constraints = members.flatMap((member) => readMember(member, notes));
  const strategy = item["packing_strategy"];
  const nodeCount = typeof item["node_count"] === "number" ? item["node_count"] : 0;
  const iterations = typeof item["iterations"] === "number" ? item["iterations"] : 1;
  const [problem] = notes.problems.all();
  if (problem !== undefined) return { item, problem: `${problem.path}: ${problem.expected}` };
  if (strategy !== undefined && strategy !== "pack" && strategy !== "scatter")
    return { item, problem: "packing_strategy: pack or scatter" };
  if (strategy === "scatter" && nodeCount === 0)
    return { item, problem: "packing_strategy: scatter only with a node count" };
  const job: JobDemand = {
    kind: "job",
    id: `job:${position}`,
    name: textOf(item["name"]),
    priority: 0,
    position,
    constraints,
    iterations: nodeCount > 0 ? 1 : iterations,
    ...(nodeCount > 0 ? { nodeCount } : {}),
    ...(nodeCount > 0 && strategy === "pack" ? { partial: true } : {}),
    colocated: item["colocated"] === true,
    placed: [],
  };
  return { item, job };
}

/** "$shared" and "$shared_value" stand for the pools of the case. */
function readMember(member: Json, notes: Notes): readonly Constraint[] {
  const shared = isObject(member) ? member["$shared"] : undefined;
  if (isObject(shared)) {
    const ids = isList(shared["ids"]) ? shared["ids"].map(textOf) : [];
    return ids.map((pool) => ({
      kind: "pool",
      pool,
      amount: Number(shared["amount"]),
      ...(shared["decrement_once"] === true ? { once: true } : {}),
    }));
  }
  const value = isObject(member) ? member["$shared_value"] : undefined;
  if (isObject(value)) {
    const target = value["target"] ?? null;
    if (isList(target) || isObject(target)) throw new Error("a shared value is a single value");
    return [{ kind: "pool-value", pool: textOf(value["id"]), value: target }];
  }
  return readConstraints(member, "constraints", notes);
}

function orderOf(allocation: Allocation, job: JobDemand): PlacementOrder {
  const order = allocation.orders?.find(({ by }) => by === `${SET}/${job.id}`);
  if (order === undefined) throw new Error(`no order of ${job.id}`);
  return order;
}

/** A node of the answer, and what the plan does to it. */
interface ReplayNode {
  readonly name: string;
  readonly bucket: string;
  readonly state: "existing" | "deallocated" | "failed" | "new";
  readonly keepAlive: boolean;
  readonly view: NodeView;
  readonly totals: Resources;
  left: Resources;
  readonly jobs: Set<string>;
  used: boolean;
  closed: boolean;
}

/** Follows the plan job by job, with names for new nodes: `<nodearray>-<lowest free number>`. */
class Replay {
  readonly drained = new Map<string, number>();
  readonly #nodes: ReplayNode[];
  readonly #byId = new Map<string, ReplayNode>();
  readonly #runs = new Map<number, readonly ReplayNode[]>();
  readonly #names: Set<string>;
  readonly #world: World;
  readonly #shared: SharedState;

  constructor({ world, nodes, names }: CaseWorld) {
    this.#world = world;
    this.#names = new Set(names);
    this.#shared = {
      left: new Map((world.pools ?? []).map(({ name }) => [name, Number.POSITIVE_INFINITY])),
      values: new Map(
        (world.pools ?? []).flatMap(({ name, value }) =>
          value === undefined ? [] : [[name, value] as const],
        ),
      ),
    };
    this.#nodes = nodes.map((node) => {
      const made: ReplayNode = {
        name: node.name,
        bucket: node.bucket,
        state: node.phase === "failed" || node.phase === "deallocated" ? node.phase : "existing",
        keepAlive: node.keepAlive,
        view: node.view,
        totals: node.totals,
        left: node.view.available,
        jobs: new Set(node.view.jobs),
        used: false,
        closed: false,
      };
      this.#byId.set(node.id, made);
      return made;
    });
  }

  /** The nodes in the order in which they were first used, and whether they were made for it. */
  follow(
    job: JobDemand,
    order: PlacementOrder,
  ): readonly { node: ReplayNode; fresh: boolean; slots: number }[] {
    const fresh = new Set<ReplayNode>();
    const matcher = compileAll(job.constraints);
    const used = order.uses.flatMap((use) => {
      if (use.made > 0) {
        const made = this.#make(use.bucket, use.made);
        this.#runs.set(use.run, made);
        for (const node of made) fresh.add(node);
      }
      const existing = use.nodeId === undefined ? undefined : this.#byId.get(use.nodeId);
      const run = existing === undefined ? (this.#runs.get(use.run) ?? []) : [existing];
      this.#runs.set(use.run, run.slice(0, use.nodes));
      if (use.rest !== undefined) this.#runs.set(use.rest, run.slice(use.nodes));
      return run.slice(0, use.nodes).map((node) => ({ node, fresh: fresh.has(node), slots: use.slots }));
    });
    let placed = 0;
    const once = new Map<ReplayNode, { node: ReplayNode; fresh: boolean; slots: number }>();
    for (const { node, fresh: isFresh, slots } of used) {
      placed += slots;
      this.#take(node, job, matcher, slots);
      once.set(node, { node, fresh: isFresh, slots: (once.get(node)?.slots ?? 0) + slots });
    }
    this.#drain(job, placed);
    return [...once.values()];
  }

  #take(node: ReplayNode, job: JobDemand, matcher: ReturnType<typeof compileAll>, slots: number): void {
    node.used = true;
    node.jobs.add(job.name);
    for (let rest = slots; rest > 0;) {
      const judgement = matcher({ ...node.view, available: node.left, jobs: new Set() }, this.#shared);
      if (judgement.kind === "refused") return;
      if (judgement.closes !== undefined) node.closed = true;
      // Of alternatives the one that holds is filled before the next is looked at.
      const taken = Math.max(1, Math.min(rest, judgement.space ?? rest));
      const left: Record<string, ResourceValue> = { ...node.left };
      for (const [resource, amount] of judgement.takes) {
        const all = isSize(amount) ? { ...amount, amount: amount.amount * taken } : amount * taken;
        left[resource] = takeFrom(left[resource], all);
      }
      node.left = left;
      rest -= taken;
    }
  }

  #drain(job: JobDemand, placed: number): void {
    if (placed === 0) return;
    for (const constraint of job.constraints) {
      if (constraint.kind !== "pool") continue;
      const amount = constraint.once === true ? constraint.amount : constraint.amount * placed;
      this.drained.set(constraint.pool, (this.drained.get(constraint.pool) ?? 0) + amount);
    }
  }

  #make(bucket: BucketKey, count: number): readonly ReplayNode[] {
    const { placementGroup: group, ...plain } = bucket;
    const offer = this.#world.buckets.find((one) => bucketText(one.bucket) === bucketText(plain));
    const { resources = {}, properties } = (group === undefined ? offer : offer?.inGroup?.(group)) ?? {};
    if (properties === undefined) throw new Error(`no bucket ${bucketText(bucket)}`);
    return Array.from({ length: count }, () => {
      let number = 1;
      while (this.#names.has(`${bucket.array}-${number}`)) number += 1;
      const name = `${bucket.array}-${number}`;
      this.#names.add(name);
      const node: ReplayNode = {
        name,
        bucket: bucketText(bucket),
        state: "new",
        keepAlive: false,
        view: {
          properties: { ...properties(), name },
          available: resources,
          nodeId: null,
          configuration: {},
          jobs: new Set(),
        },
        totals: resources,
        left: resources,
        jobs: new Set(),
        used: false,
        closed: false,
      };
      this.#nodes.push(node);
      return node;
    });
  }

  showDemand(): Json {
    const created = this.#nodes.filter(
      ({ state, used }) => state === "new" || (state === "deallocated" && used),
    );
    const sound = this.#nodes.filter(({ state }) => state !== "failed");
    return {
      new: namesOf(created),
      matched: namesOf(sound.filter(isRequired)),
      unmatched: namesOf(sound.filter((node) => !isRequired(node))),
      failed: namesOf(this.#nodes.filter(({ state }) => state === "failed")),
      new_by_bucket: countNew(created),
    };
  }

  showNodes(): Json {
    return this.#nodes
      .toSorted((a, b) => compareCodes(a.bucket, b.bucket) || compareNodeNames(a.name, b.name))
      .map((node): Json => {
        const flags = [
          node.state === "existing" || node.state === "failed" ? "e" : "",
          isRequired(node) ? "r" : "",
          node.closed ? "c" : "",
        ].join("");
        return [node.name, node.bucket, flags, [...node.jobs].sort(compareCodes), consumed(node)];
      });
  }
}

const isRequired = ({ keepAlive, used, jobs }: ReplayNode): boolean => keepAlive || used || jobs.size > 0;

const compareCodes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
/** Shorter names first: the order of the vectors. */
const compareNodeNames = (a: string, b: string): number => a.length - b.length || compareCodes(a, b);

const namesOf = (nodes: readonly ReplayNode[]): Json => nodes.map(({ name }) => name).sort(compareNodeNames);

function countNew(nodes: readonly ReplayNode[]): Json {
  const counts = new Map<string, { bucket: string; state: string; count: number }>();
  for (const { bucket, state: origin } of nodes) {
    const state = origin === "deallocated" ? "Deallocated" : "Off";
    const entry = counts.get(`${bucket}\n${state}`) ?? { bucket, state, count: 0 };
    counts.set(`${bucket}\n${state}`, { ...entry, count: entry.count + 1 });
  }
  return [...counts].sort(([a], [b]) => compareCodes(a, b)).map(([, entry]) => entry);
}

/** Resources of which less is left than there is. */
function consumed({ totals, left }: ReplayNode): Json {
  return Object.fromEntries(
    Object.entries(left)
      .filter(([name, value]) => !isSameValue(totals[name], value))
      .map(([name, value]) => [name, isSize(value) ? sizeJson(value) : value]),
  );
}

function isSameValue(total: ResourceValue | undefined, left: ResourceValue): boolean {
  const counts = (value: unknown): value is Parameters<typeof equalSizes>[0] =>
    typeof value === "number" || (typeof value === "object" && value !== null);
  return counts(total) && counts(left) ? equalSizes(total, left) : total === left;
}

function showJob(job: JobDemand, order: PlacementOrder, replay: Replay): Json {
  const used = replay.follow(job, order);
  const allocated = used.reduce((sum, { slots }) => sum + slots, 0);
  const requested = job.nodeCount ?? job.iterations;
  const status =
    order.candidates.length === 0
      ? "NoCandidatesFound"
      : allocated === 0
        ? "NoAllocationSelected"
        : "success";
  const buckets = new Map<string, { bucket: string; existing: number; new: number; slots: number }>();
  for (const { node, fresh, slots } of used) {
    const entry = buckets.get(node.bucket) ?? { bucket: node.bucket, existing: 0, new: 0, slots: 0 };
    buckets.set(node.bucket, {
      ...entry,
      existing: entry.existing + (fresh ? 0 : 1),
      new: entry.new + (fresh ? 1 : 0),
      slots: entry.slots + slots,
    });
  }
  return {
    job: job.name,
    unit: job.nodeCount === undefined ? "slots" : "nodes",
    requested,
    status,
    allocated,
    remaining: requested - allocated,
    by_bucket: [...buckets.values()],
    nodes: used.map(({ node, fresh, slots }) => [node.name, fresh ? "new" : "existing", slots]),
    ...(order.candidates.length === 0
      ? {
          rejections: order.refused.map(({ bucket, refusal }) => [
            candidateText(bucket),
            STATUSES[refusal.code],
          ]),
        }
      : { candidates: order.candidates.map(candidateText) }),
  };
}

function candidateText(bucket: BucketKey): string {
  return bucketText(bucket).replace(/^__unmanaged__#\d+/, "__unmanaged__");
}

/** Only some files tell the single limits. */
function wantsLimits(expected: Json): boolean {
  const buckets = isObject(expected) && isList(expected["buckets"]) ? expected["buckets"] : [];
  return buckets.some((bucket) => isObject(bucket) && "limits" in bucket);
}

/** What is left under each limit once the plan is carried out. */
function showBuckets(world: World, allocation: Allocation, withLimits: boolean): Json {
  const left = world.limits.map((limit) => limit.left);
  const groups = new Map<string, number>();
  const started = new Set(allocation.starts);
  const taken = [
    ...allocation.creates,
    ...world.nodes.filter(({ nodeId }) => started.has(nodeId)).map(({ bucket }) => ({ bucket, count: 1 })),
  ];
  for (const { bucket, count } of taken) {
    const { placementGroup: group, ...plain } = bucket;
    const offer = world.buckets.find((one) => bucketText(one.bucket) === bucketText(plain));
    for (const { limit, amount } of offer?.charges ?? []) left[limit] = (left[limit] ?? 0) - amount * count;
    if (group !== undefined) groups.set(bucketText(bucket), (groups.get(bucketText(bucket)) ?? 0) + count);
  }
  const offers = world.buckets.filter((offer) => offer.onlyFor === undefined && offer.refusal === undefined);
  const rows = [
    ...offers.flatMap((offer) => {
      const own = offer.pinnedGroup === undefined ? [] : [offer.pinnedGroup];
      const named = new Set([...offer.groupSizes.keys(), ...(offer.configuredGroups ?? []), ...own]);
      return [...named, undefined].map((group) => ({ offer, group }));
    }),
    ...offers.flatMap((offer) => (offer.generatedGroups ?? []).map((group) => ({ offer, group }))),
  ];
  const positions = [...world.arrays.keys()];
  const generatedFrom = rows.length - offers.flatMap((offer) => offer.generatedGroups ?? []).length;
  const rank = ({ offer }: (typeof rows)[number], at: number): number =>
    (at >= generatedFrom ? positions.length : 0) + positions.indexOf(offer.bucket.array);
  return rows
    .map((row, at) => ({ row, rank: rank(row, at) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ row: { offer, group } }): Json => {
      const bucket: BucketKey =
        group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
      const inGroup = groupRoom(offer, group, groups.get(bucketText(bucket)) ?? 0);
      const of = (kinds: readonly string[], unit?: string): number =>
        Math.min(
          ...offer.charges
            .filter(({ limit }) => kinds.includes(world.limits[limit]?.id.kind ?? ""))
            .filter(({ limit }) => unit === undefined || world.limits[limit]?.id.unit === unit)
            .map(({ limit, amount }) => Math.max(0, Math.floor((left[limit] ?? 0) / amount))),
        );
      const regional = of(["regional-quota", "regional-spot-quota"]);
      const limits = {
        bucket: ownRoom(world, offer, group, taken),
        // The vectors tell no node limit of the cluster.
        cluster: of(["cluster"], "cores"),
        family: of(["family-quota"]),
        nodearray: of(["nodearray"]),
        placement_group: inGroup ?? null,
        regional,
      };
      const available = Math.min(
        of(["bucket", "cluster", "nodearray", "family-quota", "regional-quota", "regional-spot-quota"]),
        inGroup ?? Number.POSITIVE_INFINITY,
      );
      const family = Number.isFinite(limits.family) ? limits.family : regional;
      return {
        bucket: bucketText(bucket),
        available,
        ...(withLimits ? { limits: { ...limits, family } } : {}),
      };
    });
}

/**
 * What the vectors call a bucket's own limit: at the beginning no more than the array and the placement group allow, and less by what is
 * made of its size, in whatever group, as availableCount is one figure for all of them (defect 10).
 */
function ownRoom(
  world: World,
  offer: BucketOffer,
  group: PlacementGroup | undefined,
  taken: readonly { readonly bucket: BucketKey; readonly count: number }[],
): number {
  const atFirst = offer.charges
    .filter(({ limit }) => ["bucket", "nodearray"].includes(world.limits[limit]?.id.kind ?? ""))
    .map(({ limit, amount }) => Math.floor((world.limits[limit]?.left ?? 0) / amount));
  const id = bucketText(offer.bucket);
  const made = taken.filter(
    ({ bucket: { array, machineType } }) => bucketText({ array, machineType }) === id,
  );
  const madeHere = made.filter(({ bucket }) => bucket.placementGroup === group);
  const sum = (rows: typeof made): number => rows.reduce((total, { count }) => total + count, 0);
  const inGroup = groupRoom(offer, group, 0) ?? Number.POSITIVE_INFINITY;
  return Math.max(0, Math.min(Math.min(...atFirst) - sum(made), inGroup - sum(madeHere)));
}

function groupRoom(offer: BucketOffer, group: PlacementGroup | undefined, made: number): number | undefined {
  if (group === undefined) return undefined;
  return Math.max(0, (offer.maxPlacementGroupSize ?? 0) - (offer.groupSizes.get(group) ?? 0) - made);
}

function showPools(pools: Json | undefined, drained: ReadonlyMap<string, number>): Json {
  const list = isList(pools) ? pools.filter(isObject) : [];
  return Object.fromEntries(
    list.map((pool): [string, Json] => {
      const id = textOf(pool["id"]);
      const current = pool["current_value"] ?? null;
      return [
        id,
        typeof current === "number" && pool["kind"] !== "value" ? current - (drained.get(id) ?? 0) : current,
      ];
    }),
  );
}
