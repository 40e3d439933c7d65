import type { DemandMessage, JobMessage, NodearrayMessage } from "../../src/wire/message.ts";
import type { ClusterShape } from "./shape.ts";
import type { Entry, PartName } from "./steps.ts";
import { arrayAt, jobName, typesAt } from "./wants.ts";

const PARTS: Readonly<Record<PartName, Pick<DemandMessage, "schedulerNodes" | "pools">>> = {
  report: { schedulerNodes: [] },
  pools: { pools: [{ name: "licence", total: 1, used: 0 }] },
};

/** What a message without demand has. */
export function partsOf(parts: readonly PartName[]): Pick<DemandMessage, "schedulerNodes" | "pools"> {
  return Object.assign({}, ...parts.map((part) => PARTS[part]));
}

/** What the entries of a message are on the wire. */
export function contentOf(
  shape: ClusterShape,
  entries: readonly Entry[],
): Pick<DemandMessage, "nodearrays" | "jobs"> {
  const targets = entries.flatMap((entry) => (entry.kind === "job" ? [] : [targetMessage(shape, entry)]));
  const jobs = entries.flatMap((entry) => (entry.kind === "job" ? [entry] : []));
  return {
    nodearrays: targets,
    jobs: jobs.map((entry, index) => jobMessage(shape, entry, targets.length + index)),
  };
}

function targetMessage(shape: ClusterShape, entry: Exclude<Entry, { kind: "job" }>): NodearrayMessage {
  const types = typesAt(shape, entry.array, entry.types);
  const common = { Name: arrayAt(entry.array), ...(types.length === 0 ? {} : { MachineType: types }) };
  if (entry.kind === "target") {
    return entry.unit === "nodes"
      ? { ...common, TargetCount: entry.count }
      : { ...common, TargetCoreCount: entry.count };
  }
  const { groups: TargetGroupCount, size } = entry;
  return entry.unit === "nodes"
    ? { ...common, TargetGroupCount, GroupInstanceCount: size }
    : { ...common, TargetGroupCount, GroupCoreCount: size };
}

function jobMessage(
  shape: ClusterShape,
  entry: Extract<Entry, { kind: "job" }>,
  position: number,
): JobMessage {
  const [type = "Small"] = shape.arrays[entry.array]?.types ?? [];
  return {
    name: jobName(position),
    iterations: entry.slots,
    constraints: [{ ncpus: 1, "node.nodearray": arrayAt(entry.array), "node.vm_size": type }],
  };
}
