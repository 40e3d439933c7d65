import type { Fields } from "./allocator-case.ts";
import { fieldsOf, listOf } from "./allocator-case.ts";
import type { Json } from "./compare.ts";
import { bytesOfText, isList, isObject, textOf } from "./compare.ts";

/** A resource of a naive node: an amount in its own unit (of a size: how many bytes one is), or a mark. */
export type NaiveValue =
  | { readonly kind: "amount"; readonly amount: number; readonly bytes: number | undefined }
  | { readonly kind: "mark"; readonly value: string | boolean | null };

/** A node, or what a bucket would make, for the checkers. */
export interface NaiveNode {
  readonly name: string;
  readonly bucket: string;
  readonly properties: ReadonlyMap<string, NaiveValue>;
  readonly resources: Map<string, NaiveValue>;
  readonly jobs: Set<string>;
  /** The job that has it alone. */
  owner: string | undefined;
  /** Seconds since its bucket lacked capacity; only of what a bucket would make. */
  readonly failure: number;
}

export interface NaivePools {
  readonly left: Map<string, number>;
  readonly values: ReadonlyMap<string, Json>;
  /** "job pool" of what was taken once already. */
  readonly once: Set<string>;
}

/** What one slot does to the node and the pools; undefined: it may not be there. */
export interface NaiveTake {
  readonly amounts: readonly (readonly [string, number])[];
  readonly drains: readonly (readonly [string, number, boolean])[];
  readonly alone: "slot" | "job" | undefined;
  /** For preference: what each choice among several said, in order. */
  readonly score: number;
}

const NOTHING: NaiveTake = { amounts: [], drains: [], alone: undefined, score: 1 };
const TINY = 1e-9;

/** Judges the members of a job's constraints for one slot, in the plainest way: scalelib.md 9, with the README's corrections. */
export function judgeSlot(
  members: readonly Json[],
  node: NaiveNode,
  pools: NaivePools,
  job: string,
): NaiveTake | undefined {
  const keys = conjunctsOf(members);
  const takes = keys.map(([key, value]) => judgeKey(key, value, node, pools, job));
  const sure = takes.filter((take) => take !== undefined);
  if (sure.length < takes.length) return undefined;
  const joint = joinTakes(sure, node, pools);
  if (joint !== undefined || !keys.some(isChoice)) return joint;
  // There is no room for the first alternatives beside the rest: those that hold on what the rest leaves are meant.
  const [choices, others] = [
    keys.filter(isChoice),
    keys.map((key, i) => (isChoice(key) ? undefined : sure[i])),
  ];
  const rest: NaiveNode = { ...node, resources: new Map(node.resources) };
  const chosen = others.filter((take) => take !== undefined);
  for (const take of chosen) takeAmounts(take, rest);
  for (const [key, value] of choices) {
    const take = judgeKey(key, value, rest, pools, job);
    if (take === undefined) return undefined;
    takeAmounts(take, rest);
    chosen.push(take);
  }
  return joinTakes(chosen, node, pools);
}

/** All that must hold at once; an "and" in it is no more than its members. */
function conjunctsOf(members: readonly Json[]): readonly (readonly [string, Json])[] {
  return members
    .flatMap((member) => Object.entries(fieldsOf(member)))
    .flatMap(([key, value]) =>
      key === "and" && isList(value) ? conjunctsOf(value) : [[key, value] as const],
    );
}

const isChoice = ([key, value]: readonly [string, Json]): boolean => key === "or" && isList(value);

/** What all of them take together; undefined: it is more than the node or a pool has. */
function joinTakes(
  takes: readonly NaiveTake[],
  node: NaiveNode,
  { left }: NaivePools,
): NaiveTake | undefined {
  const drained = new Map<string, number>();
  for (const [pool, amount] of takes.flatMap(({ drains }) => drains)) {
    drained.set(pool, (drained.get(pool) ?? 0) + amount);
    if ((left.get(pool) ?? 0) < (drained.get(pool) ?? 0) - TINY) return undefined;
  }
  const total = new Map<string, number>();
  for (const [name, amount] of takes.flatMap(({ amounts }) => amounts))
    total.set(name, (total.get(name) ?? 0) + amount);
  for (const [name, amount] of total) {
    const found = node.resources.get(name);
    if (found?.kind !== "amount" || found.amount < amount - Math.abs(amount) * TINY) return undefined;
  }
  return {
    amounts: [...total],
    drains: takes.flatMap(({ drains }) => drains),
    alone: takes.some(({ alone }) => alone === "slot") ? "slot" : takes.find(({ alone }) => alone)?.alone,
    score: 1,
  };
}

