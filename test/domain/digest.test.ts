import { describe, expect, test } from "vitest";
import { digestOf, requestIdOf } from "../../src/domain/digest.ts";
import { clusterName, epoch } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";

const prod = clusterName("prod");
const first = epoch("epoch-1");
const committed = instant(1_763_636_400_000);

describe("the id of an effect", () => {
  test("is the SHA-256 of cluster, epoch, commit time, plan and ordinal, in UUID shape", () => {
    // sha256sum of ["prod","epoch-1",1763636400000,7,0] is 871aa6ebbbc21b054616af3a72c128ab...
    expect(requestIdOf(prod, first, committed, 7, 0)).toBe("871aa6eb-bbc2-1b05-4616-af3a72c128ab");
  });

  test.each([
    { name: "the ordinal", id: requestIdOf(prod, first, committed, 7, 1) },
    { name: "the plan", id: requestIdOf(prod, first, committed, 8, 0) },
    { name: "the commit time", id: requestIdOf(prod, first, instant(committed + 1), 7, 0) },
    { name: "the epoch", id: requestIdOf(prod, epoch("epoch-2"), committed, 7, 0) },
    { name: "the cluster", id: requestIdOf(clusterName("prod2"), first, committed, 7, 0) },
    {
      name: "where one part ends",
      id: requestIdOf(clusterName('prod","epoch'), epoch("1"), committed, 7, 0),
    },
  ])("depends on $name", ({ id }) => {
    expect(id).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(id).not.toBe("871aa6eb-bbc2-1b05-4616-af3a72c128ab");
  });
});

test("a digest is the first half of the SHA-256 of the JSON text", () => {
  // sha256sum of {"a":1}
  expect(digestOf({ a: 1 })).toBe("015abd7f5cc57a2dd94b7590f04ad808");
});
