import { describe, expect, test } from "vitest";
import { readMembers, updateOf } from "../context.ts";

describe("the digest", () => {
  const digestOfMembers = (members: Readonly<Record<string, unknown>>) =>
    updateOf(readMembers(members)).digest;
  const job = {
    name: "a",
    user: "eva",
    constraints: [{ ncpus: 2, mem: "memory::4g" }],
    placed: [
      { hostname: "h1", iterations: 1 },
      { hostname: "h2", iterations: 1 },
    ],
    iterations: 2,
  };
  const array = {
    Name: "execute",
    TargetCount: 1,
    Configuration: { a: { x: 1, y: 2 }, b: 3 },
    Region: "westeurope",
  };
  const members = { nodearrays: [array], jobs: [job], pools: [{ name: "p", total: 2, used: 1 }] };

  test("does not depend on the order of keys and of placed hosts", () => {
    expect(
      digestOfMembers({
        pools: [{ used: 1, total: 2, name: "p" }],
        jobs: {
          iterations: 2,
          placed: job.placed.toReversed(),
          constraints: { mem: "memory::4g", ncpus: 2 },
          user: "eva",
          name: "a",
        },
        nodearrays: {
          Region: "westeurope",
          Configuration: { b: 3, a: { y: 2, x: 1 } },
          TargetCount: 1,
          Name: "execute",
        },
      }),
    ).toBe(digestOfMembers(members));
  });

  test("does not cover revision, interval and report: they alone are a mere renewal", () => {
    expect(
      digestOfMembers({
        ...members,
        revision: 1_763_636_399_000,
        expirationInterval: 900,
        schedulerNodes: [{ hostname: "h1" }],
      }),
    ).toBe(digestOfMembers(members));
  });

  test.each([
    { name: "a target", changed: { ...members, nodearrays: [{ ...array, TargetCount: 2 }] } },
    {
      name: "an attribute deep inside",
      changed: { ...members, nodearrays: [{ ...array, Configuration: { a: { x: 1, y: 3 }, b: 3 } }] },
    },
    { name: "a job", changed: { ...members, jobs: [{ ...job, iterations: 3 }] } },
    { name: "a rejected job", changed: { ...members, jobs: [job, { name: "b", iterations: -1 }] } },
    { name: "a pool", changed: { ...members, pools: [{ name: "p", total: 2, used: 2 }] } },
  ])("covers $name", ({ changed }) => {
    expect(digestOfMembers(changed)).not.toBe(digestOfMembers(members));
  });
});
