import type { Constraint } from "../../domain/constraint.ts";
import type { NodeId, SetName } from "../../domain/ids.ts";
import type { NodeProperties, NodeView, SharedState } from "../../domain/node-view.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Resources } from "../../domain/resources.ts";
import { isSize, bytesOf } from "../../domain/size.ts";
import type { Budget } from "../constraints/budget.ts";
import { sizeOfConstraints, dependsOnJobs, dependsOnNode } from "../constraints/constraint-facts.ts";
import { compileAll } from "../constraints/match.ts";
import { withNodeId } from "../constraints/default-resources.ts";
import type { Judgement } from "../constraints/judge.ts";
import type { Seconds } from "../../domain/units.ts";

/** What constraints are tested on: an existing node, nodes in flight, or a new node of a bucket. */
export interface Subject {
  readonly bucket: BucketKey;
  readonly resources: Resources;
  readonly properties?: () => NodeProperties;
  readonly nodeId?: NodeId;
  readonly capacityFailureSeconds?: Seconds;
  /** The node may be evicted. Only used without `properties`. */
  readonly spot?: true;
  /** A host that only a scheduler reports, for the jobs of these request sets. */
  readonly onlyFor?: readonly SetName[];
}

/** What a slot takes of an empty node of one kind, by position of the resource, sizes in bytes. */
export interface Needs {
  readonly resource: readonly number[];
  readonly amount: readonly number[];
  /** The slot needs a node without slots of other jobs. */
  readonly alone: boolean;
  readonly slotsPerNode: number;
  /** Present: the node does not meet the constraints, even without jobs. */
  readonly refusal?: Refusal;
}

const NO_JOBS: ReadonlySet<string> = new Set<string>();

/** What a test needs from its plan. */
interface Surroundings {
  readonly budget: Budget;
  /** The empty node as constraints see it. */
  readonly viewOf: (subject: Subject) => NodeView;
}

/** Tests the constraints of a job on empty nodes: what a slot takes there, or why it does not fit. */
export class Fit {
  readonly #judge: ReturnType<typeof compileAll>;
  readonly #positions: ReadonlyMap<string, number>;
  readonly #shared: SharedState;
  /** The constraints may give different answers for two nodes of one kind. */
  readonly judgesEachNode: boolean;
  /** The answer depends on the jobs that are on the node. */
  readonly looksAtJobs: boolean;
  readonly #ground: Pick<Surroundings, "viewOf">;
  readonly #budget: Budget;
  /** Cost of one test, in steps. */
  readonly #steps: number;

  constructor(
    constraints: readonly Constraint[],
    positions: ReadonlyMap<string, number>,
    shared: SharedState,
    ground: Surroundings,
  ) {
    this.#ground = ground;
    this.#budget = ground.budget;
    // Twice: each member is tested, and what it takes is added up.
    this.#steps = 2 * sizeOfConstraints(constraints);
    this.#judge = compileAll(constraints);
    this.#positions = positions;
    this.#shared = shared;
    this.judgesEachNode = constraints.some(dependsOnNode);
    this.looksAtJobs = constraints.some(dependsOnJobs);
  }

  /** What a slot takes of an empty node. */
  on(subject: Subject): Needs {
    const judgement = this.judge(this.#ground.viewOf(subject), this.#shared);
    if (judgement.kind === "refused")
      return { resource: [], amount: [], alone: false, slotsPerNode: 0, refusal: judgement.refusal };
    const takes = [...judgement.takes].filter(([, take]) => !isNothing(take));
    return {
      resource: takes.map(([name]) => this.#positions.get(name) ?? 0),
      amount: takes.map(([, take]) => (isSize(take) ? bytesOf(take) : take)),
      alone: judgement.closes !== undefined,
      slotsPerNode: judgement.closes === "job" ? 1 : Number.POSITIVE_INFINITY,
    };
  }

  /** Tests a node as it is now. */
  judge(node: NodeView, shared: SharedState): Judgement {
    this.#budget.spend(this.#steps);
    return this.#judge(node, shared);
  }
}

const isNothing = (take: Needs["amount"][number] | { readonly amount: number }): boolean =>
  (typeof take === "number" ? take : take.amount) <= 0;

/** The empty node as constraints see it. */
export function viewOf(subject: Subject): NodeView {
  const { capacityFailureSeconds, nodeId = null } = subject;
  const view: NodeView = {
    properties: subject.properties?.() ?? { ...propertiesOf(subject.bucket), spot: subject.spot ?? null },
    available: withNodeId(subject.resources, nodeId),
    nodeId,
    configuration: {},
    jobs: NO_JOBS,
  };
  return capacityFailureSeconds === undefined ? view : { ...view, capacityFailureSeconds };
}

/** The properties that follow from the name of a bucket. All others are null. */
export function propertiesOf(bucket: BucketKey): NodeProperties {
  const group = bucket.placementGroup ?? null;
  return {
    name: null,
    nodearray: bucket.array,
    bucket_id: null,
    vm_size: bucket.machineType,
    vm_family: null,
    hostname: null,
    fqdn: null,
    hostname_or_uuid: null,
    private_ip: null,
    instance_id: null,
    location: null,
    spot: null,
    vcpu_count: null,
    pcpu_count: null,
    gpu_count: null,
    memory: null,
    infiniband: null,
    state: null,
    exists: null,
    colocated: group !== null,
    placement_group: group,
    keep_alive: null,
    create_time_unix: null,
    last_match_time_unix: null,
    delete_time_unix: null,
    create_time: null,
    last_match_time: null,
    delete_time: null,
    create_time_remaining: null,
    cores_per_socket: null,
    version: null,
  };
}
