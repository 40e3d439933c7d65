import type { Allocation, AllocationPolicy, World } from "../domain/allocation.ts";
import type { Constraint } from "../domain/constraint.ts";
import type { GroupDemand, JobDemand, RankedDemand, TargetDemand } from "../domain/demand.ts";
import type { SetName } from "../domain/ids.ts";
import type { SharedState } from "../domain/node-view.ts";
import type { DemandOutcome } from "../domain/plan.ts";
import type { Reason } from "../domain/reason.ts";
import type { Instant } from "../domain/units.ts";
import type { Ask } from "./ask.ts";
import { readJob } from "./ask.ts";
import type { Place } from "./bins.ts";
import { compareText } from "../domain/text.ts";
import { Bins, comparePlaces } from "./bins.ts";
import type { Draft, Settled } from "./draft.ts";
import { beginDraft, createsOf, forgetSpent } from "./draft.ts";
import { jobBinding, presentBinding } from "./binding.ts";
import { Fit } from "./fit.ts";
import { raiseFloor } from "./floor.ts";
import { placeGang } from "./gang.ts";
import { raiseGroups } from "./group.ts";
import { hostFinder } from "./hosts.ts";
import type { Progress } from "./pack.ts";
import { packJob } from "./pack.ts";
import { sharedStateOf } from "./pools.ts";
import { packingReasons } from "./reasons.ts";
import { takeFromPools, unitsInPools } from "./pool-use.ts";
import type { Requirements } from "./requirements.ts";
import { countedResources, takeApart } from "./requirements.ts";
import type { Scope, Wanted } from "./scope.ts";
import { gatherReasons } from "./gather.ts";
import { scopeOf } from "./scope.ts";

/**
 * Works out what the demands need: which existing nodes, and which new ones in which bucket and placement group, under every limit. One
 * pass in the order of rank (priority, then position, set name and id), so that rank decides who gets scarce capacity; the order of
 * everything else in the input changes nothing. Bound tasks occupy their hosts first, of all jobs, even beyond what is free there: the
 * scheduler will not move them (design.md section 3). `now` ends pauses of buckets. Every demand gets an outcome, in the order of rank.
 */
export function allocate(
  world: World,
  demands: readonly RankedDemand[],
  policy: AllocationPolicy,
  now: Instant,
): Allocation {
  const ranked = demands.toSorted(compareRanks);
  const names = resourceNames(ranked);
  const shared = sharedStateOf(world.pools ?? [], ranked.flatMap(constraintsOf));
  const entries = readEntries(ranked, names, shared);
  const asks = entries.flatMap((entry) => (entry.kind === "job" ? [entry.ask] : []));
  const bins = new Bins(world, names);
  const homes = bindTasks(bins, asks);
  const draft = beginDraft(bins, asks, shared.left, policy, now);
  const scopes = new Map<string, Scope>();
  const outcomes = entries.map((entry) => settle(draft, entry, scopes, homes));
  return { creates: createsOf(bins), starts: [], loads: bins.loads(), needed: bins.needed(), outcomes };
}

/** A demand made ready to be settled; `by` is "set/demand". */
type Entry =
  | { readonly kind: "target"; readonly set: SetName; readonly by: string; readonly demand: TargetDemand }
  | { readonly kind: "groups"; readonly set: SetName; readonly by: string; readonly demand: GroupDemand }
  | {
      readonly kind: "job";
      readonly set: SetName;
      readonly by: string;
      readonly demand: JobDemand;
      readonly ask: Ask;
    };

/** Jobs with the same constraints are judged once for all of them. */
function readEntries(
  ranked: readonly RankedDemand[],
  resources: readonly string[],
  shared: SharedState,
): readonly Entry[] {
  const positions = new Map(resources.map((name, position) => [name, position]));
  const known = new Map<string, { readonly requirements: Requirements; readonly fit: Fit }>();
  const judge = (job: JobDemand): { readonly requirements: Requirements; readonly fit: Fit } => {
    const key = JSON.stringify(job.constraints);
    const before = known.get(key);
    if (before !== undefined) return before;
    const requirements = takeApart(job.constraints);
    const made = { requirements, fit: new Fit(requirements.rest, positions, shared) };
    known.set(key, made);
    return made;
  };
  return ranked.map(({ set, demand }): Entry => {
    const by = `${set}/${demand.id}`;
    switch (demand.kind) {
      case "target":
        return { kind: "target", set, by, demand };
      case "groups":
        return { kind: "groups", set, by, demand };
      case "job": {
        const { requirements, fit } = judge(demand);
        return { kind: "job", set, by, demand, ask: readJob(demand, by, requirements, fit) };
      }
    }
  });
}

function compareRanks(a: RankedDemand, b: RankedDemand): number {
  return (
    b.demand.priority - a.demand.priority ||
    a.demand.position - b.demand.position ||
    compareText(a.set, b.set) ||
    compareText(a.demand.id, b.demand.id)
  );
}

