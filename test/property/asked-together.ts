import fc from "fast-check";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { AllocationPolicy } from "../../src/domain/allocation.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { JobDemand } from "../../src/domain/demand.ts";
import { arrayName } from "../../src/domain/ids.ts";
import type { DemandOutcome } from "../../src/domain/plan.ts";
import type { Reason } from "../../src/domain/reason.ts";
import { renderRemedy } from "../../src/domain/remedy.ts";
import type { Raise, Remedy } from "../../src/domain/remedy.ts";
import { bytesOf, isSize, parseSize } from "../../src/domain/size.ts";
import type { BucketOffer, World } from "../../src/domain/world.ts";
import { asking } from "../golden/refusal-scenario.ts";
import { job, limit, NOW, offer, world } from "../golden/small-world.ts";

/*
 * Jobs that ask for two to four things on small clusters, and a sender or an administrator who does what the remedy says until the job has its
 * place. What no bucket has is counted here again, without the code of the plan.
 */

/** What a job asks of a node, in the form of JSON. */
type Asked = Readonly<Record<string, unknown>>;

interface AskedTogether {
  readonly place: World;
  readonly asked: Asked;
  readonly more: Partial<JobDemand>;
  readonly preference: AllocationPolicy["preference"];
}

const CATALOGUE = [
  { at: "htc/F2", ncpus: 2, ngpus: 0, mem: 4 },
  { at: "htc/F8", ncpus: 8, ngpus: 0, mem: 16 },
  { at: "mem/E8", ncpus: 8, ngpus: 0, mem: 64 },
  { at: "hpc/HB", ncpus: 120, ngpus: 0, mem: 456, infiniband: true },
  { at: "gpu/NC6", ncpus: 6, ngpus: 1, mem: 56 },
  { at: "gpu/NC24", ncpus: 24, ngpus: 4, mem: 224, infiniband: true },
] as const;

const ARRAYS = ["htc", "mem", "hpc", "gpu"];

function offerOf(entry: (typeof CATALOGUE)[number]): BucketOffer {
  const { at, ncpus, ngpus, mem } = entry;
  const hasGroups = "infiniband" in entry;
  const disk = hasGroups ? "nvme" : "hdd";
  return offer(at, ncpus, [1, ncpus, ...ARRAYS.map((name) => Number(at.startsWith(`${name}/`)))], {
    resources: { ncpus, ngpus, mem: { amount: mem, unit: "g" }, disk },
    ...(hasGroups ? { maxPlacementGroupSize: 3 } : {}),
  });
}

const anyPlace: fc.Arbitrary<World> = fc
  .record({
    entries: fc.subarray([...CATALOGUE], { minLength: 1 }),
    nodes: fc.integer({ min: 0, max: 6 }),
    cores: fc.constantFrom(4, 50, 500),
    perArray: fc.integer({ min: 0, max: 4 }),
    tokens: fc.option(fc.integer({ min: 0, max: 8 })),
  })
  .map(({ entries, nodes, cores, perArray, tokens }) =>
    world(
      entries.map(offerOf),
      [
        limit("cluster", "", "nodes", 0, nodes),
        limit("regional-quota", "westeurope", "cores", 0, cores),
        ...ARRAYS.map((name) => limit("nodearray", name, "nodes", 0, perArray)),
      ],
      {
        arrays: new Map(ARRAYS.map((name) => [arrayName(name), "managed"])),
        ...(tokens === null ? {} : { pools: [{ name: "matlab", total: tokens, used: 0 }] }),
      },
    ),
  );

const SOME_OF_IT: fc.Arbitrary<Asked> = fc.oneof(
  fc.constantFrom(1, 2, 4, 6, 8, 16, 24, 64, 120, 200).map((ncpus) => ({ ncpus })),
  fc.constantFrom(1, 2, 4, 8).map((ngpus) => ({ ngpus })),
  fc.constantFrom(2, 16, 32, 64, 200, 500).map((gib) => ({ mem: `memory::${gib}g` })),
  fc.constantFrom("nvme", "hdd", "tape").map((disk) => ({ disk: [disk] })),
  fc.constantFrom(...ARRAYS, "htx").map((name) => ({ "node.nodearray": name })),
  fc.constantFrom("F2", "F8", "NC6", "NC66").map((name) => ({ "node.vm_size": name })),
  fc.constantFrom(1, 3).map((amount) => ({ pool: { matlab: amount } })),
  fc.constantFrom(
    { exclusive: true },
    { "node.colocated": true },
    { "in-a-placement-group": true },
    { ncpu: 2 },
  ),
  fc.constantFrom(
    { or: [{ ncpus: 8, ngpus: 1 }, { ncpus: 64 }] },
    { or: [{ ngpus: 8 }, { disk: ["nvme"] }] },
  ),
);

