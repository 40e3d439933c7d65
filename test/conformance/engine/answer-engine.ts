import type { Fields, Json } from "../compare.ts";
import { objectsIn, textOf } from "../compare.ts";
import type { BucketLimits } from "./limits.ts";
import { roomIn } from "./limits.ts";
import type { Play, Played } from "./play.ts";
import { isRequired, playCase, Player } from "./play.ts";
import type { Switches } from "./switches.ts";
import { isSameValue, Refused, showValue } from "./values.ts";
import type { EngineNode, World } from "./world.ts";

/** What the engine answers to a case, as the vectors write it. `limits`: the single limits of each bucket are shown. */
export function answerEngine(
  input: Fields,
  vmSizes: Json,
  switches: Switches,
  limits: boolean,
  By = Player,
): Json {
  const play = unlessRefused(() => playCase(input, vmSizes, switches, By));
  if (play === undefined) return { problem: "" };
  const { world, jobs } = play;
  const nodes = world.buckets.flatMap((bucket) => bucket.nodes);
  return {
    jobs: jobs.map(showJob),
    buckets: world.buckets.flatMap(({ id, room }) => {
      if (room === undefined) return [];
      const { cores } = room;
      const shown = limits ? { limits: showLimits(room.limits, cores) } : {};
      return [{ bucket: id, available: roomIn(room.limits, cores), ...shown }];
    }),
    demand: showDemand(nodes),
    nodes: nodes.toSorted(compareNodes).map(showNode),
    ...(input["shared_resources"] === undefined ? {} : { shared_resources: showPools(input, world) }),
  };
}

function unlessRefused(play: () => Play): Play | undefined {
  try {
    return play();
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

function showJob({ name, job, candidates, refused, uses }: Played): Json {
  if (job === undefined) return { job: name, problem: "" };
  const allocated = uses.reduce((sum, { slots }) => sum + slots, 0);
  const byBucket = new Map<string, { bucket: string; existing: number; new: number; slots: number }>();
  for (const { node, isNew, slots } of uses) {
    const row = byBucket.get(node.bucket) ?? { bucket: node.bucket, existing: 0, new: 0, slots: 0 };
    row[isNew ? "new" : "existing"] += 1;
    row.slots += slots;
    byBucket.set(node.bucket, row);
  }
  const nothing = candidates.length === 0 ? "NoCandidatesFound" : "NoAllocationSelected";
  return {
    job: name,
    unit: job.unit,
    requested: job.requested,
    status: allocated > 0 ? "success" : nothing,
    allocated,
    remaining: job.requested - allocated,
    by_bucket: [...byBucket.values()],
    nodes: uses.map(({ node, isNew, slots }) => [node.name, isNew ? "new" : "existing", slots]),
    ...(candidates.length === 0 ? { rejections: refused } : { candidates: candidates.map(({ id }) => id) }),
  };
}

function showLimits(limits: BucketLimits, cores: number): Json {
  const room = (name: keyof BucketLimits): number | null => limits[name]?.room(cores) ?? null;
  return {
    bucket: Math.min(room("bucket") ?? 0, room("group") ?? Number.POSITIVE_INFINITY),
    cluster: room("cluster"),
    family: room("family"),
    nodearray: room("nodearray"),
    placement_group: room("group"),
    regional: room("regional"),
  };
}

function showDemand(nodes: readonly EngineNode[]): Json {
  const made = nodes.filter(({ state, used }) => state === "new" || (state === "deallocated" && used));
  const sound = nodes.filter(({ state }) => state !== "failed");
  const counts = new Map<string, { bucket: string; state: string; count: number }>();
  for (const { bucket, state: origin } of made) {
    const state = origin === "new" ? "Off" : "Deallocated";
    const { count } = counts.get(`${bucket}\n${state}`) ?? { count: 0 };
    counts.set(`${bucket}\n${state}`, { bucket, state, count: count + 1 });
  }
  const named = (some: readonly EngineNode[]): Json =>
    some.map(({ name }) => name).toSorted((a, b) => a.length - b.length || compareText(a, b));
  return {
    new: named(made),
    matched: named(sound.filter(isRequired)),
    unmatched: named(sound.filter((node) => !isRequired(node))),
    failed: named(nodes.filter(({ state }) => state === "failed")),
    new_by_bucket: [...counts].toSorted(([a], [b]) => compareText(a, b)).map(([, row]) => row),
  };
}

function showNode(node: EngineNode): Json {
  const exists = node.state === "existing" || node.state === "failed";
  const flags = `${exists ? "e" : ""}${isRequired(node) ? "r" : ""}${node.owner === undefined ? "" : "c"}`;
  const jobs = new Set([...node.jobs].map((job) => (typeof job === "string" ? job : job.name)));
  const taken = Object.entries(node.left).filter(([name, value]) => !isSameValue(node.totals[name], value));
  const rest = Object.fromEntries(taken.map(([name, value]) => [name, showValue(value)]));
  return [node.name, node.bucket, flags, [...jobs].toSorted(compareText), rest];
}

function showPools(input: Fields, { pools }: World): Json {
  const rows = objectsIn(input["shared_resources"]).map((pool): [string, Json] => {
    const id = textOf(pool["id"]);
    return [id, pools.left.get(id) ?? showValue(pools.values.get(id) ?? null)];
  });
  return Object.fromEntries(rows);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const compareNodes = (a: EngineNode, b: EngineNode): number =>
  compareText(a.bucket, b.bucket) || a.name.length - b.name.length || compareText(a.name, b.name);
