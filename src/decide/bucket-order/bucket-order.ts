import type { PlacementOrder, PlacementUse } from "../../domain/allocation.ts";
import type { Binding } from "../../domain/binding.ts";
import type { SharedState } from "../../domain/node-view.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Scalar } from "../../domain/resources.ts";
import type { Ask } from "../bins/job-ask.ts";
import { unitsOnEmpty } from "../bins/job-ask.ts";
import type { Way } from "../why/remedies.ts";
import { bindingOf, presentBinding } from "../why/remedies.ts";
import type { Candidates } from "./candidates.ts";
import { candidatesFor, chooseBuckets } from "./candidates.ts";
import type { Site } from "./sites.ts";
import { BucketSites, roomAt, roomToStart } from "./sites.ts";
import { sizeOfConstraints } from "../constraints/constraint-size.ts";
import type { Draft } from "../draft/draft.ts";
import type { Explained } from "../why/unmet.ts";
import { closedTo, groupClosedTo } from "../draft/closed.ts";
import { holderOf } from "../draft/caps.ts";
import type { Place } from "../bins/node-kinds.ts";
import { roomIntricate, roomOnNew, slotsAtOnce } from "../bins/slot-by-slot.ts";
import type { JobClass } from "../bins/job-class.ts";
import { mostPoolNeeds, unitsInPools as unitsInAllPools } from "../draft/pool-use.ts";
import { jobRefusal, noteScaleSet } from "../draft/scale-set.ts";
import type { Telling } from "../why/reason-budget.ts";
import { explain } from "../why/reason-budget.ts";
import type { Bin } from "../bins/bin.ts";
import { misfit, refusalReason, tooSmall } from "../draft/refusals.ts";
import { drains, looksAtPools, poolRaises, takeFromPools, unitsInPools } from "./pools.ts";

/** So many nodes of a bin with so many units each, and, where what is left is less than a node holds, one more with the rest. */
interface Step {
  readonly bin: Bin;
  readonly nodes: number;
  readonly units: number;
  readonly rest: number;
}

/** What one bucket could do for a job: counted before anything is taken, so that a job that fails leaves no trace (defects 15 to 17). */
interface SitePlan {
  readonly steps: readonly Step[];
  readonly made: { readonly nodes: number; readonly units: number };
  /** Units that stay unplaced. */
  readonly left: number;
}

/** What a job has been given, in slots, and why that is not all, where somebody is told. */
export interface PlacedInOrder extends Explained {
  readonly placed: number;
  readonly pending: number;
}

interface Progress {
  left: number;
  pending: number;
  readonly uses: PlacementUse[];
}

/**
 * Places jobs as scalelib does (scalelib.md 10 and 11), one after the other in the order of rank: bucket by bucket, in each the
 * nodes that are there before new ones. A colocated job and a job with a node count go into one bucket (a placement group is a bucket of
 * its own) whole or not at all. Of the alternatives of slots every node, existing or new, is first filled by the one that holds first there; only what is
 * left then looks what else holds. What differs is what the list of defects there names: limits are shared by all buckets that name them
 * (2, 10), nodes of a full bucket are used while they have room (9), an exclusive job has one slot a node (11).
 */
export class BucketOrder {
  /** How each job found its places, in the order of settling. */
  readonly orders: PlacementOrder[] = [];
  readonly #draft: Draft;
  readonly #telling: Telling | undefined;
  readonly #sites: BucketSites;
  readonly #values: ReadonlyMap<string, Scalar>;
  /** By constraints that do not look at pools; the key is shared by all jobs alike. */
  readonly #known = new Map<JobClass, Candidates>();

  /** By constraints, then by place and size of a unit: how many bins at the beginning of the bucket have no room for such a job. */
  readonly #passed = new Map<JobClass, Map<string, number>>();

  /** `telling`: who is told why a job is unmet; absent: nobody. */
  constructor(draft: Draft, shared: SharedState, telling: Telling | undefined) {
    this.#draft = draft;
    this.#telling = telling;
    this.#sites = new BucketSites(draft);
    this.#values = shared.values;
  }