const anyAskedTogether: fc.Arbitrary<AskedTogether> = fc.record({
  place: anyPlace,
  asked: fc
    .array(SOME_OF_IT, { minLength: 2, maxLength: 4 })
    .map((parts): Asked => Object.assign({}, ...parts)),
  more: fc.oneof(
    fc.integer({ min: 1, max: 12 }).map((iterations): Partial<JobDemand> => ({ iterations })),
    fc.integer({ min: 1, max: 3 }).map((nodeCount): Partial<JobDemand> => ({ nodeCount })),
    fc.constant<Partial<JobDemand>>({ nodeCount: 2, iterations: 2 }),
    fc.integer({ min: 1, max: 4 }).map((iterations): Partial<JobDemand> => ({ iterations, colocated: true })),
  ),
  preference: fc.constantFrom("existing-first", "bucket-order"),
});

function outcomeOf({ place, asked, more, preference }: AskedTogether): DemandOutcome {
  const policy = { groupPrefix: "pg-", groupFillSeconds: 600, preference, among: "priority" } as const;
  const [outcome] = allocate(place, [job({ ...asking(asked), ...more })], policy, NOW).outcomes;
  if (outcome === undefined) throw new Error("the plan has no outcome for its only job");
  return outcome;
}

/** Maximum number of remedies that are followed, one after the other: one for each thing asked, and the limits. */
const MOST_STEPS = 7;

/** Follows remedies until the job is placed. Returns what was wrong, or the number of steps. */
function follow(first: AskedTogether): { readonly steps: number; readonly fault?: string } {
  let now = first;
  const said: string[] = [];
  for (let steps = 0; steps <= MOST_STEPS; steps += 1) {
    const { placed, asked, binding } = outcomeOf(now);
    if (placed === asked) return { steps };
    if (binding === undefined) return { steps, fault: `no remedy after: ${said.join(" / ")}` };
    said.push(renderRemedy(binding));
    const untrue = untruthIn(now, binding);
    if (untrue !== undefined) return { steps, fault: `${renderRemedy(binding)}: ${untrue}` };
    const next = followed(now, binding);
    if (next === undefined) return { steps, fault: `nothing to do in: ${said.join(" / ")}` };
    now = next;
  }
  return { steps: MOST_STEPS, fault: `not placed after: ${said.join(" / ")}` };
}

function followed(now: AskedTogether, remedy: Remedy): AskedTogether | undefined {
  switch (remedy.kind) {
    case "raise":
      return { ...now, place: raised(now.place, remedy.raises) };
    case "too-large":
      return { ...now, asked: lower(now, remedy.resource, remedy.offered) };
    case "no-raise":
      return asTold(now, remedy.reason);
    case "wait":
      return undefined;
  }
}

const slotsOf = ({ more }: AskedTogether): number =>
  more.nodeCount === undefined ? 1 : (more.iterations ?? 1);

/** Asks for no more of a resource than this. An amount of memory is in bytes. */
function lower(now: AskedTogether, resource: string, offered: number): Asked {
  const { [resource]: before, ...others } = withoutOr(now.asked);
  const each = Math.floor(offered / slotsOf(now));
  if (each <= 0) return others;
  return { ...others, [resource]: typeof before === "string" ? `memory::${each}b` : each };
}

function withoutOr(asked: Asked): Asked {
  return Object.fromEntries(Object.entries(asked).filter(([key]) => key !== "or"));
}

const without = (now: AskedTogether, ...keys: readonly string[]): AskedTogether => ({
  ...now,
  asked: Object.fromEntries(Object.entries(now.asked).filter(([key]) => !keys.includes(key))),
});

function asTold(now: AskedTogether, reason: Reason): AskedTogether | undefined {
  switch (reason.code) {
    case "not-together":
      return asNearest(now, reason);
    case "unknown-array":
    case "no-bucket":
      return without(now, "node.nodearray");
    case "no-such-machine-type":
      return without(now, "node.vm_size");
    case "no-placement-group":
    case "no-new-group":
      return {
        ...without(now, "node.colocated", "in-a-placement-group"),
        more: { ...now.more, colocated: false },
      };
    case "requirement": {
      const { refusal } = reason;
      if (refusal.code === "undefined-resource") {
        const { [refusal.resource]: amount, ...others } = now.asked;
        return {
          ...now,
          asked: refusal.nearest === undefined ? others : { ...others, [refusal.nearest]: amount },
        };
      }
      if (refusal.code === "invalid-option") return without(now, refusal.what);
      return refusal.code === "not-in-a-placement-group"
        ? without(now, "node.colocated", "in-a-placement-group")
        : undefined;
    }
    default:
      return undefined;
  }
}