const constraintsOf = ({ demand }: RankedDemand): readonly Constraint[] =>
  demand.kind === "job" ? demand.constraints : [];

/** The resources that any job takes: only they are counted. */
function resourceNames(demands: readonly RankedDemand[]): readonly string[] {
  const names = new Set<string>();
  for (const ranked of demands) {
    for (const constraint of constraintsOf(ranked))
      for (const name of countedResources(constraint)) names.add(name);
  }
  return [...names].sort(compareText);
}

/**
 * Puts tasks that run already onto their hosts. Hosts that are not in our supply take nothing from it. Answers, for each colocated job, the
 * placement group that it is bound to.
 */
function bindTasks(bins: Bins, asks: readonly Ask[]): ReadonlyMap<Ask, Place> {
  const homes = new Map<Ask, Place>();
  if (asks.every((ask) => ask.job.placed.length === 0)) return homes;
  const findHost = hostFinder(bins.world.nodes);
  for (const ask of asks) {
    for (const { hostname, iterations } of ask.job.placed) {
      const bin = findHost(hostname);
      if (bin === undefined) continue;
      bins.occupy(bin, ask, ask.job.nodeCount === undefined ? iterations : ask.slotsPerUnit, true);
      const place = bins.placeOfBin(bin);
      if (ask.together !== "one-group" || place.bucket.placementGroup === undefined) continue;
      const home = homes.get(ask);
      if (home === undefined || comparePlaces(place, home) < 0) homes.set(ask, place);
    }
  }
  return homes;
}

/** Demands that name the same arrays and sizes share one scope. */
function sharedScope(draft: Draft, scopes: Map<string, Scope>, entry: Entry): Scope {
  const wanted: Wanted =
    entry.kind === "job"
      ? entry.ask.requirements
      : {
          arrays: [entry.demand.array],
          ...(entry.demand.machineTypes === undefined ? {} : { machineTypes: entry.demand.machineTypes }),
        };
  const preference = entry.kind === "job" ? "cluster" : "listed";
  const key = `${preference}\n${wanted.arrays?.join("\t") ?? "*"}\n${wanted.machineTypes?.join("\t") ?? "*"}`;
  const scope = scopes.get(key) ?? scopeOf(draft, wanted, preference);
  scopes.set(key, scope);
  return scope;
}

function settle(
  draft: Draft,
  entry: Entry,
  scopes: Map<string, Scope>,
  homes: ReadonlyMap<Ask, Place>,
): DemandOutcome {
  const scope = sharedScope(draft, scopes, entry);
  draft.capacity.mark();
  switch (entry.kind) {
    case "target": {
      const { unit, count } = entry.demand.amount;
      return outcomeOf(entry, unit, count, raiseFloor(draft, entry.demand, entry.by, scope));
    }
    case "groups":
      return outcomeOf(
        entry,
        "groups",
        entry.demand.groups,
        raiseGroups(draft, entry.demand, entry.by, scope),
      );
    case "job":
      return outcomeOf(
        entry,
        "slots",
        entry.ask.asked,
        settleJob(draft, entry.ask, scope, homes.get(entry.ask)),
      );
  }
}

/** Pools first: no more units than they have are placed, and what is placed is taken from them. */
function settleJob(draft: Draft, ask: Ask, scope: Scope, home: Place | undefined): Settled {
  const { units, reasons: shortPools } = unitsInPools(draft.pools, ask, draft.world.pools);
  const allowed = units < ask.units ? { ...ask, units: ask.together === "anywhere" ? units : 0 } : ask;
  const { left, pending, reasons } = place(draft, allowed, scope, home);
  takeFromPools(draft.pools, ask, allowed.units - left);
  forgetSpent(draft);
  const missing = left + ask.units - allowed.units;
  const binding = missing > 0 ? jobBinding(draft, ask, scope, home, missing) : undefined;
  return {
    placed: ask.asked - missing * ask.slotsPerUnit,
    pending: pending * ask.slotsPerUnit,
    reasons: shortPools.length === 0 ? reasons : [...shortPools, ...reasons],
    ...presentBinding(binding),
  };
}

function place(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
): Progress & { readonly reasons: readonly Reason[] } {
  if (ask.units <= 0) return { left: 0, pending: 0, reasons: [] };
  if (ask.together !== "anywhere") {
    const { progress, reasons } = placeGang(draft, ask, scope, home);
    return { ...progress, reasons };
  }
  const progress = packJob(draft, ask, scope);
  const reasons = progress.left > 0 ? packingReasons(draft, ask, scope, progress.left) : [];
  return { ...progress, reasons };
}

function outcomeOf(
  { set, demand }: Entry,
  unit: DemandOutcome["unit"],
  asked: number,
  { placed, pending, reasons, binding }: Settled,
): DemandOutcome {
  const settled = { set, id: demand.id, kind: demand.kind, unit, asked, placed, pending };
  return { ...settled, ...gatherReasons(reasons), ...presentBinding(binding) };
}
