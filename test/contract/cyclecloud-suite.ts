import { NO_TEMPLATES } from "../support/no-templates.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clusterName, machineType, nodeId, placementGroup } from "../../src/domain/ids.ts";
import type { CycleCloudHarness } from "./cyclecloud-harness.ts";
import { actionsOn } from "./cyclecloud-harness.ts";
import { describeDeallocated } from "./cyclecloud-deallocated.ts";

/** States what the port CycleCloud promises, for any implementation and any server behind it. */
export function describeCycleCloud(name: string, makeHarness: () => Promise<CycleCloudHarness>): void {
  describe(name, () => {
    let harness: CycleCloudHarness;

    beforeEach(async () => {
      harness = await makeHarness();
    });
    afterEach(() => harness.close());

    const { id, create, nodesOf, knows, terminate, observation, workers, createShown } = actionsOn(
      () => harness,
    );

    test("an observation is of one moment, ours, and shows arrays with their buckets", async () => {
      const snapshot = await observation();
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
      const array = (await observation()).arrays.find((candidate) => candidate.name === harness.spot.array);
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
      const bucket = (await observation()).arrays
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

    describeDeallocated(() => harness);

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