  /** Places the units of a job; `home`: the placement group that it is bound to already. */
  settle(ask: Ask, home: Place | undefined): PlacedInOrder {
    const { pools } = this.#draft;
    const all = this.#candidatesOf(ask);
    const chosen = this.#draft.bins.hosts.size === 0 ? all : candidatesFor(all, ask.set);
    const sites = home === undefined ? chosen.sites : chosen.sites.filter(({ place }) => place === home);
    const { units, short } = unitsInPools(pools, ask);
    const progress: Progress = { left: ask.units, pending: 0, uses: [] };
    const beyond = ask.units - units;
    const drained = this.#drained(ask);
    if (isWhole(ask)) {
      if (beyond === 0 && drained.length === 0) this.#placeWhole(ask, sites, progress);
    } else {
      progress.left = units;
      this.#placeSome(ask, sites, progress);
      progress.left += beyond;
    }
    takeFromPools(pools, ask, ask.units - progress.left);
    this.orders.push({
      by: ask.by,
      candidates: sites.map(({ made }) => made.bucket),
      refused: chosen.refused.map(({ site, refusal }) => ({ bucket: site.made.bucket, refusal })),
      uses: progress.uses,
    });
    return {
      placed: ask.asked - progress.left * ask.slotsPerUnit,
      pending: progress.pending * ask.slotsPerUnit,
      ...this.#tell(ask, sites, chosen, progress.left, short, drained),
    };
  }

