import { textOf } from "../compare.ts";
import type { Constraint } from "./constraints.ts";
import { GIVEN } from "./constraints.ts";
import type { Switches } from "./switches.ts";
import type { Value, Values } from "./values.ts";
import { bytesPer, choiceOf, countOf, isEnough, isSameValue, isSize, Refused, timesIn } from "./values.ts";

/** A node, or the example by which a bucket is judged. */
export interface Place {
  readonly properties: Values;
  /** What it has in all, and what is left of that. */
  readonly totals: Values;
  readonly left: Record<string, Value>;
  /** Jobs that run there already, by name, and those that were put there. */
  readonly jobs: Set<string | Job>;
  /** The job that has it for itself. */
  owner: Job | undefined;
  /** Seconds since its bucket lacked capacity; only an example has it. */
  readonly failure?: number;
}

export interface Job {
  readonly name: string;
  readonly constraints: readonly Constraint[];
  /** What it takes once and has taken. */
  readonly drained: Set<Constraint>;
}

export interface Pools {
  readonly left: Map<string, number>;
  readonly values: ReadonlyMap<string, Value>;
}

/** One thing that a slot takes: an amount of a node (sizes in bytes) or of a pool, or the node for itself. */
type Take =
  | {
      readonly of: "node" | "pool";
      readonly name: string;
      readonly amount: number;
      readonly once?: Constraint;
    }
  | { readonly of: "door"; readonly closes: "slot" | "task" };

interface Judgement {
  /** What the vectors call the refusal; absent: it holds. */
  readonly refusal?: string;
  /** A node that is to come may yet meet it, so that its opposite is refused as well. */
  readonly unsure?: true;
  /** Of n options the first gives n. */
  readonly score: number;
  readonly space: number;
  readonly takes: readonly Take[];
}

const HOLDS: Judgement = { score: 1, space: Number.POSITIVE_INFINITY, takes: [] };
const refused = (refusal: string, space = 0): Judgement => ({ refusal, score: 0, space, takes: [] });
const NOT_YET: Judgement = { ...refused("InvalidOption"), unsure: true };

/** What a slot takes, or why it has no room. */
export interface Slot {
  readonly refusal?: string;
  readonly takes: readonly Take[];
  readonly space: number;
}

export class Judge {
  readonly pools: Pools;
  readonly #switches: Switches;

  constructor(switches: Switches, pools: Pools) {
    this.#switches = switches;
    this.pools = pools;
  }

  /** Judges members that must hold at once for one slot. */
  slot(constraints: readonly Constraint[], place: Place, job: Job): Slot {
    if (this.#switches.has("amounts-do-not-add-up")) return this.#each(constraints, place, job);
    return this.#joint(constraints, place, job, constraints);
  }

  /** As the library: each by itself, and the room is the least that one of them has. */
  #each(constraints: readonly Constraint[], place: Place, job: Job): Judgement {
    const judged = constraints.map((one) => this.judge(one, place, job, true));
    const space = Math.min(...judged.map((one) => one.space), Number.POSITIVE_INFINITY);
    const refusal = judged.find((one) => one.refusal !== undefined);
    return { ...(refusal ?? HOLDS), space, takes: judged.flatMap(({ takes }) => takes) };
  }

