import { NO_TEMPLATES } from "../support/no-templates.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CycleCloud, StatusOutcome } from "../../src/app/ports/cyclecloud.ts";
import type { Node, Snapshot } from "../../src/domain/cluster.ts";
import { clusterName, machineType, nodeId, placementGroup, requestId } from "../../src/domain/ids.ts";
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
  /** After so many seconds everything that was accepted can be seen and looked up. */
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

/** States what the port CycleCloud promises, for any implementation and any server behind it. */
export function describeCycleCloud(name: string, makeHarness: () => Promise<CycleCloudHarness>): void {
  describe(name, () => {
    let harness: CycleCloudHarness;

    beforeEach(async () => {
      harness = await makeHarness();
    });
    afterEach(() => harness.close());

    const id = (last: number) => requestId(`5a000000-0000-4000-8000-00000000000${last}`);
    const create = (last: number, count: number, bucket = harness.roomy) =>
      harness.cyclecloud.create(harness.cluster, {
        templates: NO_TEMPLATES,
        requestId: id(last),
        sets: [{ bucket, count }],
      });
    const nodesOf = async (last: number): Promise<readonly NodeId[]> => {
      const nodes = await harness.cyclecloud.nodesOfRequest(harness.cluster, id(last));
      return (nodes ?? []).map((node) => node.nodeId);
    };
    const knows = (last: number) => harness.cyclecloud.knowsRequest(harness.cluster, id(last));
    const terminate = (last: number, nodes: readonly NodeId[]) =>
      harness.cyclecloud.terminate(harness.cluster, id(last), nodes);
    const start = (last: number, nodes: readonly NodeId[]) =>
      harness.cyclecloud.start(harness.cluster, id(last), nodes);
    const look = async (): Promise<Snapshot> =>
      snapshotOf(await harness.cyclecloud.status(harness.cluster, harness.now()));
    const workers = async (): Promise<readonly Node[]> => {
      const arrays = new Set([harness.roomy.array, harness.tight.array, harness.spot.array]);
      return (await look()).nodes.filter((node) => arrays.has(node.array));
    };
    /** Creates nodes and waits until they can be seen. */
    const createShown = async (
      last: number,
      count: number,
      bucket = harness.roomy,
    ): Promise<readonly NodeId[]> => {
      expect(await create(last, count, bucket)).toEqual({ kind: "accepted", sets: [{ added: count }] });
      harness.advance(harness.secondsToShow);
      return nodesOf(last);
    };

    test("a look is of one moment, ours, and shows arrays with their buckets", async () => {
      const snapshot = await look();
      expect(snapshot).toMatchObject({
        cluster: harness.cluster,
        at: harness.now(),
        state: "Started",
        targetState: "Started",
      });
      const array = snapshot.arrays.find((candidate) => candidate.name === harness.roomy.array);
      const bucket = array?.buckets.find((candidate) => candidate.machineType === harness.roomy.machineType);
      expect(array).toMatchObject({ spot: false, autoscaled: true });
      expect(bucket).toMatchObject({ valid: true, activeCount: 0, placementGroups: [] });
      expect(bucket?.availableCount).toBeGreaterThanOrEqual(10);
      expect(bucket?.machine.vcpus).toBeGreaterThan(0);
    });

    test("a spot bucket has a quota of its region and none of its family", async () => {
      const array = (await look()).arrays.find((candidate) => candidate.name === harness.spot.array);
      expect(array?.spot).toBe(true);
      expect(array?.buckets[0]).toHaveProperty("regionalQuota");
      expect(array?.buckets[0]).not.toHaveProperty("familyQuota");
    });

    test("created nodes come to be seen, in the status and by their request id", async () => {
      const nodes = await createShown(1, 3);
      expect(new Set(nodes).size).toBe(3);
      const seen = await workers();
      expect(seen.map((node) => node.nodeId).sort()).toEqual([...nodes].sort());
      for (const node of seen) {
        expect(node).toMatchObject({
          array: harness.roomy.array,
          machineType: harness.roomy.machineType,
          phase: "coming",
          keepAlive: false,
        });
      }
    });

    test("requests do not mix: each id gives its own nodes", async () => {
      const first = await createShown(1, 2);
      const second = await createShown(2, 1);
      expect(await nodesOf(1)).toEqual(first);
      expect(first).not.toContain(second[0]);
    });

    test("nodes are called as their request wants, numbered from 1", async () => {
      const created = await harness.cyclecloud.create(harness.cluster, {
        templates: NO_TEMPLATES,
        requestId: id(1),
        sets: [{ bucket: harness.roomy, count: 2, nameFormat: "lab-%d" }],
      });
      expect(created).toEqual({ kind: "accepted", sets: [{ added: 2 }] });
      harness.advance(harness.secondsToShow);
      expect((await workers()).map(({ name }) => name).sort()).toEqual(["lab-1", "lab-2"]);
    });

    test("nodes become ready and then have an address", async () => {
      await createShown(1, 2);
      harness.advance(harness.secondsToBoot);
      const seen = await workers();
      expect(seen.map((node) => node.phase)).toEqual(["ready", "ready"]);
      expect(seen.every((node) => node.privateIp !== undefined && node.instanceId !== undefined)).toBe(true);
    });

    test("a placement group is made by naming it, and its nodes say so", async () => {
      await createShown(1, 2, { ...harness.roomy, placementGroup: placementGroup("group-7") });
      expect((await workers()).map((node) => node.placementGroup)).toEqual(["group-7", "group-7"]);
      const bucket = (await look()).arrays
        .flatMap((array) => array.buckets)
        .find((one) => one.placementGroups.length > 0);
      expect(bucket?.placementGroups).toEqual([{ name: "group-7", activeCount: 2 }]);
    });

    test("fewer than asked is an ordinary answer, and so is none; it says why", async () => {
      const some = await create(1, 5, harness.tight);
      expect(some).toEqual({ kind: "accepted", sets: [{ added: 3, message: expect.any(String) }] });
      const none = await create(2, 1, harness.tight);
      expect(none).toEqual({ kind: "accepted", sets: [{ added: 0, message: expect.any(String) }] });
      harness.advance(harness.secondsToShow);
      expect([(await nodesOf(1)).length, (await nodesOf(2)).length, await knows(2)]).toEqual([3, 0, true]);
    });

    test("several sets in one request: each is granted what it can have, and its nodes can be told apart", async () => {
      const created = await harness.cyclecloud.create(harness.cluster, {
        templates: NO_TEMPLATES,
        requestId: id(1),
        sets: [
          { bucket: harness.tight, count: 5 },
          { bucket: harness.roomy, count: 1 },
          { bucket: harness.roomy, count: 2, nameFormat: "lab-%d" },
          { bucket: { ...harness.roomy, placementGroup: placementGroup("group-7") }, count: 1 },
        ],
      });
      expect(created).toEqual({
        kind: "accepted",
        sets: [{ added: 3, message: expect.any(String) }, { added: 1 }, { added: 2 }, { added: 1 }],
      });
      harness.advance(harness.secondsToShow);
      const nodes = (await harness.cyclecloud.nodesOfRequest(harness.cluster, id(1))) ?? [];
      const { array } = harness.roomy;
      const own = nodes.filter((node) => node.array === array);
      expect(nodes.filter((node) => node.array === harness.tight.array)).toHaveLength(3);
      expect(
        own
          .filter(({ name }) => name.startsWith("lab-"))
          .map(({ name }) => name)
          .sort(),
      ).toEqual(["lab-1", "lab-2"]);
      expect(own.flatMap((node) => node.placementGroup ?? [])).toEqual(["group-7"]);
      expect(own.every(({ machineType: type }) => type === harness.roomy.machineType)).toBe(true);
    });

    test("of several sets one is invalid: none is created", async () => {
      const created = await harness.cyclecloud.create(harness.cluster, {
        templates: NO_TEMPLATES,
        requestId: id(1),
        sets: [
          { bucket: harness.roomy, count: 1 },
          { bucket: { ...harness.roomy, machineType: machineType("Standard_None") }, count: 1 },
        ],
      });
      expect(created.kind).toBe("conflict");
      harness.advance(harness.secondsToShow);
      expect([await knows(1), await workers()]).toEqual([false, []]);
    });

    test("the same id again is a conflict and creates nothing", async () => {
      const nodes = await createShown(1, 2);
      expect((await create(1, 2)).kind).toBe("conflict");
      harness.advance(harness.secondsToShow);
      expect(await nodesOf(1)).toEqual(nodes);
      expect(await workers()).toHaveLength(2);
    });

    test("the same id at the same time takes effect once", async () => {
      const outcomes = await Promise.all([create(1, 2), create(1, 2)]);
      expect(outcomes.map((outcome) => outcome.kind).sort()).toEqual(["accepted", "conflict"]);
      harness.advance(harness.secondsToShow);
      expect(await workers()).toHaveLength(2);
    });

    test("nonsense is a conflict too, but its id stays unknown", async () => {
      const outcome = await create(1, 1, { ...harness.roomy, machineType: machineType("Standard_None") });
      expect(outcome.kind).toBe("conflict");
      harness.advance(harness.secondsToShow);
      expect([await knows(1), await nodesOf(1), await workers()]).toEqual([false, [], []]);
    });

    test("an id that was never sent is unknown and has no nodes", async () => {
      expect([await knows(1), await nodesOf(1)]).toEqual([false, []]);
    });

    test("an accepted id is known", async () => {
      await createShown(1, 1);
      expect(await knows(1)).toBe(true);
    });

    test("terminated nodes go and are gone; the others stay", async () => {
      const [first, second] = await createShown(1, 2);
      if (first === undefined || second === undefined) throw new Error("two nodes were created");
      harness.advance(harness.secondsToBoot);
      const outcome = await terminate(2, [first]);
      expect(outcome).toEqual({ kind: "accepted", nodes: new Map([[first, { ok: true }]]) });
      expect(new Map((await workers()).map(({ nodeId, phase }) => [nodeId, phase]))).toEqual(
        new Map([
          [first, "going"],
          [second, "ready"],
        ]),
      );
      harness.advance(harness.secondsToVanish);
      expect((await workers()).map(({ nodeId, phase }) => [nodeId, phase])).toEqual([[second, "ready"]]);
      expect(await knows(2)).toBe(true);
    });

    test("a node that does not exist is not in the answer to its termination", async () => {
      const [node] = await createShown(1, 1);
      if (node === undefined) throw new Error("a node was created");
      const outcome = await terminate(2, [nodeId("5a000000-0000-4000-8000-00000000dead"), node]);
      expect(outcome).toEqual({ kind: "accepted", nodes: new Map([[node, { ok: true }]]) });
    });

    test("to terminate what is already going is harmless", async () => {
      const nodes = await createShown(1, 1);
      harness.advance(harness.secondsToBoot);
      expect((await terminate(2, nodes)).kind).toBe("accepted");
      expect((await terminate(3, nodes)).kind).toBe("accepted");
      harness.advance(harness.secondsToVanish);
      expect((await terminate(4, nodes)).kind).toBe("accepted");
      expect(await workers()).toEqual([]);
    });

    test("a repeated termination id is a conflict", async () => {
      const nodes = await createShown(1, 1);
      expect((await terminate(2, nodes)).kind).toBe("accepted");
      expect((await terminate(2, nodes)).kind).toBe("conflict");
    });

    test("a node with KeepAlive is not terminated, and nothing says that it were", async () => {
      const [node] = await createShown(1, 1);
      if (node === undefined) throw new Error("a node was created");
      harness.keepAlive(node);
      const outcome = await terminate(2, [node]);
      expect(outcome.kind === "accepted" && outcome.nodes.get(node)?.ok).not.toBe(true);
      harness.advance(harness.secondsToVanish);
      expect(await workers()).toMatchObject([{ nodeId: node, keepAlive: true }]);
    });

    describe("nodes that are deallocated", () => {
      const deallocated = async (count: number): Promise<readonly NodeId[]> => {
        const nodes = await createShown(1, count);
        harness.advance(harness.secondsToBoot);
        harness.deallocate(nodes);
        harness.advance(harness.secondsToVanish);
        return nodes;
      };
      const phases = async () => new Map((await workers()).map(({ nodeId, phase }) => [nodeId, phase]));

      test("stay listed as such", async () => {
        const nodes = await deallocated(2);
        expect(await phases()).toEqual(new Map(nodes.map((node) => [node, "deallocated"])));
      });

      test("come up again under their own ids once started; the others stay off", async () => {
        const [first, second] = await deallocated(2);
        if (first === undefined || second === undefined) throw new Error("two nodes were created");
        expect(await start(2, [first])).toEqual({
          kind: "accepted",
          nodes: new Map([[first, { ok: true }]]),
        });
        harness.advance(harness.secondsToShow);
        expect([await phases(), await knows(2), await nodesOf(2)]).toEqual([
          new Map([
            [first, "coming"],
            [second, "deallocated"],
          ]),
          true,
          [first],
        ]);
        harness.advance(harness.secondsToBoot);
        expect(await phases()).toEqual(
          new Map([
            [first, "ready"],
            [second, "deallocated"],
          ]),
        );
      });

      test("each has its own answer: one is refused in words, one that does not exist is not listed", async () => {
        const [first, second] = await deallocated(2);
        if (first === undefined || second === undefined) throw new Error("two nodes were created");
        harness.refuseStart(second);
        const outcome = await start(2, [first, second, nodeId("5a000000-0000-4000-8000-00000000dead")]);
        expect(outcome.kind === "accepted" && [...outcome.nodes]).toEqual([
          [first, { ok: true }],
          [second, { ok: false, error: expect.any(String) }],
        ]);
        harness.advance(harness.secondsToShow + harness.secondsToBoot);
        expect((await phases()).get(second)).toBe("deallocated");
      });

      test("to start what has been started is harmless, with a new id; with the same it is a conflict", async () => {
        const nodes = await deallocated(1);
        expect((await start(2, nodes)).kind).toBe("accepted");
        expect((await start(2, nodes)).kind).toBe("conflict");
        expect((await start(3, nodes)).kind).toBe("accepted");
        harness.advance(harness.secondsToShow + harness.secondsToBoot);
        expect((await workers()).map(({ nodeId, phase }) => [nodeId, phase])).toEqual([[nodes[0], "ready"]]);
      });

      test("can be terminated as they are", async () => {
        const nodes = await deallocated(1);
        expect((await terminate(2, nodes)).kind).toBe("accepted");
        harness.advance(harness.secondsToVanish);
        expect(await workers()).toEqual([]);
      });
    });

    test("a cluster that is not there is not found", async () => {
      const outcome = await harness.cyclecloud.status(clusterName("no such cluster"), harness.now());
      expect(outcome).toMatchObject({ kind: "not-found", fromCycleCloud: harness.signsItsErrors });
    });

    test("to create in a cluster that is not there is refused", async () => {
      const outcome = await harness.cyclecloud.create(clusterName("no such cluster"), {
        templates: NO_TEMPLATES,
        requestId: id(1),
        sets: [{ bucket: harness.roomy, count: 1 }],
      });
      expect(outcome.kind).toBe("refused");
    });
  });
}

function snapshotOf(outcome: StatusOutcome): Snapshot {
  if (outcome.kind !== "snapshot") throw new Error(`the cluster was not found: ${outcome.message}`);
  return outcome.snapshot;
}
