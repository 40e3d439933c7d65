import type { Node, Snapshot } from "../domain/cluster.ts";
import type { ClusterName } from "../domain/ids.ts";
import { observingText } from "../domain/mode.ts";
import type { Policy } from "../domain/policy.ts";
import type { BucketShown } from "../wire/api/cluster-buckets.ts";
import { describeBuckets } from "./describe/describe-buckets.ts";
import type { Clock, Site } from "./ports/ports.ts";
import type { PortErrorKind } from "./ports/port-error.ts";
import { PortError } from "./ports/port-error.ts";
import { someOf } from "../domain/text.ts";
import { managedArrays } from "../domain/exclusive.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

/** The findings of a first check of one cluster at a real CycleCloud. */
export type ClusterCheck =
  | {
      readonly kind: "read";
      readonly cluster: ClusterName;
      readonly state: string;
      readonly targetState: string;
      readonly nodes: Readonly<Record<string, number>>;
      readonly nodearrays: readonly CheckedArray[];
      /** For the arrays that are ours, with all limits. */
      readonly buckets: readonly BucketShown[];
      /** Reasons why the autoscaler would not do what its configuration says. Empty: none. */
      readonly notes: readonly string[];
    }
  | {
      readonly kind: PortErrorKind | "not-found" | "no-words" | "not-tried";
      readonly cluster: ClusterName;
      readonly message: string;
    };

interface CheckedArray {
  readonly nodearray: string;
  /** Whether the autoscaler would create and stop nodes there. If not, `why` has the reason. */
  readonly managed: boolean;
  readonly why?: string;
  readonly spot: boolean;
  readonly priority: number;
  readonly region?: string;
}

/**
 * Reads every cluster once and shows how the policy would treat it. Asks for one status each and writes nothing. One cluster after the
 * other, and after a refusal no further call uses the same credentials: five failures lock the account.
 */
export async function checkClusters(
  sites: readonly Site[],
  policy: Policy,
  clock: Clock,
): Promise<readonly ClusterCheck[]> {
  const refused = new Set<string>();
  const checks: ClusterCheck[] = [];
  for (const site of sites) {
    const { cluster, credential } = site;
    if (refused.has(credential)) {
      checks.push({ kind: "not-tried", cluster, message: "the same credentials were just refused" });
      continue;
    }
    const check = await checkCluster(site, policy, clock);
    if (check.kind === "denied") refused.add(credential);
    checks.push(check);
  }
  return checks;
}

async function checkCluster(
  { cluster, cyclecloud }: Site,
  policy: Policy,
  clock: Clock,
): Promise<ClusterCheck> {
  const now = clock.now();
  try {
    const status = await cyclecloud.status(cluster, now);
    if (status.kind === "not-found") {
      // Other servers answer 404 with JSON, too; CycleCloud's words name the cluster.
      const isSaid = status.fromCycleCloud && status.message.includes(cluster);
      return { kind: isSaid ? "not-found" : "no-words", cluster, message: status.message };
    }
    const { snapshot } = status;
    const buckets = describeBuckets(NOTHING_UNDER_WAY, { seen: snapshot, ledger: new Map() }, policy, now);
    return {
      kind: "read",
      cluster,
      state: snapshot.state ?? "never started",
      targetState: snapshot.targetState ?? "none",
      nodes: countPhases(snapshot.nodes),
      nodearrays: judgeArrays(snapshot, policy),
      buckets,
      notes: notesOn(snapshot, buckets, policy),
    };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { kind: error.kind, cluster, message: error.message };
  }
}

/** No plan has been made for this cluster yet. */
const NOTHING_UNDER_WAY = { intents: [], inFlight: [], backoffs: [] };

function countPhases(nodes: readonly Node[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { phase } of nodes) counts[phase] = (counts[phase] ?? 0) + 1;
  return counts;
}

function judgeArrays(snapshot: Snapshot, policy: Policy): readonly CheckedArray[] {
  const managed = managedArrays(snapshot, policy);
  return snapshot.arrays.map(({ name, autoscaled, spot, priority, region }) => ({
    nodearray: name,
    managed: managed.has(name),
    ...(managed.has(name) ? {} : { why: autoscaled ? NOT_NAMED : SWITCHED_OFF }),
    spot,
    priority,
    ...withoutAbsent({ region }),
  }));
}

const NOT_NAMED = "not named in the configuration's nodearrays";
const SWITCHED_OFF = "Configuration.autoscale.enabled is false in its template";

function notesOn(snapshot: Snapshot, buckets: readonly BucketShown[], policy: Policy): readonly string[] {
  const { state = "never started", targetState = "none" } = snapshot;
  const notes: string[] = [];
  const observing = observingText(policy);
  if (observing !== undefined) notes.push(observing);
  if (state !== "Started" || targetState !== "Started")
    notes.push(`the cluster is ${state} (target ${targetState}): nothing would be created or stopped`);
  if (managedArrays(snapshot, policy).size === 0) notes.push("no node array would be autoscaled");
  return [
    ...notes,
    ...unknownNames(snapshot, policy),
    ...missingPrices(buckets, policy),
    ...usedWithoutNodes(snapshot, buckets),
    ...contradicting(snapshot),
  ];
}

/** Counts of a bucket that cannot both be right. */
function contradicting({ arrays }: Snapshot): readonly string[] {
  return arrays.flatMap(({ name, buckets }) =>
    buckets.flatMap(({ machineType, machine, contradictions = [] }) =>
      contradictions.map(
        (what) =>
          `doubtful: ${name}/${machineType} has ${machine.vcpus} vCPUs, and CycleCloud says ${what}, which differ; the nodes count`,
      ),
    ),
  );
}

/** What limits count although the cluster has no node of an array: the machine of the scheduler counts, too. */
function usedWithoutNodes({ nodes }: Snapshot, buckets: readonly BucketShown[]): readonly string[] {
  if (nodes.length > 0) return [];
  const used = new Map(
    buckets.flatMap(({ limits }) =>
      limits.map((one) => [`${one.used} ${one.unit} of ${one.limit}`, one.used]),
    ),
  );
  return [...used].flatMap(([text, count]) =>
    count > 0
      ? [`${text} are in use without any node here: the head node, or others who share the limit`]
      : [],
  );
}

function unknownNames(snapshot: Snapshot, policy: Policy): readonly string[] {
  const known = new Set<string>(snapshot.arrays.map(({ name }) => name));
  return (policy.nodearrays ?? [])
    .filter((name) => !known.has(name))
    .map((name) => `the configuration names node array ${name}, which the cluster does not have`);
}

/** If price decides, sizes without a price come last. */
function missingPrices(buckets: readonly BucketShown[], policy: Policy): readonly string[] {
  if (policy.among !== "cheapest") return [];
  const missing = buckets.filter(
    ({ price, placementGroup }) => price === undefined && placementGroup === undefined,
  );
  if (missing.length === 0) return [];
  const names = missing.map(({ nodearray, machineType }) => `${nodearray}/${machineType}`);
  return [`among is cheapest, and there is no price for ${someOf(names, MOST_NAMES)}: those come last`];
}

const MOST_NAMES = 5;