  /**
   * All together: amounts of one resource add up. Of alternatives the first that holds is meant; if that has no room beside the rest, the
   * first that holds on what the rest leaves. `listed`: those that stand in the job's list themselves.
   */
  #joint(
    members: readonly Constraint[],
    place: Place,
    job: Job,
    listed: readonly Constraint[] = [],
  ): Judgement {
    const constraints = flattened(members);
    const judged = constraints.map((one) => this.judge(one, place, job, listed.includes(one)));
    const failed = judged.filter((one) => one.refusal !== undefined);
    const failure = failed.find((one) => one.unsure !== true) ?? failed[0];
    const space = Math.min(...judged.map((one) => one.space), Number.POSITIVE_INFINITY);
    if (failure !== undefined) return { ...failure, space };
    const all = judged.flatMap(({ takes }) => takes);
    const short = this.#shortOf(all, place, job);
    if (short === undefined) return { ...HOLDS, space, takes: all };
    if (!constraints.some(({ kind }) => kind === "or")) return refused(short);
    const takes = judged.flatMap((one, at) => (constraints[at]?.kind === "or" ? [] : one.takes));
    for (const one of constraints.filter(({ kind }) => kind === "or")) {
      if (this.#shortOf(takes, place, job) !== undefined) return refused(short);
      const rest = this.#without(takes, place, job);
      const other = rest.judge.judge(one, rest.place, rest.job);
      if (other.refusal !== undefined) return refused(short);
      takes.push(...other.takes);
    }
    return this.#shortOf(takes, place, job) === undefined ? { ...HOLDS, space, takes } : refused(short);
  }

  #without(takes: readonly Take[], place: Place, job: Job) {
    const copy: Place = { ...place, left: { ...place.left }, jobs: new Set(place.jobs) };
    const own: Job = { ...job, drained: new Set(job.drained) };
    const judge = new Judge(this.#switches, { ...this.pools, left: new Map(this.pools.left) });
    judge.put(
      takes.filter(({ of }) => of !== "door"),
      copy,
      own,
    );
    return { judge, place: copy, job: own };
  }

  /** The refusal if the takes together are more than there is. */
  #shortOf(takes: readonly Take[], place: Place, job: Job): string | undefined {
    const total = new Map<string, number>();
    for (const take of takes) {
      if (take.of === "door") continue;
      const key = `${take.of} ${take.name}`;
      total.set(key, (total.get(key) ?? 0) + amountFor(take, job));
      const has = take.of === "pool" ? this.pools.left.get(take.name) : countOf(place.left[take.name]);
      if (!isEnough(has ?? 0, total.get(key) ?? 0))
        return take.of === "pool" ? "SharedLimitReached" : "InsufficientResource";
    }
    return undefined;
  }

  /** One constraint. `isMember`: it stands in the job's list itself. */
  judge(one: Constraint, place: Place, job: Job, isMember = false): Judgement {
    switch (one.kind) {
      case "amount":
        return this.#amount(one, place.left[one.name]);
      case "resource": {
        const value = this.#valueOf(place, one.name);
        return value === undefined ? refused("UndefinedResource") : choose(value, one.options);
      }
      case "property":
        return this.#property(one.name, one.options, place.properties);
      case "exclusive":
        return one.wanted ? this.#exclusive(one.closes, place, job) : HOLDS;
      case "group":
        if ((place.properties["placement_group"] !== null) === one.wanted) return HOLDS;
        return refused(one.wanted ? "NotInAPlacementGroup" : "InAPlacementGroup");
      case "and":
        return this.#and(one.of, place, job);
      case "or":
      case "xor":
        return this.#alternatives(one, place, job);
      case "not":
        return this.#not(one.of, place, job);
      case "never":
        return refused("Never");
      case "pool": {
        const left = this.pools.left.get(one.pool) ?? 0;
        const { amount } = one;
        const take: Take = { of: "pool", name: one.pool, amount, ...(one.once ? { once: one } : {}) };
        if (amountFor(take, job) > 0 && !isEnough(left, amount)) return refused("SharedLimitReached");
        return { ...HOLDS, takes: [take] };
      }
      case "pool-value":
        return this.#isValue(this.pools.values.get(one.pool), one.target)
          ? HOLDS
          : refused("InvalidSharedValue");
      case "backoff":
        if (this.#switches.has("backoff-counts-alone") && !isMember) return HOLDS;
        return isBackingOff(place, one.seconds) ? refused("CapacityFailureBackoff") : HOLDS;
    }
  }

  #isValue(found: Value | undefined, target: Value): boolean {
    return this.#switches.has("true-is-one") ? isSameValue(found, target) : found === target;
  }

  /** What a choice compares: an amount in all, whatever is taken of it. */
  #valueOf({ left, totals }: Place, name: string): Value | undefined {
    const isLeft = this.#switches.has("choices-see-what-is-left") || countOf(left[name]) === undefined;
    return isLeft ? left[name] : (totals[name] ?? left[name]);
  }

  #amount({ name, asked }: Extract<Constraint, { kind: "amount" }>, found: Value | undefined): Judgement {
    if (found === undefined) return refused("UndefinedResource");
    const has = countOf(found);
    if (has === undefined) return this.#cannotCount("NotAnAmount");
    if (isSize(asked) && !isSize(found) && this.#switches.has("plain-numbers-are-bytes"))
      return this.#cannotCount("InsufficientResource");
    const isBytes = this.#switches.has("plain-numbers-are-bytes") && isSize(found) && !isSize(asked);
    const unit = isSize(found) && !isSize(asked) && !isBytes ? bytesPer(found) : 1;
    const amount = (countOf(asked) ?? 0) * unit;
    if (!isEnough(has, amount)) return refused("InsufficientResource");
    // The library counts bytes as if they were units.
    const space = isBytes ? timesIn(found.amount, amount) : timesIn(has, amount);
    return { ...HOLDS, space, takes: [{ of: "node", name, amount }] };
  }

  /** Here the library stops with an exception. */
  #cannotCount(refusal: string): Judgement {
    if (this.#switches.has("plain-numbers-are-bytes")) throw new Refused("not an amount of this kind");
    return refused(refusal);
  }

  #property(name: string, options: readonly Value[], properties: Values): Judgement {
    const isToCome = properties["exists"] === false && !this.#switches.has("one-node-refuses-its-bucket");
    const later = isToCome ? ofNodeToCome(name, options, properties) : undefined;
    return later ?? choose(properties[name] ?? null, options);
  }

  #exclusive(closes: "slot" | "task", place: Place, job: Job): Judgement {
    const packs = this.#switches.has("exclusive-packs");
    const isMine = this.#switches.has("amounts-do-not-add-up")
      ? closes === "task" && place.jobs.has(job)
      : place.owner === job && (closes === "task" || packs);
    const isFree = place.owner === undefined && place.jobs.size === 0;
    if (!isMine && !isFree) return refused("ExclusiveRequirementFailed");
    const space = closes === "slot" && !packs ? 1 : HOLDS.space;
    return { ...HOLDS, space, takes: [{ of: "door", closes }] };
  }

  #and(members: readonly Constraint[], place: Place, job: Job): Judgement {
    if (!this.#switches.has("amounts-do-not-add-up")) return this.#joint(members, place, job);
    const judged = members.map((one) => this.judge(one, place, job));
    const space = Math.min(...judged.map((one) => one.space), Number.POSITIVE_INFINITY);
    const failure = judged.find((one) => one.refusal !== undefined);
    return { ...(failure ?? HOLDS), space, takes: judged.flatMap(({ takes }) => takes) };
  }

  #alternatives({ kind, of }: { kind: "or" | "xor"; of: readonly Constraint[] }, place: Place, job: Job) {
    const judged = of.map((one) => this.judge(one, place, job));
    const first = judged.findIndex((one) => one.refusal === undefined);
    const found = judged[first];
    const open = judged.find((one) => one.unsure === true);
    if (found === undefined) return open ?? refused("CompoundFailure");
    if (kind === "or") return { ...found, score: of.length - first };
    if (judged.filter((one) => one.refusal === undefined).length > 1) return refused("XORFailed");
    return open ?? { ...found, score: 1 };
  }

  #not(of: Constraint, place: Place, job: Job): Judgement {
    const judged = this.judge(of, place, job);
    if (judged.refusal === undefined) return refused("not(success)");
    if (judged.unsure === true) return judged;
    const members = of.kind === "and" && this.#switches.has("not-takes") ? of.of : [];
    return { ...HOLDS, takes: members.flatMap((one) => this.judge(one, place, job).takes) };
  }

  /** Takes what was judged to be there. */
  put(takes: readonly Take[], place: Place, job: Job): void {
    for (const take of takes) {
      if (take.of === "door") place.owner = job;
      else this.#take(take, place, job);
    }
  }

  #take(take: Exclude<Take, { of: "door" }>, place: Place, job: Job): void {
    const { name, once } = take;
    const amount = amountFor(take, job);
    if (take.of === "node") {
      const left = place.left[name];
      if (!isEnough(countOf(left) ?? 0, amount)) throw new Refused(`less than ${amount} left of ${name}`);
      place.left[name] = isSize(left)
        ? { amount: left.amount - amount / bytesPer(left), unit: left.unit }
        : (countOf(left) ?? 0) - amount;
    } else {
      const left = this.pools.left.get(name) ?? 0;
      if (!isEnough(left, amount)) throw new Refused(`less than ${amount} left in ${name}`);
      this.pools.left.set(name, left - amount);
      if (once !== undefined) job.drained.add(once);
    }
  }

  /** As the library: of members in an "and" those that hold at that moment, of alternatives the first that does. */
  putEach(constraints: readonly Constraint[], place: Place, job: Job): void {
    const holds = (one: Constraint): boolean => this.judge(one, place, job).refusal === undefined;
    for (const one of constraints) {
      if (one.kind === "and") {
        for (const member of one.of) if (holds(member)) this.putEach([member], place, job);
      } else if (one.kind === "or" || one.kind === "xor") {
        const first = one.of.find(holds);
        if (first === undefined) throw new Refused("no alternative is left");
        this.putEach([first], place, job);
      } else if (one.kind === "not") {
        if (this.#switches.has("not-takes")) this.#putNot(one.of, place, job);
      } else this.put(this.judge(one, place, job, true).takes, place, job);
    }
  }

  #putNot(of: Constraint, place: Place, job: Job): void {
    if (of.kind === "amount") throw new Refused("the amount is not there");
    if (of.kind === "never" || of.kind === "or" || of.kind === "group") throw new Refused("nothing to take");
    this.putEach([of], place, job);
  }
}

