import { standingsOf } from "../../src/decide/nodes/standing.ts";
import { compileDefaults, withNodeId } from "../../src/decide/constraints/default-resources.ts";
import { generateGroups } from "../../src/decide/bucket-order/bucket-list.ts";
import { viewHost } from "../../src/decide/world/host-view.ts";
import { overlayReport } from "./overlay-report.ts";
import type { ResourceRules } from "../../src/decide/world/cluster-buckets.ts";
import { ClusterBuckets } from "../../src/decide/world/cluster-buckets.ts";
import { buildWorld } from "../../src/decide/world/build-world.ts";
import type { BucketOffer, SupplyNode, World } from "../../src/domain/world.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { Node, Snapshot } from "../../src/domain/cluster.ts";
import type { JobDemand, Pool } from "../../src/domain/demand.ts";
import type { ArrayName, PlacementGroup } from "../../src/domain/ids.ts";
import { arrayName, machineType, nodeId, placementGroup, setName } from "../../src/domain/ids.ts";
import type { NodeView } from "../../src/domain/node-view.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { Resources } from "../../src/domain/resources.ts";
import { instant } from "../../src/domain/units.ts";
import type { Json } from "./compare.ts";
import { isList, isObject, textOf } from "./compare.ts";
import type { HostReport } from "./vector-cluster.ts";
import { isKnown, readReports, readSnapshot, takesReport, viewReported } from "./vector-cluster.ts";

/** A node of a case as the answer shows it. */
export interface CaseNode {
  readonly id: string;
  readonly name: string;
  /** As the vectors write it. */
  readonly bucket: string;
  readonly array: string;
  readonly phase: Node["phase"];
  readonly keepAlive: boolean;
  readonly view: NodeView;
  /** What it has in all; what is left of that at the beginning is what `view` has. */
  readonly totals: Resources;
}

export interface CaseWorld {
  readonly world: World;
  /** Nodes that the library knows: those in a bucket that is there, whatever they do, and hosts that only the scheduler knows. */
  readonly nodes: readonly CaseNode[];
  /** Jobs that run on hosts already. */
  readonly running: readonly JobDemand[];
  /** Names that new nodes must not have. */
  readonly names: readonly string[];
}

/** The request set of all jobs of a case. */
export const SET = setName("vector");

const NOTHING_REPORTED = { resources: {}, available: {} };

type Input = Readonly<Record<string, Json>>;

/** The world of a case: what the product makes of the status, and the figures of the scheduler above it. */
export function readCaseWorld(input: Input, rules: ResourceRules): CaseWorld {
  const snapshot = readSnapshot(input);
  const places = new ClusterBuckets(snapshot.arrays, rules);
  const base = buildWorld({
    snapshot,
    ledger: new Map(),
    inFlight: [],
    pendingCreates: [],
    backoffs: [],
    policy: DEFAULT_POLICY,
    pools: readPools(input["shared_resources"]),
    standings: standingsOf({ snapshot, ledger: new Map(), open: new Set() }, DEFAULT_POLICY, instant(0)),
    excluded: new Set(),
    order: () => 0,
    now: instant(0),
  });
  const told = readReports(input["scheduler_nodes"]);
  const reports = new Map(told.map((report) => [report.hostname, report]));
  const nodes = snapshot.nodes
    .filter((node) => isKnown(snapshot, node))
    .map((node) => readNode(node, places, takesReport(snapshot, node) ? reports : new Map()));
  const hosts = [...reports.values()].map((report, at) => readHost(report, at, rules));
  const running = told.flatMap((report) =>
    report.jobs.map((name) => ({ name, hostname: hostOf(report, snapshot) })),
  );
  const world: World = {
    ...base,
    nodes: [
      ...nodes.flatMap(({ supply }) => (supply === undefined ? [] : [supply])),
      ...hosts.map(({ supply }) => supply),
    ],
    buckets: [
      ...withGroups(
        base.buckets
          .filter(({ refusal }) => refusal?.code !== "bucket-invalid")
          .map((offer) => ofRules(offer, places)),
        input,
      ),
      ...hosts.map(({ offer }) => offer),
    ],
  };
  return {
    world,
    nodes: [...nodes, ...hosts].map(({ shown }) => shown),
    running: running.map(runningJob),
    names: snapshot.nodes.map(({ name }) => name),
  };
}

function hostOf(report: HostReport, snapshot: Snapshot): string {
  const node = snapshot.nodes.find(({ hostname }) => hostname?.split(".")[0] === report.hostname);
  return node?.hostname ?? report.hostname;
}

