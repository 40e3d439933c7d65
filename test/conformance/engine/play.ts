import type { Fields, Json } from "../compare.ts";
import { objectsIn, textOf } from "../compare.ts";
import type { Constraint } from "./constraints.ts";
import { hasSome, isOfOneNode, readConstraints } from "./constraints.ts";
import type { Job } from "./judge.ts";
import { isBackingOff, Judge } from "./judge.ts";
import { charge, roomIn } from "./limits.ts";
import type { Switches } from "./switches.ts";
import { Refused } from "./values.ts";
import type { Bucket, EngineNode, World } from "./world.ts";
import { readWorld } from "./world.ts";

/** A job of a case: slots anywhere, or one slot on each of a number of nodes. */
export interface EngineJob extends Job {
  readonly unit: "slots" | "nodes";
  readonly requested: number;
  /** All in one bucket, or none. */
  readonly whole: boolean;
}

/** What became of a job. */
export interface Played {
  readonly name: string;
  /** Absent: the job cannot be read. */
  readonly job?: EngineJob;
  readonly candidates: readonly Bucket[];
  readonly refused: readonly (readonly [bucket: string, refusal: string])[];
  readonly uses: readonly Use[];
}

interface Use {
  readonly node: EngineNode;
  readonly isNew: boolean;
  readonly slots: number;
}

export interface Play {
  readonly world: World;
  readonly jobs: readonly Played[];
}

/** Plays a case: its jobs one after the other, each bucket by bucket, in each the nodes that are there before new ones (scalelib.md 10, 11). */
export function playCase(input: Fields, vmSizes: Json, switches: Switches, By = Player): Play {
  const world = readWorld(input, vmSizes, switches);
  const player = new By(world, switches);
  return { world, jobs: objectsIn(input["jobs"]).map((item) => player.play(item)) };
}

/** A job with alternatives fills each node by the first that holds there, and what is left by any. */
type Filling = "first" | "any";

/** Plays jobs. Wrong engines of the tests override what is protected. */
export class Player {
  readonly #world: World;
  readonly #switches: Switches;
  readonly #judge: Judge;

  constructor(world: World, switches: Switches) {
    this.#world = world;
    this.#switches = switches;
    this.#judge = new Judge(switches, world.pools);
  }

  play(item: Fields): Played {
    const name = textOf(item["name"]);
    const job = readJob(item, this.#switches);
    if (job === undefined) return { name, candidates: [], refused: [], uses: [] };
    const { candidates, refused } = this.candidates(job);
    const uses = new Map<EngineNode, Use>();
    const note = (found: readonly Use[]): void => {
      for (const use of found) {
        const slots = (uses.get(use.node)?.slots ?? 0) + use.slots;
        uses.set(use.node, { ...(uses.get(use.node) ?? use), slots });
      }
    };
    let left = job.requested;
    for (const filling of this.#fillings(job)) {
      for (const bucket of candidates) {
        if (left <= 0) break;
        const found = this.#fill(bucket, job, left, filling);
        left -= sumOf(found);
        note(found);
      }
    }
    return { name, job, candidates, refused, uses: [...uses.values()] };
  }

  #fillings({ constraints, unit }: EngineJob): readonly Filling[] {
    const isChoice = hasSome(constraints, ({ kind }) => kind === "or" || kind === "xor");
    const isOnce = unit === "nodes" || this.#switches.has("full-buckets-are-closed");
    return isChoice && !isOnce ? ["first", "any"] : isChoice ? ["first"] : ["any"];
  }