export function judgeKey(
  key: string,
  value: Json,
  node: NaiveNode,
  pools: NaivePools,
  job: string,
): NaiveTake | undefined {
  switch (key) {
    case "$shared":
      return judgeShared(fieldsOf(value), pools, job);
    case "$shared_value":
      return pools.values.get(textOf(fieldsOf(value)["id"])) === fieldsOf(value)["target"]
        ? NOTHING
        : undefined;
    case "in-a-placement-group":
      return hasGroup(node) === isTrue(value) ? NOTHING : undefined;
    case "capacity-failure-backoff":
      return node.failure >= 0 && node.failure < Number(value) ? undefined : NOTHING;
    case "exclusive":
    case "exclusive_task":
    case "exclusive-task":
      return judgeAlone(key === "exclusive" ? "slot" : "job", isTrue(value), node, job);
    case "never":
      return undefined;
    case "not":
      return judgeSlot([value], node, pools, job) === undefined ? NOTHING : undefined;
    case "and":
      if (isList(value)) return judgeSlot(value, node, pools, job);
      break;
    case "or":
    case "xor":
      if (isList(value)) return judgeAlternatives(key, value, node, pools, job);
      break;
    default:
  }
  if (key.startsWith("node."))
    return choose(isList(value) ? value : [value], node.properties.get(key.slice(5)));
  const bytes = bytesOfText(value);
  if (bytes !== undefined || typeof value === "number")
    return judgeAmount(key, value, bytes, node.resources.get(key));
  return choose(isList(value) ? value : [value], node.resources.get(key));
}

const isTrue = (value: Json): boolean => !["false", "0"].includes(textOf(value).toLowerCase());

function hasGroup({ properties }: NaiveNode): boolean {
  const group = properties.get("placement_group");
  return group?.kind === "mark" && group.value !== null;
}

function judgeShared(shared: Fields, pools: NaivePools, job: string): NaiveTake | undefined {
  const amount = Number(shared["amount"]);
  const once = shared["decrement_once"] === true;
  const ids = listOf(shared["ids"]).map(textOf);
  const open = ids.filter((id) => !(once && pools.once.has(`${job} ${id}`)));
  if (open.some((id) => (pools.left.get(id) ?? 0) < amount)) return undefined;
  return { ...NOTHING, drains: open.map((id) => [id, amount, once] as const) };
}

function judgeAlone(
  alone: "slot" | "job",
  wanted: boolean,
  node: NaiveNode,
  job: string,
): NaiveTake | undefined {
  if (!wanted) return NOTHING;
  const mine = alone === "job" && node.owner === job;
  return mine || (node.jobs.size === 0 && node.owner === undefined) ? { ...NOTHING, alone } : undefined;
}

function judgeAlternatives(
  kind: "or" | "xor",
  members: readonly Json[],
  node: NaiveNode,
  pools: NaivePools,
  job: string,
): NaiveTake | undefined {
  const takes = members.map((member) => judgeSlot([member], node, pools, job));
  const first = takes.findIndex((take) => take !== undefined);
  const count = takes.filter((take) => take !== undefined).length;
  const take = takes[first];
  if (take === undefined || (kind === "xor" && count > 1)) return undefined;
  return { ...take, score: kind === "or" ? members.length - first : 1 };
}

function judgeAmount(
  key: string,
  value: Json,
  bytes: number | undefined,
  found: NaiveValue | undefined,
): NaiveTake | undefined {
  if (found?.kind !== "amount") return undefined;
  const asked = bytes === undefined ? Number(value) : bytes / (found.bytes ?? 1);
  return found.amount < asked - Math.abs(asked) * TINY ? undefined : { ...NOTHING, amounts: [[key, asked]] };
}

function choose(options: readonly Json[], found: NaiveValue | undefined): NaiveTake | undefined {
  if (found === undefined) return undefined;
  const value = found.kind === "mark" ? found.value : found.amount * (found.bytes ?? 1);
  const at = options.findIndex((option) => isSame(option, value));
  return at < 0 ? undefined : { ...NOTHING, score: options.length - at };
}

function isSame(option: Json, value: string | boolean | number | null): boolean {
  if (typeof option === "string" && typeof value === "string")
    return /[*?[]/.test(option) ? globOf(option).test(value) : option === value;
  if (typeof option === "string" || typeof value === "string" || option === null || value === null)
    return option === value;
  return !isList(option) && !isObject(option) && Number(option) === Number(value);
}

/** `*`, `?`, `[ab]` and `[!a]`; everything else is itself. */
function globOf(pattern: string): RegExp {
  const source = pattern.replaceAll(/\[!?[^\]]+\]|[\s\S]/g, (part) => {
    if (part === "*") return "[\\s\\S]*";
    if (part === "?") return "[\\s\\S]";
    if (part.length > 1) return part.replace("[!", "[^");
    return part.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${source}$`);
}

function takeAmounts({ amounts }: NaiveTake, { resources }: NaiveNode): void {
  for (const [name, amount] of amounts) {
    const found = resources.get(name);
    if (found?.kind === "amount") resources.set(name, { ...found, amount: found.amount - amount });
  }
}

/** Puts a slot where it was judged to be allowed. */
export function putSlot(take: NaiveTake, node: NaiveNode, pools: NaivePools, job: string): void {
  takeAmounts(take, node);
  for (const [pool, amount, once] of take.drains) {
    pools.left.set(pool, (pools.left.get(pool) ?? 0) - amount);
    if (once) pools.once.add(`${job} ${pool}`);
  }
  node.jobs.add(job);
  if (take.alone !== undefined) node.owner = job;
}

/** Whether a slot may be there: no other job has the node to itself, and an exclusive job has one slot on each node. */
export function isOpen(node: NaiveNode, job: string, take: NaiveTake): boolean {
  return node.owner === undefined || (node.owner === job && take.alone === "job");
}