const flattened = (constraints: readonly Constraint[]): readonly Constraint[] =>
  constraints.flatMap((one) => (one.kind === "and" ? flattened(one.of) : [one]));

/** What is taken once is taken with the first slot. */
const amountFor = (take: Exclude<Take, { of: "door" }>, job: Job): number =>
  take.once !== undefined && job.drained.has(take.once) ? 0 : take.amount;

export const isBackingOff = ({ failure = -1 }: Place, seconds: number): boolean =>
  failure >= 0 && failure < seconds;

function choose(value: Value, options: readonly Value[]): Judgement {
  const at = choiceOf(value, options);
  return at < 0 ? refused("InvalidOption") : { ...HOLDS, score: options.length - at };
}

const LATER: Readonly<Record<string, readonly Value[]>> = {
  exists: [true],
  state: ["Allocation", "Acquiring", "Preparing", "Preparation", "Started", "Ready"],
};

/** A node that is to come meets only what it meets now and when it is up; undefined: it is as it will be. */
function ofNodeToCome(name: string, options: readonly Value[], properties: Values): Judgement | undefined {
  const now = properties[name] ?? null;
  const isOpen = options.some((one) => one === null || (typeof one === "string" && /[*?[]/.test(one)));
  const later = LATER[name];
  if (later !== undefined) {
    const all = [now, ...later].map((value) => choose(value, options));
    const first = choose(now, options);
    return all.every((one) => (one.refusal === undefined) === (first.refusal === undefined))
      ? first
      : NOT_YET;
  }
  if (GIVEN.has(name) && now === null) return isOpen ? NOT_YET : refused("InvalidOption");
  if (name !== "name" || properties["hostname_or_uuid"] !== null) return undefined;
  // Its name is the array's with a number that is not known; a plain name is that of another node.
  const begin = `${textOf(properties["nodearray"])}-`;
  const ends = ["\u{e000}", "\u{e000}\u{e000}"].map((end) => choose(`${begin}${end}`, options));
  const [first = NOT_YET] = ends;
  if (ends.every((one) => one.refusal === undefined)) return first;
  const mayBe = options.some((one) => {
    const plain = textOf(one).split(/[*?[]/)[0] ?? "";
    return plain !== one && (plain.startsWith(begin) || begin.startsWith(plain));
  });
  return mayBe ? NOT_YET : refused("InvalidOption");
}
