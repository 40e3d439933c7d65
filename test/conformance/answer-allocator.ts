import { allocate } from "../../src/decide/search/allocate.ts";
import type { Allocation, PlacementOrder } from "../../src/domain/allocation.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand } from "../../src/domain/demand.ts";
import { instant } from "../../src/domain/units.ts";
import { readConstraints } from "../../src/wire/constraint/constraint.ts";
import type { Notes } from "../../src/wire/json/problems.ts";
import { newNotes } from "../../src/wire/json/problems.ts";
import { readCaseWorld, SET } from "./allocator-world.ts";
import type { Json } from "./compare.ts";
import { isList, isObject, textOf } from "./compare.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";
import { readRules } from "./vector-cluster.ts";
import { POLICY, Replay } from "./replay.ts";
import type { CaseJob, Item } from "./replay.ts";
import { showBuckets, showJob, showPools, wantsLimits } from "./show-case.ts";

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