  /** Buckets that the job may use: preferred ones first, hosts of the scheduler before all; and the others (scalelib.md 10). */
  protected candidates(job: EngineJob): Pick<Played, "candidates" | "refused"> {
    const { buckets } = this.#world;
    const asked = this.#switches.has("one-node-refuses-its-bucket")
      ? job.constraints
      : job.constraints.filter((one) => !isOfOneNode(one));
    const sorted = buckets
      .map((bucket, at) => ({
        bucket,
        weight: this.weigh(job.constraints, bucket, buckets.length - at, job),
      }))
      .toSorted((a, b) => b.weight - a.weight)
      .map(({ bucket }) => ({ bucket, refusal: this.#judge.slot(asked, bucket.example, job).refusal }));
    const good = sorted.filter(({ refusal }) => refusal === undefined).map(({ bucket }) => bucket);
    const [hosts, others] = [true, false].map((isHost) =>
      good.filter(({ room }) => (room === undefined) === isHost),
    );
    return {
      candidates: [...(hosts ?? []), ...(others ?? [])],
      refused: sorted.flatMap(({ bucket, refusal }) =>
        refusal === undefined ? [] : [[bucket.id, refusal] as const],
      ),
    };
  }

  protected weigh(constraints: readonly Constraint[], bucket: Bucket, start: number, job: EngineJob): number {
    let weight = start;
    for (const one of constraints) {
      const { refusal, score } = this.#judge.judge(one, bucket.example, job, true);
      if (one.kind === "and") weight = this.weigh(one.of, bucket, weight, job);
      else if (one.kind === "backoff") weight = isBackingOff(bucket.example, one.seconds) ? 0 : weight;
      else if (one.kind === "resource" || one.kind === "or" || (one.kind === "property" && weight !== 0))
        weight = refusal === undefined ? weight + 100 * score : 0;
    }
    return weight;
  }

  /** What one bucket gives to a job. If a job that goes whole is not whole, nothing. */
  #fill(bucket: Bucket, job: EngineJob, wanted: number, filling: Filling): readonly Use[] {
    const attempt = new Attempt(bucket, this.#world);
    const uses: Use[] = [];
    let left = wanted;
    if (!this.#switches.has("full-buckets-are-closed")) {
      uses.push(...this.#fillOnce(attempt, job, left, filling));
      left -= sumOf(uses);
    } else if (job.unit === "nodes") {
      const most = job.whole ? left : Math.min(left, attempt.counted);
      if (most === 0 || most > attempt.counted) return [];
      uses.push(...this.#fillOnce(attempt, job, most, filling));
      left = most - sumOf(uses);
      if (left > 0) return this.#giveUp(attempt, job);
    } else {
      while (left > 0 && attempt.counted > 0) {
        const more = this.#fillOnce(attempt, job, left, filling);
        if (more.length === 0) break;
        uses.push(...more);
        left -= sumOf(more);
        if (!job.whole) attempt.commit();
      }
    }
    if (job.whole && left > 0) return this.#giveUp(attempt, job);
    attempt.commit();
    return uses;
  }

  #giveUp(attempt: Attempt, job: EngineJob): readonly Use[] {
    if (job.unit === "nodes" && this.#switches.has("reservations-stay")) attempt.abandon();
    else attempt.rollback(job, this.#switches.has("failed-jobs-stay"));
    return [];
  }

  /** The nodes of the bucket, then new ones. */
  #fillOnce(attempt: Attempt, job: EngineJob, wanted: number, filling: Filling): readonly Use[] {
    const { bucket } = attempt;
    const uses: Use[] = [];
    const most = job.unit === "nodes" ? 1 : Number.POSITIVE_INFINITY;
    const left = (): number => wanted - sumOf(uses);
    const use = (node: EngineNode, isNew: boolean): boolean => {
      const isStarted = node.state === "deallocated" && node.jobs.size === 0;
      if (isStarted && attempt.room < 1) return false;
      const slots = this.put(node, job, Math.min(most, left()), filling);
      if (slots === 0) return false;
      if (isStarted || isNew) attempt.reserve();
      uses.push({ node, isNew, slots });
      return true;
    };
    for (const node of this.usable(attempt.nodes)) {
      if (left() <= 0) break;
      if (job.unit === "slots" || !node.jobs.has(job)) use(node, false);
    }
    while (left() > 0 && attempt.room > 0) {
      const node = bucket.make(attempt.nextName());
      if (!use(node, true)) break;
      attempt.add(node);
    }
    return uses;
  }

  /** Nodes that jobs may have, in the order in which they are used. */
  protected usable(nodes: readonly EngineNode[]): readonly EngineNode[] {
    const all = this.#switches.has("failed-nodes-are-used");
    return nodes.filter(({ state }) => all || state !== "failed");
  }

  /** Puts slots of the job on a node, as many as there is room for. */
  protected put(node: EngineNode, job: EngineJob, most: number, filling: Filling): number {
    const isEach = this.#switches.has("amounts-do-not-add-up");
    const slots = isEach ? this.#putEach(node, job, most) : this.#putJointly(node, job, most, filling);
    if (slots === 0) return 0;
    node.jobs.add(job);
    node.used = true;
    return slots;
  }

  /** As the library: the room is counted once, then all slots are taken. */
  #putEach(node: EngineNode, job: EngineJob, most: number): number {
    const slot = this.#judge.slot(job.constraints, node, job);
    if (slot.refusal !== undefined || node.owner !== undefined) return 0;
    const slots = Math.min(
      most,
      slot.space,
      this.#mostOfNothing(
        slot.takes.some(({ of }) => of === "node"),
        node,
        job,
      ),
    );
    for (let count = 0; count < slots; count += 1) this.#judge.putEach(job.constraints, node, job);
    return slots;
  }

  /** Slots that take nothing of a node: one of each job. In the library all of them, unless the job says nothing at all. */
  #mostOfNothing(isSomething: boolean, node: EngineNode, job: EngineJob): number {
    if (this.#switches.has("slots-of-nothing-pack"))
      return job.constraints.length === 0 ? 1 : Number.POSITIVE_INFINITY;
    return isSomething ? Number.POSITIVE_INFINITY : node.jobs.has(job) ? 0 : 1;
  }

  #putJointly(node: EngineNode, job: EngineJob, most: number, filling: Filling): number {
    let slots = 0;
    let first: string | undefined;
    while (slots < most) {
      const { refusal, takes } = this.#judge.slot(job.constraints, node, job);
      const amounts = takes.filter((take) => take.of === "node" && take.amount > 0);
      if (refusal !== undefined || (node.owner !== undefined && node.owner !== job)) break;
      const isTask = takes.some((take) => take.of === "door" && take.closes === "task");
      const mayStay = isTask || this.#switches.has("exclusive-packs");
      if (node.owner === job && !mayStay) break;
      first ??= JSON.stringify(amounts);
      if (filling === "first" && first !== JSON.stringify(amounts)) break;
      if (slots >= this.#mostOfNothing(amounts.length > 0, node, job)) break;
      this.#judge.put(takes, node, job);
      if (amounts.length === 0 && !this.#switches.has("slots-of-nothing-pack")) node.jobs.add(job);
      slots += 1;
    }
    return slots;
  }
}

const sumOf = (uses: readonly Use[]): number => uses.reduce((sum, { slots }) => sum + slots, 0);

/** What a job tries in one bucket, until it is kept or taken back. */
class Attempt {
  readonly bucket: Bucket;
  readonly #world: World;
  readonly #before: ReadonlyMap<EngineNode, Pick<EngineNode, "left" | "jobs" | "owner" | "used">>;
  readonly #pools: ReadonlyMap<string, number>;
  readonly #made: EngineNode[] = [];

  constructor(bucket: Bucket, world: World) {
    this.bucket = bucket;
    this.#world = world;
    this.#pools = new Map(world.pools.left);
    this.#before = new Map(
      bucket.nodes.map((node) => [node, { ...node, left: { ...node.left }, jobs: new Set(node.jobs) }]),
    );
  }

  get nodes(): readonly EngineNode[] {
    return [...this.bucket.nodes, ...this.#made];
  }

  /** Nodes that may still be made, or started. */
  get room(): number {
    const { room } = this.bucket;
    return room === undefined
      ? 0
      : roomIn(room.limits, room.cores) - (this.#world.reserved.get(this.bucket) ?? 0);
  }

  /** What the library counts as capacity: what can be made, and nodes that no job has. Of hosts it does not see those of before. */
  get counted(): number {
    const isTaken = this.bucket.room === undefined ? ({ used }: EngineNode): boolean => used : isRequired;
    return this.room + this.nodes.filter((node) => !isTaken(node)).length;
  }

  reserve(): void {
    this.#world.reserved.set(this.bucket, (this.#world.reserved.get(this.bucket) ?? 0) + 1);
  }

  nextName(): string {
    const { names } = this.#world;
    let number = 1;
    while (names.has(`${this.bucket.array}-${number}`)) number += 1;
    return `${this.bucket.array}-${number}`;
  }

  add(node: EngineNode): void {
    this.#world.names.add(node.name);
    this.#made.push(node);
  }

  commit(): void {
    const { room, nodes } = this.bucket;
    nodes.push(...this.#made.splice(0));
    if (room !== undefined) charge(room.limits, this.#world.reserved.get(this.bucket) ?? 0, room.cores);
    this.#world.reserved.delete(this.bucket);
  }

  /** `stays`: names, marks and pools are left as they are. */
  rollback(job: Job, stays: boolean): void {
    for (const node of this.#made.splice(0)) this.#world.names.delete(node.name);
    this.#world.reserved.delete(this.bucket);
    for (const [node, { left, jobs, owner, used }] of this.#before) {
      node.left = { ...left };
      if (stays) continue;
      node.owner = owner;
      node.used = used;
      if (!jobs.has(job)) node.jobs.delete(job);
    }
    if (stays) return;
    for (const [pool, left] of this.#pools) this.#world.pools.left.set(pool, left);
    job.drained.clear();
  }

  /** Nothing is taken back but the nodes that were not made. */
  abandon(): void {
    for (const node of this.#made.splice(0)) this.#world.names.delete(node.name);
  }
}

export const isRequired = ({ keepAlive, used, jobs }: EngineNode): boolean =>
  keepAlive || used || jobs.size > 0;

/** Undefined: it cannot be read. */
function readJob(item: Fields, switches: Switches): EngineJob | undefined {
  const nodes = Number(item["node_count"] ?? 0);
  const strategy = item["packing_strategy"] ?? (nodes > 0 ? "scatter" : "pack");
  if (strategy !== "pack" && (strategy !== "scatter" || nodes === 0)) return undefined;
  try {
    return {
      name: textOf(item["name"]),
      constraints: readConstraints(item["constraints"] ?? [], switches),
      drained: new Set(),
      unit: nodes > 0 ? "nodes" : "slots",
      requested: nodes > 0 ? nodes : Number(item["iterations"] ?? 1),
      whole: strategy === "scatter" || item["colocated"] === true,
    };
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}
