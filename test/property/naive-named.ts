import type { RankedDemand, TargetDemand } from "../../src/domain/demand.ts";
import { isListed } from "./naive-floors.ts";
import type { NaiveNode, Sheet } from "./naive-nodes.ts";
import { nameOf, offerAt, outcomeOf } from "./naive-nodes.ts";

/** A target that names its nodes. */
type Named = TargetDemand & { readonly named: NonNullable<TargetDemand["named"]> };

interface RankedNamed extends RankedDemand {
  readonly demand: Named;
}

const isNamed = (ranked: RankedDemand): ranked is RankedNamed =>
  ranked.demand.kind === "target" && ranked.demand.named !== undefined;

/** P2 and P3 for targets that name their nodes (docs/protocol.md, Named nodes): each name is one node, made once, where a target asks for it. */
export function namedFaults(sheet: Sheet): readonly string[] {
  const ranked = sheet.demands.filter(isNamed);
  return [
    ...ranked.flatMap((one) => [...countFaults(sheet, one), ...togetherFaults(sheet, one, ranked)]),
    ...makingFaults(sheet, ranked),
    ...reservedFaults(sheet, ranked),
  ];
}

const isMade = ({ origin }: NaiveNode): boolean => origin === "planned";

/** An earlier plan has decided that this name gets no node. A node that is there counts all the same, unless it is of an earlier resume. */
function isBarred({ world }: Sheet, name: string, isThere: boolean): boolean {
  const blocked = world.blockedNames?.get(name);
  return blocked !== undefined && (!isThere || blocked.code === "name-earlier");
}

/** As many are promised as are there, or fewer where a target that comes later made the others. */
function countFaults(sheet: Sheet, ranked: RankedNamed): readonly string[] {
  const { demand } = ranked;
  const faults: string[] = [];
  const by = nameOf(ranked);
  const there = demand.named.names.flatMap((name) => {
    const node = sheet.nodes.find((one) => one.name === name && one.isThere);
    return node === undefined || isBarred(sheet, name, true) ? [] : [node];
  });
  const { placed = 0, pending = 0 } = outcomeOf(sheet, ranked) ?? {};
  if (placed > there.length) faults.push(`${by}: ${placed} names promised, ${there.length} there`);
  const before = there.filter((node) => !isMade(node));
  if (placed < before.length) faults.push(`${by}: ${before.length} names are there, ${placed} promised`);
  if (placed === there.length && pending !== there.filter(({ ready }) => !ready).length)
    faults.push(`${by}: ${pending} names pending`);
  return faults;
}

/** A node is made under a name that has none, alone, in a place where a target asks for it. */
function makingFaults(sheet: Sheet, ranked: readonly RankedNamed[]): readonly string[] {
  const faults: string[] = [];
  const seen = new Set(sheet.nodes.filter((node) => !isMade(node)).map(({ name }) => name));
  for (const { bucket, purpose, count } of sheet.answer.creates) {
    if (purpose.kind !== "named") continue;
    const { name } = purpose;
    if (count !== 1 || seen.has(name)) faults.push(`${name} is made ${count} times, or is there`);
    seen.add(name);
    if (isBarred(sheet, name, false)) faults.push(`${name} is made, and decided otherwise`);
    const group = (asked: Named): string | undefined =>
      asked.named.group ?? offerAt(sheet.world, bucket)?.pinnedGroup;
    const isAsked = ranked.some(
      ({ demand }) =>
        demand.named.names.includes(name) &&
        demand.array === bucket.array &&
        isListed(demand.machineTypes, bucket.machineType) &&
        group(demand) === bucket.placementGroup,
    );
    if (!isAsked)
      faults.push(`${name} is made in ${bucket.array}/${bucket.machineType}, where nobody asks for it`);
  }
  return faults;
}

/** Of names that one job needs all at once, all new ones are made, in one bucket, or none. Names that another target has, too, are not judged. */
function togetherFaults(sheet: Sheet, ranked: RankedNamed, all: readonly RankedNamed[]): readonly string[] {
  const { names, together } = ranked.demand.named;
  const isShared = all.some(
    (other) => other !== ranked && other.demand.named.names.some((name) => names.includes(name)),
  );
  if (together !== true || isShared) return [];
  const missing = names.filter(
    (name) =>
      !isBarred(sheet, name, false) && !sheet.nodes.some((node) => node.name === name && !isMade(node)),
  );
  const made = sheet.nodes.filter((node) => isMade(node) && missing.includes(node.name ?? ""));
  const places = new Set(made.map(({ bucket }) => `${bucket.array}/${bucket.machineType}`));
  if (made.length !== 0 && made.length !== missing.length)
    return [
      `${nameOf(ranked)}: ${made.length} of ${missing.length} names are made that one job needs together`,
    ];
  return places.size > 1 ? [`${nameOf(ranked)}: made in ${[...places].join(" and ")}`] : [];
}

/** Only targets that name their nodes make or start any in an array that is kept for them. */
function reservedFaults({ world, answer }: Sheet, ranked: readonly RankedNamed[]): readonly string[] {
  const named = new Set(ranked.map(nameOf));
  const made = answer.creates.flatMap(({ bucket, purpose }) =>
    purpose.kind !== "named" && offerAt(world, bucket)?.onlyNamed === true
      ? [`a node made in ${bucket.array}`]
      : [],
  );
  const started = answer.starts.flatMap((id) => {
    const node = world.nodes.find(({ nodeId }) => nodeId === id);
    const isKept = node !== undefined && offerAt(world, node.bucket)?.onlyNamed === true;
    return isKept && answer.needed.get(id)?.some((by) => named.has(by)) !== true ? [`${id} started`] : [];
  });
  return [...made, ...started].map((what) => `${what}, which is kept for nodes that are named`);
}