function readNode(
  node: Node,
  places: ClusterBuckets,
  reports: Map<string, HostReport>,
): { readonly shown: CaseNode; readonly supply: SupplyNode | undefined } {
  const place = places.at(node.array, node.machineType, node.placementGroup);
  const seen = places.view(node, place);
  const plain = { ...seen, available: withNodeId(seen.available, node.nodeId) };
  const hostname = node.hostname?.split(".")[0] ?? "";
  const report = reports.get(hostname);
  if (report !== undefined) reports.delete(hostname);
  const overlaid = overlayReport(plain.available, report ?? NOTHING_REPORTED);
  const view = report === undefined ? plain : viewReported(plain, report);
  const totals = { ...plain.available, ...report?.resources };
  const shown: CaseNode = {
    id: node.nodeId,
    name: node.name,
    bucket: bucketText(place.bucket),
    array: node.array,
    phase: node.phase,
    keepAlive: node.keepAlive,
    view,
    totals,
  };
  if (node.phase === "failed") return { shown, supply: undefined };
  const supply: SupplyNode = {
    nodeId: node.nodeId,
    ...(node.hostname === undefined ? {} : { hostname: node.hostname }),
    bucket: place.bucket,
    purpose: { kind: "array" },
    ...overlaid,
    properties: () => view.properties,
    cores: place.cores,
    order: 0,
    ready: node.phase === "ready",
    ...(node.phase === "deallocated" ? { deallocated: true } : {}),
  };
  return { shown, supply };
}

/** A host that only the scheduler knows is a bucket of its own, which its totals make a candidate or not. */
function readHost(
  report: HostReport,
  at: number,
  rules: ResourceRules,
): { readonly shown: CaseNode; readonly supply: SupplyNode; readonly offer: BucketOffer } {
  const defaults = compileDefaults(rules.configured, rules.own);
  const plain = viewHost(report.hostname, defaults, 1);
  const overlaid = overlayReport(plain.available, report);
  const view = viewReported(plain, report);
  const total = viewReported(plain, { ...report, available: {}, jobs: [] });
  const bucket = { array: arrayName(`__unmanaged__#${at}`), machineType: machineType("unknown") };
  const supply: SupplyNode = {
    nodeId: nodeId(`host ${report.hostname}`),
    hostname: report.hostname,
    bucket,
    purpose: { kind: "array" },
    ...overlaid,
    onlyFor: [SET],
    properties: () => view.properties,
    cores: 1,
    order: 0,
    ready: true,
  };
  const offer: BucketOffer = {
    bucket,
    resources: total.available,
    properties: () => total.properties,
    cores: 1,
    charges: [],
    groupSizes: new Map(),
    onlyFor: [SET],
  };
  const shown: CaseNode = {
    id: supply.nodeId,
    name: report.hostname,
    bucket: "unknown/unknown",
    array: "unknown",
    phase: "ready",
    keepAlive: false,
    view,
    totals: total.available,
  };
  return { shown, supply, offer };
}

/** The catalogue of the vectors stands in the place of ours. */
function ofRules(offer: BucketOffer, places: ClusterBuckets): BucketOffer {
  const viewIn = (group: PlacementGroup | undefined): NodeView =>
    places.at(offer.bucket.array, offer.bucket.machineType, group).view;
  return {
    ...offer,
    resources: viewIn(undefined).available,
    properties: () => viewIn(undefined).properties,
    inGroup: (group) => ({
      resources: viewIn(group).available,
      properties: () => viewIn(group).properties,
    }),
  };
}

function withGroups(offers: readonly BucketOffer[], input: Input): readonly BucketOffer[] {
  const config = isObject(input["config"]) ? input["config"] : {};
  const arrays = isObject(config["nodearrays"]) ? config["nodearrays"] : {};
  const of = (array: string): Input => (isObject(arrays[array]) ? arrays[array] : {});
  const named = (array: string): readonly string[] => {
    const groups = of(array)["placement_groups"];
    return isList(groups) ? groups.map(textOf) : [];
  };
  const configured = offers.map((offer): BucketOffer => {
    const groups = [...named("default"), ...named(offer.bucket.array)].map(placementGroup);
    return groups.length === 0 ? offer : { ...offer, configuredGroups: groups };
  });
  const supply = (array: ArrayName): { buffer: number; most: number } => ({
    buffer: numberOf(of(array)["generated_placement_group_buffer"]) ?? 2,
    most: numberOf(of(array)["max_placement_groups"]) ?? 10_000,
  });
  const isNamed = Object.keys(arrays).some((array) => named(array).length > 0);
  const generated =
    input["default_placement_groups"] === true && !isNamed ? generateGroups(configured, supply) : new Map();
  return configured.map((offer) => ({ ...offer, generatedGroups: generated.get(offer) ?? [] }));
}

const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" ? value : undefined;

function readPools(value: Json | undefined): readonly Pool[] {
  const pools = isList(value) ? value.filter(isObject) : [];
  return pools.map((pool): Pool => {
    const name = textOf(pool["id"]);
    const current = pool["current_value"] ?? null;
    if (pool["kind"] !== "value")
      return {
        name,
        total: numberOf(pool["initial_value"]) ?? 0,
        used: (numberOf(pool["initial_value"]) ?? 0) - (numberOf(current) ?? 0),
      };
    if (isList(current) || isObject(current)) throw new Error("a shared value is a single value");
    return { name, total: 0, used: 0, value: current };
  });
}

/** A job of which no more is known than that it runs there. */
function runningJob(
  { name, hostname }: { readonly name: string; readonly hostname: string },
  at: number,
): JobDemand {
  return {
    kind: "job",
    id: `running:${at}`,
    name,
    priority: 1,
    position: at,
    constraints: [],
    iterations: 1,
    colocated: false,
    placed: [{ hostname, iterations: 1 }],
  };
}
