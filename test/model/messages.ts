import type { DemandMessage, JobMessage, NodearrayMessage } from "../../src/wire/message/message.ts";
import type { ClusterShape } from "./shape.ts";
import type { Entry, PartName } from "./steps.ts";
import { arrayAt, jobName, namesAt, sinceOf, typesAt } from "./wants.ts";

const PARTS: Readonly<Record<PartName, Pick<DemandMessage, "schedulerNodes" | "pools">>> = {
  report: { schedulerNodes: [] },
  pools: { pools: [{ name: "licence", total: 1, used: 0 }] },
};

/** The parts of a message without demand. */
export function partsOf(parts: readonly PartName[]): Pick<DemandMessage, "schedulerNodes" | "pools"> {
  return Object.assign({}, ...parts.map((part) => PARTS[part]));
}

/**
 * The entries of a message on the wire. A member that may be left out, or that has two spellings, is written one way or the other,
 * depending on the entries' own numbers. The meaning stays the same.
 */
export function contentOf(
  shape: ClusterShape,
  entries: readonly Entry[],
): Pick<DemandMessage, "nodearrays" | "jobs"> {
  const targets = entries.flatMap((entry) => (entry.kind === "job" ? [] : [targetMessage(shape, entry)]));
  const jobs = entries
    .flatMap((entry) => (entry.kind === "job" ? [entry] : []))
    .map((entry, index) => jobMessage(shape, entry, targets.length + index));
  const style = targets.length * 5 + jobs.length * 3 + entries.reduce((sum, { array }) => sum + array, 0);
  // A message without either list is not the same as one with two empty lists.
  if (targets.length + jobs.length === 0) return { nodearrays: [], jobs: [] };
  return { ...listed("nodearrays", targets, style), ...listed("jobs", jobs, style) };
}

/** A list; one object for a single entry; or nothing for none. */
function listed<K extends "nodearrays" | "jobs", T>(
  key: K,
  all: readonly T[],
  style: number,
): Partial<Record<K, T | readonly T[]>> {
  const isShort = style % 2 === 1;
  const [only] = all;
  const made: Partial<Record<K, T | readonly T[]>> = {};
  if (all.length > 0 || !isShort) made[key] = isShort && all.length === 1 && only !== undefined ? only : all;
  return made;
}

function targetMessage(shape: ClusterShape, entry: Exclude<Entry, { kind: "job" }>): NodearrayMessage {
  const types = typesAt(shape, entry.array, entry.types);
  const common = { Name: arrayAt(entry.array), ...(types.length === 0 ? {} : { MachineType: types }) };
  if (entry.kind === "target") {
    return entry.unit === "nodes"
      ? { ...common, TargetCount: entry.count }
      : { ...common, TargetCoreCount: entry.count };
  }
  if (entry.kind === "names") {
    const names = namesAt(entry.names);
    const since = sinceOf(entry.resume);
    return {
      ...common,
      NodeNames: entry.names.length % 2 === 0 ? names : hostList(names),
      ...(since === undefined ? {} : { Since: since }),
      ...(entry.together || types.length > 1 ? { Together: entry.together } : {}),
    };
  }
  const { groups: TargetGroupCount, size } = entry;
  return entry.unit === "nodes"
    ? { ...common, TargetGroupCount, GroupInstanceCount: size }
    : { ...common, TargetGroupCount, GroupCoreCount: size };
}

/** Names as Slurm writes them: "n-[3,1],array0-2". */
function hostList(names: readonly string[]): string {
  const stem = (name: string): string => name.slice(0, -1);
  const lists = names.map((name, index) => {
    if (stem(name) === stem(names[index - 1] ?? " ")) return "";
    const after = names.slice(index);
    const other = after.findIndex((one) => stem(one) !== stem(name));
    const alike = other < 0 ? after : after.slice(0, other);
    return alike.length === 1 ? name : `${stem(name)}[${alike.map((one) => one.slice(-1)).join(",")}]`;
  });
  return lists.filter((list) => list !== "").join(",");
}

function jobMessage(
  shape: ClusterShape,
  entry: Extract<Entry, { kind: "job" }>,
  position: number,
): JobMessage {
  const [type = "Small"] = shape.arrays[entry.array]?.types ?? [];
  const asked = { ncpus: 1, "node.nodearray": arrayAt(entry.array), "node.vm_size": type };
  const style = entry.slots * 7 + position * 3 + entry.array;
  const isWritten = (option: number): boolean => Math.floor(style / 2 ** option) % 2 === 1;
  return {
    name: jobName(position),
    ...(entry.slots === 1 && isWritten(0) ? {} : { iterations: entry.slots }),
    constraints: isWritten(1) ? asked : Object.entries(asked).map(([key, value]) => ({ [key]: value })),
    ...(isWritten(2) ? { user: "ann", walltime: 3600 } : {}),
    ...(isWritten(3) ? { priority: 0, "packing-strategy": "pack", colocated: false } : {}),
    ...(isWritten(4) ? { placed: [], span: false, spot: "allow" } : {}),
    ...(isWritten(5) ? { "node-count": 0 } : {}),
  };
}
