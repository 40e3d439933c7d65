import { describe, expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { JobDemand } from "../../../src/domain/demand.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { reasonsInOrder } from "../../../src/domain/reasons-in-order.ts";
import { renderRemedy } from "../../../src/domain/remedy.ts";
import type { BucketOffer, World } from "../../../src/domain/world.ts";
import { asking } from "../../golden/refusal-scenario.ts";
import { bucket, job, NOW, offer, world } from "../../golden/small-world.ts";

/** What no bucket has, of a job that asks for several things: nothing that some bucket has is blamed alone. */

const sized = (at: string, ncpus: number, ngpus: number, more: Partial<BucketOffer> = {}): BucketOffer =>
  offer(at, ncpus, [], { resources: { ncpus, ngpus, mem: { amount: ncpus * 4, unit: "g" } }, ...more });

/** The demo cluster and a bucket with a GPU. */
const demo = [sized("htc/F2", 2, 0), sized("htc/F8", 8, 0), sized("hpc/HB", 120, 0)];
const withGpu = [...demo.slice(0, 2), sized("gpu/NC6", 6, 1)];
const arrays = new Map(["htc", "hpc", "gpu"].map((name) => [arrayName(name), "managed"] as const));
const on = (buckets: readonly BucketOffer[], more: Partial<World> = {}): World =>
  world(buckets, [], { arrays, ...more });

function answer(place: World, asked: object, more: Partial<JobDemand> = {}, preference = "existing-first") {
  const policy = {
    groupPrefix: "pg-",
    groupFillSeconds: 600,
    preference: preference === "bucket-order" ? "bucket-order" : "existing-first",
    among: "priority",
  } as const;
  const { outcomes } = allocate(place, [job({ ...asking(asked), ...more })], policy, NOW);
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error("no outcome");
  const [first] = reasonsInOrder(outcome);
  const { binding, placed } = outcome;
  return {
    placed,
    why: first === undefined ? undefined : renderReason(first),
    remedy: binding === undefined ? undefined : renderRemedy(binding),
  };
}

const HELPS = "no raise of a limit helps: ";

describe.each(["existing-first", "bucket-order"])(
  "a job that no bucket has everything for (%s)",
  (preference) => {
    test.each<{ name: string; place: World; asked: object; more?: Partial<JobDemand>; remedy: string }>([
      {
        name: "no node array has a GPU, and one has the cores",
        place: on(demo),
        asked: { ncpus: 8, ngpus: 1 },
        remedy: "needs 1 ngpus on one node; no node array has one",
      },
      {
        name: "one bucket has the cores, another the GPU",
        place: on(withGpu),
        asked: { ncpus: 8, ngpus: 1 },
        remedy: "no bucket has 8 ncpus and 1 ngpus together: gpu/NC6 has 6 ncpus and 1 ngpus, htc/F8 8 and 0",
      },
      {
        name: "the same with memory, in units that people read",
        place: on(withGpu),
        asked: { mem: "memory::32g", ngpus: 1 },
        remedy:
          "no bucket has 32.0 GiB mem and 1 ngpus together: gpu/NC6 has 24.0 GiB mem and 1 ngpus, htc/F8 32.0 GiB and 0",
      },
      {
        name: "neither is anywhere",
        place: on(demo.slice(0, 2)),
        asked: { ncpus: 64, ngpus: 1 },
        remedy: "no bucket has 64 ncpus or 1 ngpus: htc/F8 has 8 ncpus and 0 ngpus",
      },
      {
        name: "the node array that it names has no GPU",
        place: on(withGpu),
        asked: { ngpus: 1, "node.nodearray": "htc" },
        remedy:
          "no bucket has 1 ngpus and node.nodearray htc together: htc/F2 has 0 ngpus and node.nodearray htc, gpu/NC6 1 and gpu",
      },
      {
        name: "the VM size that it names is too small",
        place: on(withGpu),
        asked: { ncpus: 8, "node.vm_size": "F2" },
        remedy:
          "no bucket has 8 ncpus and node.vm_size F2 together: htc/F2 has 2 ncpus and node.vm_size F2, htc/F8 8 and F8",
      },
      {
        name: "a bucket that CycleCloud does not offer now has the GPU and the cores",
        place: on([
          ...demo,
          sized("gpu/NC12", 12, 2, {
            refusal: { code: "bucket-invalid", bucket: bucket("gpu/NC12"), why: "DisabledMachineType" },
          }),
        ]),
        asked: { ncpus: 8, ngpus: 1 },
        remedy: "gpu/NC12: CycleCloud offers no new nodes here (DisabledMachineType)",
      },
      {
        name: "a gang, and each of its nodes needs both",
        place: on(withGpu),
        asked: { ncpus: 8, ngpus: 1 },
        more: { nodeCount: 2 },
        remedy: "no bucket has 8 ncpus and 1 ngpus together: gpu/NC6 has 6 ncpus and 1 ngpus, htc/F8 8 and 0",
      },
      {
        name: "several slots of a gang on each node count together",
        place: on(withGpu),
        asked: { ncpus: 4, ngpus: 1 },
        more: { nodeCount: 2, iterations: 2 },
        remedy: "no bucket has 8 ncpus and 2 ngpus together: htc/F8 has 8 ncpus and 0 ngpus, gpu/NC6 6 and 1",
      },
      {
        name: "a misspelt resource",
        place: on(demo),
        asked: { ncpu: 1 },
        remedy: "htc/F2: has no resource ncpu (nearest: ncpus)",
      },
      {
        name: "a resource by its long name",
        place: on(demo),
        asked: { memory: 4 },
        remedy: "htc/F2: has no resource memory (nearest: mem)",
      },
      {
        name: "alternatives: the nearest one is told",
        place: on(withGpu),
        asked: { or: [{ ncpus: 8, ngpus: 9 }, { ncpus: 12 }] },
        remedy: "no bucket has 12 ncpus (the alternative of the job that comes nearest): htc/F8 has 8 ncpus",
      },
    ])("$name", ({ place, asked, more, remedy }) => {
      const said = answer(place, asked, more, preference);
      expect(said).toMatchObject({ placed: 0 });
      expect(said.remedy).toBe(`${HELPS}${remedy}`);
    });
  },
);

describe("a pool that no message has reported", () => {
  const cores = [sized("htc/F8", 8, 0)];
  const pools = ["matlab", "ansys"].map((name) => ({ name, total: 4, used: 4 }));

  test.each(["existing-first", "bucket-order"])(
    "is told as unknown, with the nearest name (%s)",
    (preference) => {
      expect(answer(on(cores, { pools }), { ncpus: 1, pool: { matlap: 3 } }, {}, preference)).toEqual({
        placed: 0,
        why: 'no request set names a pool matlap (nearest: matlab; known: ansys, matlab): 3 of it needed; send it with "pools"',
        remedy: "a pool matlap with 3 free would place all of it",
      });
    },
  );

  test("without any pool", () => {
    expect(answer(on(cores), { ncpus: 1, pool: { matlab: 3 } }).why).toBe(
      'no request set names a pool matlab (known: none): 3 of it needed; send it with "pools"',
    );
  });

  test("nor a value of it", () => {
    expect(answer(on(cores), { ncpus: 1, pool: { shift: "night" } }).why).toBe(
      'htc/F8: pool shift: no request set names its value; send it with "pools"',
    );
  });

  test("one that is used up is told with its numbers, as before", () => {
    expect(answer(on(cores, { pools }), { ncpus: 1, pool: { matlab: 3 } }).why).toBe(
      "pool matlab: 4 of 4 used, 3 more needed, 0 left",
    );
  });
});

describe("node.colocated: true asks for a placement group", () => {
  const grouped = on([sized("hpc/HB", 4, 0, { maxPlacementGroupSize: 10 })]);

  test.each([
    { name: "slots", more: { iterations: 8 } },
    { name: "a gang", more: { nodeCount: 2 } },
    { name: "a number for true", more: { nodeCount: 2 }, value: 1 },
  ])("$name, in every mode", ({ more, value = true }) => {
    for (const preference of ["existing-first", "bucket-order"]) {
      const said = answer(grouped, { ncpus: 4, "node.colocated": value }, more, preference);
      expect(said.placed).toBeGreaterThan(0);
      expect(said.why).toBeUndefined();
    }
  });

  test("where no bucket has placement groups, that is the reason", () => {
    const { placed, why } = answer(on([sized("htc/F8", 8, 0)]), { ncpus: 1, "node.colocated": true });
    expect({ placed, why }).toEqual({ placed: 0, why: "htc/F8: this VM size has no placement groups here" });
  });

  test("node.colocated: false is a node in no placement group", () => {
    expect(answer(grouped, { ncpus: 4, "node.colocated": false })).toEqual({ placed: 1 });
  });
});
