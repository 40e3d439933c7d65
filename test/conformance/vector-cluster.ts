import { readStatus } from "../../src/adapters/cyclecloud/read-status.ts";
import { compileDefaults, withNodeId } from "../../src/decide/constraints/default-resources.ts";
import type { HostAmounts } from "../../src/decide/world/host-view.ts";
import { viewHost } from "../../src/decide/world/host-view.ts";
import { overlayReport } from "./overlay-report.ts";
import type { NodeView } from "../../src/domain/node-view.ts";
import type { ResourceRules } from "../../src/decide/world/cluster-buckets.ts";
import { ClusterBuckets } from "../../src/decide/world/cluster-buckets.ts";
import type { Node, Snapshot } from "../../src/domain/cluster.ts";
import type { DefaultResource } from "../../src/domain/default-resource.ts";
import { LIBRARY_DEFAULTS } from "../support/library-defaults.ts";
import { clusterName, sameMachineType } from "../../src/domain/ids.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { Resources, ResourceValue } from "../../src/domain/resources.ts";
import { looksLikeSize, parseSize } from "../../src/domain/size.ts";
import { instant } from "../../src/domain/units.ts";
import { readDefaultResources } from "../../src/wire/constraint/default-resources.ts";
import { newNotes, Problems } from "../../src/wire/json/problems.ts";
import { readSizeTable } from "../../src/wire/policy/vm-sizes.ts";
import type { Json } from "./compare.ts";
import { isList, isObject, textOf } from "./compare.ts";
import type { Surroundings } from "./vector-case.ts";

/** The buckets and nodes of a vector's cluster as constraints see them, in the order of the status. */
export interface VectorCluster {
  readonly buckets: ReadonlyMap<string, NodeView>;
  readonly nodes: ReadonlyMap<string, NodeView>;
}

/** What a vector's configuration says of resources; `problem`: it was refused. */
export type RulesRead =
  | { readonly kind: "rules"; readonly rules: ResourceRules }
  | { readonly kind: "refused"; readonly problem: string };

type World = Readonly<Record<string, Json>>;

export function readRules(world: World, { vmSizes }: Surroundings): RulesRead {
  const config = isObject(world["config"]) ? world["config"] : {};
  const notes = newNotes();
  const configured = readDefaultResources(config["default_resources"] ?? [], "default_resources", notes);
  const sizes = sizesOf(vmSizes);
  const [problem] = notes.problems.all();
  if (problem !== undefined) return { kind: "refused", problem: `${problem.path}: ${problem.expected}` };
  const own: readonly DefaultResource[] =
    config["disable_default_resources"] === true ? [] : LIBRARY_DEFAULTS;
  return { kind: "rules", rules: { configured, own, catalogue: { sizes } } };
}

/** One catalogue serves all vectors of a file; to read it takes as long as to judge one of them. */
const catalogues = new WeakMap<object, ReturnType<typeof readSizeTable>>();

function sizesOf(vmSizes: Json): ReturnType<typeof readSizeTable> {
  const known = isObject(vmSizes) ? catalogues.get(vmSizes) : undefined;
  const sizes = known ?? readSizeTable(vmSizes, "vm_sizes", new Problems());
  if (isObject(vmSizes)) catalogues.set(vmSizes, sizes);
  return sizes;
}

/** Reads the status as the product does, and hosts that only the scheduler knows. */
export function readCluster(world: World, rules: ResourceRules): VectorCluster {
  const snapshot = readSnapshot(world);
  const places = new ClusterBuckets(snapshot.arrays, rules);
  const buckets = new Map<string, NodeView>();
  for (const array of snapshot.arrays) {
    for (const { machineType, placementGroups } of array.buckets) {
      for (const group of [...placementGroups.map(({ name }) => name), undefined]) {
        const place = places.at(array.name, machineType, group);
        buckets.set(bucketText(place.bucket), place.view);
      }
    }
  }
  const reports = new Map(readReports(world["scheduler_nodes"]).map((report) => [report.hostname, report]));
  const nodes = new Map<string, NodeView>();
  for (const node of snapshot.nodes) {
    const seen = places.view(node, places.at(node.array, node.machineType, node.placementGroup));
    const view = { ...seen, available: withNodeId(seen.available, node.nodeId) };
    const hostname = node.hostname?.split(".")[0] ?? "";
    const report = takesReport(snapshot, node) ? reports.get(hostname) : undefined;
    if (report !== undefined) reports.delete(hostname);
    nodes.set(node.name, report === undefined ? view : viewReported(view, report));
  }
  const defaults = compileDefaults(rules.configured, rules.own);
  for (const report of reports.values())
    nodes.set(report.hostname, viewReported(viewHost(report.hostname, defaults, 1), report));
  return { buckets, nodes };
}

/** A host of a case: what the scheduler says of its resources and jobs. */
export interface HostReport extends HostAmounts {
  readonly hostname: string;
  readonly jobs: readonly string[];
}

/** A node with its report above it, as constraints are to see it. */
export function viewReported(view: NodeView, report: HostReport): NodeView {
  const { resources, left } = overlayReport(view.available, report);
  return { ...view, available: { ...resources, ...left }, jobs: new Set([...view.jobs, ...report.jobs]) };
}

/** The library knows nodes of valid buckets of arrays that are its own, if they are up, coming, failed or deallocated. */
export function isKnown(snapshot: Snapshot, node: Node): boolean {
  const array = snapshot.arrays.find(({ name }) => name === node.array);
  const bucket = array?.buckets.find(({ machineType }) => sameMachineType(machineType, node.machineType));
  if (array?.autoscaled !== true || bucket?.valid !== true) return false;
  return ["ready", "coming", "failed", "deallocated"].includes(node.phase);
}

/** A report of any other host stands for itself: the library does not look for it among failed nodes. */
export function takesReport(snapshot: Snapshot, node: Node): boolean {
  return isKnown(snapshot, node) && node.phase !== "failed";
}

export function readSnapshot(world: World): Snapshot {
  const status = isObject(world["clusterStatus"]) ? world["clusterStatus"] : {};
  const reading = readStatus({ ...status, nodes: world["nodes"] ?? [] }, clusterName("vector"), instant(0));
  if (reading.kind === "malformed") throw new Error(`${reading.path}: ${reading.expected}`);
  return reading.snapshot;
}

export function readReports(value: Json | undefined): readonly HostReport[] {
  if (!isList(value)) return [];
  // With override_resources false our own figures count, and nothing of the report does.
  const counting = value.filter(isObject).filter(({ metadata }) => {
    return !isObject(metadata) || metadata["override_resources"] !== false;
  });
  return counting.map((host) => ({
    hostname: textOf(host["hostname"]),
    resources: readResources(host["resources"]),
    available: readResources(host["available"]),
    jobs: isList(host["jobs"]) ? host["jobs"].map(textOf) : [],
  }));
}

function readResources(value: Json | undefined): Resources {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, readResource(one)]));
}

function readResource(value: Json): ResourceValue {
  if (isList(value) || isObject(value)) throw new Error("a resource is a single value");
  const size = typeof value === "string" && looksLikeSize(value) ? parseSize(value) : "empty";
  return typeof size === "string" ? value : size;
}
