/** The three clusters of the first tries, as CycleCloud's status shows them. */
export interface Cluster {
  readonly name: string;
  /** The body of `GET /clusters/C/status?nodes=true`. */
  readonly status: Fields;
  /** The configuration document that its operator wrote; the tries add preference and among. */
  readonly config: Fields;
  /** What another request set asks for all the time; absent: nothing. */
  readonly background?: Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

interface Size {
  readonly type: string;
  readonly cores: number;
  readonly memory: number;
  readonly gpus?: number;
  readonly infiniband?: boolean;
}

const F2: Size = { type: "Standard_F2s_v2", cores: 2, memory: 4 };
const F16: Size = { type: "Standard_F16", cores: 16, memory: 32 };
const E32: Size = { type: "Standard_E32", cores: 32, memory: 256 };
const HC44: Size = { type: "Standard_HC44rs", cores: 44, memory: 352, infiniband: true };
const NC6: Size = { type: "Standard_NC6", cores: 6, memory: 56, gpus: 1 };
const NC24: Size = { type: "Standard_NC24", cores: 24, memory: 224, gpus: 4 };
const D4: Size = { type: "Standard_D4s_v5", cores: 4, memory: 16 };
const D2: Size = { type: "Standard_D2s_v5", cores: 2, memory: 8 };
const D8: Size = { type: "Standard_D8s_v5", cores: 8, memory: 32 };

/** A bucket; `more` holds the counts that are not those of an unused bucket, and the quotas. */
function bucket(size: Size, most: number, more: Fields = {}): Fields {
  return {
    bucketId: `bucket of ${size.type}`,
    definition: { machineType: size.type },
    valid: true,
    maxCount: most,
    maxCoreCount: most * size.cores,
    activeCount: 0,
    activeCoreCount: 0,
    availableCount: most,
    availableCoreCount: most * size.cores,
    maxPlacementGroupSize: 0,
    placementGroups: [],
    lastCapacityFailure: -1,
    virtualMachine: {
      vcpuCount: size.cores,
      memory: size.memory,
      gpuCount: size.gpus ?? 0,
      infiniband: size.infiniband === true,
    },
    ...more,
  };
}

/** A family's and a region's quota, both as CycleCloud shows them. */
const quota = (family: readonly [number, number], region: readonly [number, number]): Fields => ({
  familyConsumedCoreCount: family[0],
  familyQuotaCoreCount: family[1],
  regionalConsumedCoreCount: region[0],
  regionalQuotaCoreCount: region[1],
});

function array(
  name: string,
  attributes: Fields,
  buckets: readonly Fields[],
  limits: Fields = { maxCount: 100, maxCoreCount: 10_000 },
): Fields {
  return { name, ...limits, nodearray: { Name: name, Region: "westus2", ...attributes }, buckets };
}

const status = (nodearrays: readonly Fields[], more: Fields = {}): Fields => ({
  state: "Started",
  targetState: "Started",
  maxCount: 1000,
  maxCoreCount: 100_000,
  nodearrays,
  nodes: [],
  ...more,
});

/** Tries set attributes that a sender may set only if its rule says so. */
const ANY_IMAGE: readonly Fields[] = [{ requestSets: "*", attributes: ["ImageName", "another attribute"] }];

/** One array with one size, nothing running. */
const ONE_SIZE: Cluster = {
  name: "one size",
  status: status([array("execute", {}, [bucket(D4, 10, { maxPlacementGroupSize: 100 })])]),
  config: { senders: ANY_IMAGE },
};

/** What the resources of the documentation's examples are in its array htc. */
const CUSTOM: Fields = {
  custom_string1: "custom_value",
  custom_string2: "custom_value2",
  custom_integer: 32,
  project: "open",
};

/** Like CycleCloud's default cluster: htc, hpc with placement groups, spot nodes in another region; quotas of families and regions; one size lacked capacity lately. */
const DEFAULT_LIKE: Cluster = {
  name: "htc, hpc and spot",
  status: status([
    array("htc", { Configuration: { autoscale: { resources: CUSTOM } } }, [
      bucket(F2, 50, { ...quota([4, 40], [60, 400]), lastCapacityFailure: 100 }),
      bucket(F16, 25, quota([0, 160], [60, 400])),
    ]),
    array("hpc", {}, [
      bucket(HC44, 8, { ...quota([0, 220], [60, 400]), maxPlacementGroupSize: 4 }),
      bucket(E32, 4, { ...quota([0, 128], [60, 400]), maxPlacementGroupSize: 20 }),
    ]),
    array("lowprio", { Interruptible: true, Region: "eastus" }, [
      bucket(NC6, 20, quota([0, 0], [0, 96])),
      bucket(NC24, 4, quota([0, 0], [0, 96])),
    ]),
  ]),
  config: {
    senders: ANY_IMAGE,
    prices: { currency: "USD", locations: { westus2: { Standard_F16: 0.8, Standard_HC44rs: 3.2 } } },
  },
};

const node = (name: string, size: Size, more: Fields = {}): Fields => ({
  NodeId: `id of ${name}`,
  Name: name,
  Template: "execute",
  MachineType: size.type,
  Status: "Ready",
  TargetState: "Started",
  CoreCount: size.cores,
  PrivateIp: "10.0.0.4",
  Hostname: `ip-${name}`,
  InstanceId: `vm of ${name}`,
  ...more,
});

/** Nothing is said of the cores of a size that the array no longer offers. */
const { CoreCount: _unknown, ...OLD_NODE } = node("old-1", D8);

/** A node that was shut down from inside: it is wanted, and has no VM any more. */
const GONE: Fields = { Status: "Off", PrivateIp: undefined };

const NO_ADDRESS: Fields = { Hostname: undefined, PrivateIp: undefined };
const OFF: Fields = { Status: "Deallocated", TargetState: "Deallocated", ...NO_ADDRESS };

/**
 * Nodes of every kind: partly used, idle, of a size that is offered no more, coming, failed after it was up, shut down from inside and
 * deallocated. The limits are nearly used up. The quota of the family, which both sizes share, stands only where the documentation has it.
 */
const IN_USE: Cluster = {
  name: "nodes in use",
  status: status(
    [
      array(
        "execute",
        { MachineType: [D4.type, D2.type] },
        [
          bucket(D4, 10, {
            activeCount: 5,
            activeCoreCount: 20,
            availableCount: 3,
            availableCoreCount: 12,
            quotaCount: 9,
            quotaCoreCount: 36,
            consumedCoreCount: 24,
            maxPlacementGroupSize: 20,
            placementGroups: [{ name: "rack", activeCount: 1, activeCoreCount: 4 }],
          }),
          bucket(D2, 6, { quotaCount: 18, quotaCoreCount: 36, consumedCoreCount: 24 }),
        ],
        { maxCount: 13, maxCoreCount: 60 },
      ),
    ],
    {
      maxCount: 14,
      maxCoreCount: 56,
      nodes: [
        node("execute-1", D4),
        node("execute-2", D4, { PlacementGroupId: "rack" }),
        OLD_NODE,
        node("execute-3", D4, { Status: "Preparation", ...NO_ADDRESS }),
        node("execute-4", D4, { Status: "Failed" }),
        node("execute-5", D4, GONE),
        node("execute-6", D4, OFF),
      ],
    },
  ),
  config: {
    senders: ANY_IMAGE,
    prices: { currency: "USD", locations: { westus2: { Standard_D4s_v5: 0.2, Standard_D2s_v5: 0.09 } } },
  },
  background: {
    jobs: [{ name: "running", constraints: { ncpus: 2 }, "executing-hostnames": ["ip-execute-1"] }],
  },
};

export const CLUSTERS: readonly Cluster[] = [ONE_SIZE, DEFAULT_LIKE, IN_USE];
