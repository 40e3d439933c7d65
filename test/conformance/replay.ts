import { compileAll } from "../../src/decide/constraints/match.ts";
import type { PlacementOrder } from "../../src/domain/allocation.ts";
import type { World } from "../../src/domain/world.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { JobDemand } from "../../src/domain/demand.ts";
import type { NodeView, SharedState } from "../../src/domain/node-view.ts";
import type { Resources, ResourceValue } from "../../src/domain/resources.ts";
import { isSize, sizeJson } from "../../src/domain/size.ts";
import { equalSizes } from "./answer-size.ts";
import type { CaseWorld } from "./allocator-world.ts";
import type { Json } from "./compare.ts";
import { takeFrom } from "../../src/decide/constraints/judge.ts";

/*
 * One case of the allocator's vectors, played through our allocator.
 */

export const POLICY = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "bucket-order",
  among: "priority",
} as const;

export type Item = Readonly<Record<string, Json>>;

export interface CaseJob {
  readonly item: Item;
  /** Absent: it cannot be read. */
  readonly job?: JobDemand;
  readonly problem?: string;
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
export class Replay {
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
    const jobs = new Set([...node.jobs].filter((name) => name !== job.name));
    for (let rest = slots; rest > 0;) {
      const view = { ...node.view, available: node.left, totals: node.totals, jobs };
      const judgement = matcher(view, this.#shared);
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
