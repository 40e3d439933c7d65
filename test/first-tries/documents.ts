import { fileURLToPath } from "node:url";
import { DATA, readCaptured, readText } from "../support/data.ts";
import type { Cluster, Fields } from "./clusters.ts";
import { CLUSTERS } from "./clusters.ts";
import type { Try } from "./inputs.ts";
import { fieldsOf, listOf } from "./naive-limits.ts";

/** What a document shows: messages, configurations and clusters. */
export interface Documented {
  readonly tries: readonly (Try & { readonly config?: Fields })[];
  readonly clusters: readonly Cluster[];
  /** Configurations that must be read. */
  readonly configs: readonly Fields[];
}

const read = (path: string): Fields => fieldsOf(JSON.parse(readText(path)));
const OURS = fileURLToPath(new URL("../fixtures/first-tries/documented.json", import.meta.url));

const named = (one: Fields): string => String(one["name"]);

/** Each example of a constraint as a job of one slot, as it stands, and of several. */
const jobsOf = (examples: readonly Fields[]): readonly Try[] =>
  examples.flatMap((one) =>
    [1, 3].map((iterations) => ({
      name: `${named(one)}, ${iterations} slots`,
      message: { jobs: [{ name: "j", iterations, constraints: one["constraint"] }] },
    })),
  );

const DEFAULTS_ASKED: readonly Fields[] = [{ disk: "size::1g" }, { ncpus: 1 }, { group_id: null }];

const defaultsOf = (sets: readonly Fields[]): Documented["tries"] =>
  sets.flatMap((one) =>
    DEFAULTS_ASKED.map((constraints) => ({
      name: `default resources: ${named(one)}, ${JSON.stringify(constraints)}`,
      message: { jobs: [{ name: "j", iterations: 3, constraints }] },
      config: { default_resources: one["default_resources"] },
    })),
  );

/** CycleCloud would be asked for this; the same as a target. */
function createOf(set: Fields): Try {
  const { nodearray: Name, count, placementGroupId: group } = set;
  const machineType = fieldsOf(set["definition"])["machineType"];
  const sized = machineType === undefined ? {} : { MachineType: machineType };
  const target =
    group === undefined ? { TargetCount: count } : { TargetGroupCount: 1, GroupInstanceCount: count };
  return { name: `a create of ${String(count)}`, message: { nodearrays: [{ Name, ...target, ...sized }] } };
}

/** As an observation asks for it: with nodes. */
const clusterOf = (status: Fields): Cluster => ({
  name: "as documented",
  status: { ...status, nodes: [] },
  config: {},
});

/** The examples as we keep them. */
export function readOurs(): Documented {
  const from = read(OURS);
  return {
    tries: [
      ...jobsOf(listOf(from["constraints"])),
      ...listOf(from["nodearrays"]).map((one) => ({
        name: named(one),
        message: { nodearrays: one["nodearrays"] },
      })),
      ...defaultsOf(listOf(from["defaultResources"])),
      ...listOf(from["creates"]).map(createOf),
    ],
    clusters: [...CLUSTERS, clusterOf(fieldsOf(from["status"]))],
    configs: listOf(from["timeouts"]),
  };
}

/** The same as it was captured, on the clusters that were captured; every file that asks for something or shows a cluster. */
export function readDocumented(): Documented {
  const file = (name: string): Fields => fieldsOf(readCaptured(`docs/${name}`));
  const library = file("scalelib-examples.json");
  const payloads = file("jetpack-autoscale-payloads.json");
  const bucket = { ...file("bucket-schema-example-values.json"), activeCount: 0, activeNodes: [] };
  const creates = ["create-request-minimal.json", "create-request-placement-group.json"].map(file);
  const steps = listOf(read(`${DATA}autoscale-contract.json`)["cases"]).flatMap((one) =>
    listOf(one["steps"]).flatMap((step) =>
      step["update"] === undefined ? [] : [{ name: named(one), message: { nodearrays: step["update"] } }],
    ),
  );
  return {
    tries: [
      ...jobsOf(listOf(library["constraints"])),
      ...defaultsOf(listOf(library["defaultResources"])),
      ...Object.entries(payloads).map(([name, nodearrays]) => ({ name, message: { nodearrays } })),
      ...steps,
      ...creates.flatMap((request) => listOf(request["sets"])).map(createOf),
    ],
    clusters: [
      clusterOf(file("status-two-buckets.json")),
      {
        ...clusterOf({
          state: "Started",
          targetState: "Started",
          nodearrays: [{ name: "execute", buckets: [bucket] }],
        }),
        name: "one documented bucket",
      },
    ],
    configs: listOf(library["timeouts"]),
  };
}
