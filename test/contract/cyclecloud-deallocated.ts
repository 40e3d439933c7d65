import { describe, expect, test } from "vitest";
import { nodeId } from "../../src/domain/ids.ts";
import type { NodeId } from "../../src/domain/ids.ts";
import type { CycleCloudHarness } from "./cyclecloud-harness.ts";
import { actionsOn } from "./cyclecloud-harness.ts";

/** What the port promises of nodes that were switched off and kept their disks. Part of the suite of the port. */
export function describeDeallocated(harness: () => CycleCloudHarness): void {
  const { createShown, workers, start, knows, nodesOf, terminate } = actionsOn(harness);

  describe("nodes that are deallocated", () => {
    const deallocated = async (count: number): Promise<readonly NodeId[]> => {
      const nodes = await createShown(1, count);
      harness().advance(harness().secondsToBoot);
      harness().deallocate(nodes);
      harness().advance(harness().secondsToVanish);
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
      harness().advance(harness().secondsToShow);
      expect([await phases(), await knows(2), await nodesOf(2)]).toEqual([
        new Map([
          [first, "coming"],
          [second, "deallocated"],
        ]),
        true,
        [first],
      ]);
      harness().advance(harness().secondsToBoot);
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
      harness().refuseStart(second);
      const outcome = await start(2, [first, second, nodeId("5a000000-0000-4000-8000-00000000dead")]);
      expect(outcome.kind === "accepted" && [...outcome.nodes]).toEqual([
        [first, { ok: true }],
        [second, { ok: false, error: expect.any(String) }],
      ]);
      harness().advance(harness().secondsToShow + harness().secondsToBoot);
      expect((await phases()).get(second)).toBe("deallocated");
    });

    test("to start what has been started is harmless, with a new id; with the same it is a conflict", async () => {
      const nodes = await deallocated(1);
      expect((await start(2, nodes)).kind).toBe("accepted");
      expect((await start(2, nodes)).kind).toBe("conflict");
      expect((await start(3, nodes)).kind).toBe("accepted");
      harness().advance(harness().secondsToShow + harness().secondsToBoot);
      expect((await workers()).map(({ nodeId, phase }) => [nodeId, phase])).toEqual([[nodes[0], "ready"]]);
    });

    test("can be terminated as they are", async () => {
      const nodes = await deallocated(1);
      expect((await terminate(2, nodes)).kind).toBe("accepted");
      harness().advance(harness().secondsToVanish);
      expect(await workers()).toEqual([]);
    });
  });
}