type NotTogether = Extract<Reason, { readonly code: "not-together" }>;

/** Asks for what the nearest bucket has. */
function asNearest(
  now: AskedTogether,
  { asked, buckets: [nearest], alternatives }: NotTogether,
): AskedTogether {
  const next: Record<string, unknown> = { ...(alternatives === true ? withoutOr(now.asked) : now.asked) };
  asked.forEach(({ what }, i) => {
    const has = nearest?.has[i] ?? "";
    const before = next[what];
    if (what === "placement group") {
      if (has === "no") for (const key of ["in-a-placement-group", "node.colocated"]) delete next[key];
    } else if (has === "0" || has === "undefined") delete next[what];
    else if (typeof before === "number" || (before === undefined && !what.startsWith("node.")))
      next[what] = Number.isNaN(Number(has)) ? [has] : Math.floor(Number(has) / slotsOf(now));
    else if (has.endsWith(" GiB")) next[what] = `memory::${Number(has.slice(0, -4)) / slotsOf(now)}g`;
    else next[what] = what.startsWith("node.") ? has : [has];
    if (what === "node.colocated" && has === "false") delete next[what];
  });
  return { ...now, asked: next };
}

/** A remedy that blames what some bucket offers. */
function untruthIn({ place }: AskedTogether, remedy: Remedy): string | undefined {
  if (remedy.kind === "too-large") {
    const has = place.buckets.find(({ resources }) => amountIn(resources[remedy.resource]) >= remedy.asked);
    return has === undefined ? undefined : `${bucketText(has.bucket)} has it`;
  }
  if (remedy.kind !== "no-raise" || remedy.reason.code !== "not-together") return undefined;
  const { asked } = remedy.reason;
  const all = place.buckets.find((one) => asked.every(({ what, value }) => hasIt(one, what, value)));
  return all === undefined ? undefined : `${bucketText(all.bucket)} has all of it`;
}

const amountIn = (value: unknown): number => (isSize(value) ? bytesOf(value) : Number(value ?? 0));

function hasIt(
  { bucket, resources, maxPlacementGroupSize }: BucketOffer,
  what: string,
  value: string,
): boolean {
  if (what === "node.nodearray") return value.split(" or ").includes(bucket.array);
  if (what === "node.vm_size") return value.split(" or ").includes(bucket.machineType);
  if (what === "placement group" || what === "node.colocated") return maxPlacementGroupSize !== undefined;
  const found = resources[what];
  if (typeof found === "string") return value.split(" or ").includes(found);
  const size = value.endsWith(" GiB") ? parseSize(`memory::${value.slice(0, -4)}g`) : Number(value);
  return found !== undefined && amountIn(found) >= amountIn(size);
}

function raised(place: World, raises: readonly Raise[]): World {
  const more = (kind: string, name: string, unit: string): number =>
    raises.reduce(
      (sum, raise) =>
        raise.of === "limit" &&
        raise.limit.kind === kind &&
        raise.limit.name === name &&
        raise.limit.unit === unit
          ? sum + raise.more
          : sum,
      0,
    );
  const pools = new Map((place.pools ?? []).map((pool) => [pool.name, pool]));
  for (const raise of raises) {
    if (raise.of !== "pool") continue;
    const { total = 0, used = 0 } = pools.get(raise.pool) ?? {};
    pools.set(raise.pool, { name: raise.pool, total: total + raise.more, used });
  }
  return {
    ...place,
    pools: [...pools.values()],
    limits: place.limits.map((one) => {
      const by = more(one.id.kind, one.id.name, one.id.unit);
      return { ...one, max: one.max + by, left: one.left + by };
    }),
    buckets: place.buckets.map((one) =>
      one.maxPlacementGroupSize === undefined
        ? one
        : {
            ...one,
            maxPlacementGroupSize:
              one.maxPlacementGroupSize + more("placement-group", bucketText(one.bucket), "nodes"),
          },
    ),
  };
}

/** What went wrong in a sample, and the number of jobs that were placed after 0, 1, 2 and more remedies. */
export function faultsIn(sample: { readonly seed: number; readonly numRuns: number }): {
  readonly faults: readonly string[];
  readonly steps: readonly number[];
} {
  const steps = Array.from({ length: MOST_STEPS + 1 }, () => 0);
  const faults = fc.sample(anyAskedTogether, sample).flatMap((one) => {
    const outcome = follow(one);
    steps[outcome.steps] = (steps[outcome.steps] ?? 0) + 1;
    const { asked, more, preference } = one;
    return outcome.fault === undefined
      ? []
      : [`${JSON.stringify([asked, more, preference])}: ${outcome.fault}`];
  });
  return { faults, steps };
}