  /** Why so many units of a job are unmet, and what would place them: to as many jobs as are told. */
  #tell(
    ask: Ask,
    sites: readonly Site[],
    chosen: Candidates,
    left: number,
    short: readonly Reason[],
    drained: readonly Reason[],
  ): Explained {
    const telling = this.#telling;
    if (left <= 0 || telling === undefined) return { reasons: [] };
    if (!telling.covers(ask)) return { reasons: [...short, ...telling.brief(ask)] };
    telling.note(ask);
    return explain(this.#draft, () => {
      const reasons = [
        ...short,
        ...(isWhole(ask) ? drained : this.#drained(ask.with(left))),
        ...this.#reasons(ask, sites, chosen, left),
      ];
      return { reasons, ...presentBinding(this.#binding(ask, sites, chosen, left)) };
    });
  }

  /** What would place the rest of a job, or why no raise would; `left`: pools and limits are as its units that have a place leave them. */
  #binding(ask: Ask, sites: readonly Site[], { refused }: Candidates, left: number): Binding | undefined {
    const { caps, capacity, pools } = this.#draft;
    const whole = isWhole(ask);
    const had = new Map(sites.map((site) => [site, this.#unitsUp(ask, site)]));
    const most = Math.max(0, ...had.values());
    const [drained] = this.#drained(ask.with(left));
    const ways = sites
      .filter((site) => opensFor(ask, site) && site.offer.onlyFor === undefined)
      .map((site): Way => {
        const { offer, group } = site;
        const units = this.#unitsOnNew(ask, site, "whole");
        const barrier =
          closedSite(this.#draft, site) ??
          misfit(this.#draft, ask, offer, group) ??
          (units < 1 ? drained : undefined);
        if (!whole) return { offer, group, lot: 1, serves: units, most: Number.POSITIVE_INFINITY, barrier };
        const lot = Math.ceil((left - (had.get(site) ?? 0)) / units);
        return { offer, group, lot, serves: 1, most: 1, barrier };
      });
    const others = refused
      .filter(({ site }) => site.offer.onlyFor === undefined)
      .map(({ site: { offer, made }, refusal }): Way => {
        const barrier = refusalReason({ bucket: made.bucket }, refusal);
        return { offer, group: undefined, lot: 1, serves: 0, most: Number.POSITIVE_INFINITY, barrier };
      });
    const raises = poolRaises(pools, ask, left);
    const room = raises.length === 0 ? 0 : [...had.values()].reduce((sum, units) => sum + units, 0);
    return bindingOf(this.#draft, {
      ways: [...ways, ...others],
      missing: whole ? Number(most < left) : Math.max(0, left - room),
      given: whole ? [] : capacity.takenSinceMark(),
      pools: raises,
      ceilings: caps.ceilings(holderOf(ask)),
    });
  }

  #candidatesOf(ask: Ask): Candidates {
    this.#sites.refresh();
    const { constraints } = ask.jobClass;
    const known = this.#known.get(ask.jobClass);
    if (known !== undefined) return known;
    this.#draft.bins.budget.spend(this.#sites.all.length * sizeOfConstraints(constraints));
    const candidates = chooseBuckets(this.#sites.all, constraints, {
      left: this.#draft.pools,
      values: this.#values,
    });
    if (!constraints.some(looksAtPools)) this.#known.set(ask.jobClass, candidates);
    return candidates;
  }

  #placeWhole(ask: Ask, sites: readonly Site[], progress: Progress): void {
    if (progress.left <= 0) return;
    for (const filling of fillingsOf(ask)) {
      for (const site of sites) {
        if (this.#isSpent) return;
        const plan = this.#plan(ask, site, progress.left, filling);
        if (plan.left > 0) continue;
        if (drains(ask)) this.#placeByNode(ask, site, filling, progress);
        else this.#apply(ask, site, plan, progress);
        return;
      }
    }
  }

  #placeSome(ask: Ask, sites: readonly Site[], progress: Progress): void {
    for (const filling of fillingsOf(ask)) {
      for (const site of sites) {
        if (progress.left <= 0 || this.#isSpent) return;
        if (drains(ask)) this.#placeByNode(ask, site, filling, progress);
        else this.#apply(ask, site, this.#plan(ask, site, progress.left, filling), progress);
      }
    }
  }

  /** One node after the other, as what the next one takes hangs on what this one has left of the pools. */
  #placeByNode(ask: Ask, site: Site, filling: Filling, progress: Progress): void {
    while (progress.left > 0 && !this.#isSpent) {
      const { steps, made } = this.#plan(ask, site, progress.left, filling);
      const [step] = steps;
      if (step === undefined && made.nodes < 1) return;
      const next: SitePlan = {
        steps: step === undefined ? [] : [{ ...step, nodes: 1, rest: 0 }],
        made: { nodes: step === undefined ? 1 : 0, units: made.units },
        left: 0,
      };
      this.#apply(ask, site, next, progress);
    }
  }

  get #isSpent(): boolean {
    return this.#draft.bins.budget.isSpent;
  }

  /** Of pools that alternatives take from: those that do not suffice for all units, should all of them take it. */
  #drained(ask: Ask): readonly Reason[] {
    const { pools, world } = this.#draft;
    return drains(ask) ? unitsInAllPools(pools, ask, mostPoolNeeds(ask), world.pools).reasons : [];
  }

  #plan(ask: Ask, site: Site, wanted: number, filling: Filling): SitePlan {
    const { bins } = this.#draft;
    const steps: Step[] = [];
    let left = wanted;
    const isOpen = opensFor(ask, site);
    let room = isOpen ? roomAt(this.#draft, site) : 0;
    let started = 0;
    let allowed = this.#allowed(ask, site);
    const first = this.#firstOpen(ask, site);
    for (let at = first; at < site.bins.length && left > 0 && !this.#isSpent; at += 1) {
      const bin = site.bins[at] ?? 0;
      const units = Math.min(this.#unitsOn(ask, bin, filling), left);
      if (units < 1) continue;
      const toStart = this.#isToStart(bin);
      const startable = toStart && isOpen ? roomToStart(this.#draft, site, bin) - started : 0;
      if (toStart && startable < 1) continue;
      const count = bins.count[bin] ?? 0;
      const isHeld =
        this.#draft.caps.none ||
        this.#draft.caps.roomOn(holderOf(ask), bins, bin) === Number.POSITIVE_INFINITY;
      const nodes = Math.min(count, Math.floor(left / units), isHeld ? count : allowed);
      if (nodes < 1) continue;
      if (toStart) {
        started += 1;
        room = Math.min(room, startable - 1);
      }
      if (!isHeld) allowed -= nodes;
      left -= nodes * units;
      const rest = nodes < count && left < units && (isHeld || allowed > 0) ? left : 0;
      if (rest > 0 && !isHeld) allowed -= 1;
      left -= rest;
      steps.push({ bin, nodes, units, rest });
    }
    const units = Math.min(this.#unitsOnNew(ask, site, filling), left);
    // Where not all nodes were asked, no new ones are made in their place.
    const nodes = units < 1 || this.#isSpent ? 0 : Math.min(room, allowed, Math.ceil(left / units));
    return { steps, made: { nodes, units }, left: Math.max(0, left - nodes * units) };
  }

  #unitsOn(ask: Ask, bin: Bin, filling: Filling): number {
    const { bins } = this.#draft;
    // Each unit of a node task has a node of its own.
    if (ask.isGang && bins.holds(bin, ask.by)) return 0;
    const units = this.#unitsThere(ask, bin);
    return filling === "whole" || units < 1 ? units : Math.min(units, slotsAtOnce(bins, bin, ask));
  }

  /** A job that wants nodes to itself may have slots by one alternative beside those that it has by another. */
  #unitsThere(ask: Ask, bin: Bin): number {
    const { bins } = this.#draft;
    return hasAlternatives(ask) && bins.isOnlyOf(bin, ask)
      ? roomIntricate(bins, bin, ask)
      : bins.unitsOn(bin, ask);
  }

  #unitsOnNew(ask: Ask, { made, place }: Site, filling: Filling): number {
    const { bins } = this.#draft;
    const units = unitsOnEmpty(ask, made, bins.resources);
    // A node task has all its slots there, or none.
    if (!hasAlternatives(ask) || ask.unitsPerNode === 1) return units;
    if (filling === "first alternative" && !drains(ask)) return units;
    const room = roomOnNew(bins, made, bins.ground.kindOfNew(made, place).capacity, ask);
    return filling === "whole" ? room : Math.min(units, room);
  }

  /**
   * The first bin of a bucket that may have room for a unit of such jobs. Nodes only fill up while a plan is made, so those at the
   * beginning that had none need not be asked again: a long queue must not walk over full nodes again and again.
   */
  #firstOpen(ask: Ask, { place, bins: list }: Site): number {
    const { bins } = this.#draft;
    const passed = this.#passed.get(ask.jobClass) ?? new Map<string, number>();
    this.#passed.set(ask.jobClass, passed);
    const key = `${place.index}/${ask.slotsPerUnit}`;
    let at = passed.get(key) ?? 0;
    // A node that has the job's only slot there may have room for the next one of its class.
    const isFull = (bin: Bin): boolean => this.#unitsThere(ask, bin) < 1 && !bins.hasFreeSlot(bin, ask);
    while (at < list.length && isFull(list[at] ?? 0)) at += 1;
    passed.set(key, at);
    return at;
  }

  #apply(ask: Ask, site: Site, plan: SitePlan, progress: Progress): void {
    const { capacity, bins } = this.#draft;
    for (const step of plan.steps) {
      if (this.#isToStart(step.bin)) {
        capacity.take(site.offer, site.group, 1, bins.node(step.bin)?.charges);
        bins.woken.add(step.bin);
      }
      this.#use(ask, site, step, 0, progress);
    }
    const { nodes, units } = plan.made;
    if (nodes < 1) return;
    if (site.group !== undefined && capacity.groupSize(site.offer, site.group) === 0)
      noteScaleSet(this.#draft.scaleSets, site.offer, site.group, site.offer.attributes);
    capacity.take(site.offer, site.group, nodes);
    const bin = bins.plan(site.place, nodes, site.made, { kind: "array" }, site.offer.attributes);
    this.#sites.insert(site, bin);
    const full = Math.min(nodes, Math.floor(progress.left / units));
    const rest = full < nodes ? progress.left - full * units : 0;
    this.#use(ask, site, { bin, nodes: full, units, rest }, nodes, progress);
  }

  /** Fills nodes of a bin; those that are not needed are split off. `made`: how many nodes of it are new. */
  #use(ask: Ask, site: Site, { bin, nodes, units, rest }: Step, made: number, progress: Progress): void {
    const { bins } = this.#draft;
    const nodeId = bins.node(bin)?.nodeId;
    const other = bins.split(bin, nodes);
    if (other !== undefined) {
      this.#sites.insert(site, other, bin);
      this.#draft.caps.follow(bin, other);
    }
    bins.occupy(bin, ask, units * ask.slotsPerUnit);
    if (!this.#draft.caps.none) this.#draft.caps.hold(holderOf(ask), bins, bin);
    progress.left -= nodes * units;
    if (!bins.isReady(bin)) progress.pending += nodes * units;
    progress.uses.push({
      bucket: site.made.bucket,
      ...(nodeId === undefined ? {} : { nodeId }),
      run: bin,
      made,
      nodes,
      slots: units * ask.slotsPerUnit,
      ...(other === undefined ? {} : { rest: other }),
    });
    if (other !== undefined && rest > 0)
      this.#use(ask, site, { bin: other, nodes: 1, units: rest, rest: 0 }, 0, progress);
  }

  /** Nodes that the job's set and user may have in addition. */
  #allowed(ask: Ask, { made, bins: list }: Site): number {
    const { caps, bins } = this.#draft;
    const cores = Math.max(made.cores, ...list.slice(0, 1).map((bin) => bins.cores[bin] ?? 0));
    return caps.none ? Number.POSITIVE_INFINITY : caps.room(holderOf(ask), cores);
  }

  /** A deallocated node takes from the limits what a new one does, once. */
  #isToStart(bin: Bin): boolean {
    const { bins } = this.#draft;
    return bins.node(bin)?.deallocated === true && !bins.isClaimed(bin);
  }

  /** For each bucket the first thing that said no. */
  #reasons(ask: Ask, sites: readonly Site[], { refused }: Candidates, left: number): readonly Reason[] {
    return [
      ...sites.map((site) => this.#whyNotMore(ask, site, left)).filter((reason) => reason !== undefined),
      ...refused
        .filter(({ site }) => site.offer.onlyFor === undefined)
        .map(({ site, refusal }) => whyRefused(site, refusal)),
      ...(this.#sites.all.length > 0 ? [] : [this.#noBuckets()]),
    ];
  }

  #noBuckets(): Reason {
    const { arrays, closed } = this.#draft.world;
    return closed ?? { code: "unknown-array", array: "any", known: [...arrays.keys()] };
  }

  #whyNotMore(ask: Ask, site: Site, left: number): Reason | undefined {
    const { offer, group, made } = site;
    if (!opensFor(ask, site) || offer.onlyFor !== undefined) return undefined;
    const closed = closedSite(this.#draft, site);
    if (closed !== undefined) return closed;
    const units = Math.min(ask.units, unitsOnEmpty(ask, made, this.#draft.bins.resources));
    const { refusal } = ask.jobClass.fit.on(made);
    if (units < 1)
      return refusal === undefined
        ? tooSmall(this.#draft, ask, made)
        : { code: "requirement", bucket: made.bucket, refusal };
    const asked = isWhole(ask) ? ask.units - this.#unitsHad(ask, site) : left;
    const nodes = Math.ceil(asked / units);
    return (
      this.#draft.caps.refusal(holderOf(ask), nodes, made.cores) ??
      this.#draft.capacity.refusal(offer, group, nodes)
    );
  }

  /** Units that fit on the nodes of a bucket that need not be started. */
  #unitsUp(ask: Ask, site: Site): number {
    const { bins } = this.#draft;
    const up = site.bins.filter((bin) => !this.#isToStart(bin));
    return up.reduce((sum, bin) => sum + bins.unitsOn(bin, ask) * (bins.count[bin] ?? 0), 0);
  }

  /** Units that fit on the nodes that a bucket has. */
  #unitsHad(ask: Ask, site: Site): number {
    const { bins } = this.#draft;
    return site.bins.reduce((sum, bin) => sum + bins.unitsOn(bin, ask) * (bins.count[bin] ?? 0), 0);
  }
}

/** Why a bucket or its placement group takes no new nodes, whatever the limits. */
function closedSite(draft: Draft, { offer, group }: Site): Reason | undefined {
  const closed = closedTo(draft, offer);
  if (closed !== undefined || group === undefined) return closed;
  return groupClosedTo(draft, offer, group) ?? jobRefusal(draft, offer, group);
}

/** A dynamic node array grows only for those who name it. */
function opensFor({ requirements }: Ask, { offer }: Site): boolean {
  return offer.parent === undefined || requirements.arrays?.includes(offer.bucket.array) === true;
}

/** All units or none: what is colocated, and a number of nodes unless some of them will do. */
function isWhole({ demand: job }: Ask): boolean {
  return job.colocated || (job.nodeCount !== undefined && job.partial !== true);
}

/** With slots of the alternative that holds first there, or with whatever holds. */
type Filling = "first alternative" | "whole";

const WHOLE: readonly Filling[] = ["whole"];
const BY_ALTERNATIVE: readonly Filling[] = ["first alternative", "whole"];

/** A node task has its slots on a node together, whichever alternatives they are charged to. */
const fillingsOf = (ask: Ask): readonly Filling[] =>
  hasAlternatives(ask) && ask.unitsPerNode !== 1 ? BY_ALTERNATIVE : WHOLE;

/** What a slot takes hangs on what is left of a node. */
const hasAlternatives = ({ jobClass }: Ask): boolean => jobClass.takes === undefined;

/** An array that is not for HPC lacks groups on purpose, and its bucket without one says so. */
function whyRefused({ offer, made: { bucket } }: Site, refusal: Refusal): Reason {
  return refusal.code === "not-in-a-placement-group" && offer.notHpc === true
    ? { code: "no-new-group", bucket }
    : { code: "requirement", bucket, refusal };
}
