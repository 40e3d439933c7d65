import { NO_TEMPLATES } from "../support/no-templates.ts";
import { expect } from "vitest";
import type { CycleCloud, StatusOutcome } from "../../src/app/ports/cyclecloud.ts";
import type { Node, Snapshot } from "../../src/domain/cluster.ts";
import { requestId } from "../../src/domain/ids.ts";
import type { ClusterName, NodeId } from "../../src/domain/ids.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { Instant } from "../../src/domain/units.ts";

/** A CycleCloud to put to the test, with nothing but its head node in the cluster, and hands on its clock and its nodes. */
export interface CycleCloudHarness {
  readonly cyclecloud: CycleCloud;
  readonly cluster: ClusterName;
  /** Room for at least 10 nodes, in placement groups too. */
  readonly roomy: BucketKey;
  /** Room for exactly 3 nodes. */
  readonly tight: BucketKey;
  readonly spot: BucketKey;
  now(): Instant;
  advance(seconds: number): void;
  /** After this many seconds everything that was accepted can be seen and looked up. */
  readonly secondsToShow: number;
  readonly secondsToBoot: number;
  /** Until nothing is listed any more of a node that was terminated. */
  readonly secondsToVanish: number;
  /** Switches nodes off by other means than the port, so that they keep their disks; it takes as long as to vanish. */
  readonly deallocate: (nodes: readonly NodeId[]) => void;
  /** From now on CycleCloud answers the node's start with an error. */
  readonly refuseStart: (node: NodeId) => void;
  readonly keepAlive: (node: NodeId) => void;
  /** Whether its 404 can be told from one of a proxy in front of it. */
  readonly signsItsErrors: boolean;
  close(): Promise<void>;
}

/** What the suite does to a CycleCloud; requests are told apart by the last digit of their ids. */
export function actionsOn(harness: () => CycleCloudHarness) {
  const id = (last: number) => requestId(`5a000000-0000-4000-8000-00000000000${last}`);
  const create = (last: number, count: number, bucket = harness().roomy) =>
    harness().cyclecloud.create(harness().cluster, {
      templates: NO_TEMPLATES,
      requestId: id(last),
      sets: [{ bucket, count }],
    });
  const nodesOf = async (last: number): Promise<readonly NodeId[]> => {
    const nodes = await harness().cyclecloud.nodesOfRequest(harness().cluster, id(last));
    return (nodes ?? []).map((node) => node.nodeId);
  };
  const knows = (last: number) => harness().cyclecloud.knowsRequest(harness().cluster, id(last));
  const terminate = (last: number, nodes: readonly NodeId[]) =>
    harness().cyclecloud.terminate(harness().cluster, id(last), nodes);
  const start = (last: number, nodes: readonly NodeId[]) =>
    harness().cyclecloud.start(harness().cluster, id(last), nodes);
  const observation = async (): Promise<Snapshot> =>
    snapshotOf(await harness().cyclecloud.status(harness().cluster, harness().now()));
  const workers = async (): Promise<readonly Node[]> => {
    const arrays = new Set([harness().roomy.array, harness().tight.array, harness().spot.array]);
    return (await observation()).nodes.filter((node) => arrays.has(node.array));
  };
  /** Creates nodes and waits until they can be seen. */
  const createShown = async (
    last: number,
    count: number,
    bucket = harness().roomy,
  ): Promise<readonly NodeId[]> => {
    expect(await create(last, count, bucket)).toEqual({ kind: "accepted", sets: [{ added: count }] });
    harness().advance(harness().secondsToShow);
    return nodesOf(last);
  };
  return { id, create, nodesOf, knows, terminate, start, observation, workers, createShown };
}

function snapshotOf(outcome: StatusOutcome): Snapshot {
  if (outcome.kind !== "snapshot") throw new Error(`the cluster was not found: ${outcome.message}`);
  return outcome.snapshot;
}
