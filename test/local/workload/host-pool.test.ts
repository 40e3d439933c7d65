import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Share } from "../../../src/local/workload/host.ts";
import { HostPool } from "../../../src/local/workload/host-pool.ts";

function poolOf(...cores: readonly number[]): HostPool {
  const pool = new HostPool();
  cores.forEach((count, index) =>
    pool.add({ hostname: `h${index + 1}`, instanceId: `i${index + 1}`, cores: count, stopUrl: undefined }, 0),
  );
  return pool;
}

function show(shares: readonly Share[]): string {
  return shares.map(({ host, slots }) => `${host.hostname}:${slots}`).join(" ");
}

describe("which hosts a job gets", () => {
  test.each([
    { name: "one host that fits exactly", cores: [8, 4, 16], before: [], slots: 4, expected: "h2:4" },
    { name: "the least sufficient room", cores: [16, 8], before: [], slots: 5, expected: "h2:5" },
    {
      name: "equals: the one that joined first",
      cores: [4, 4, 4],
      before: [],
      slots: 1,
      expected: "h1:1",
    },
    {
      name: "the fullest host that has room",
      cores: [4, 4, 4],
      before: [2, 3],
      slots: 1,
      expected: "h2:1",
    },
    {
      name: "whole hosts, then the fullest for the rest",
      cores: [4, 4, 4],
      before: [2],
      slots: 6,
      expected: "h2:4 h1:2",
    },
    {
      name: "everything there is",
      cores: [4, 2, 1],
      before: [1],
      slots: 6,
      expected: "h1:4 h2:2",
    },
    {
      name: "crumbs when no host is empty",
      cores: [4, 4, 4],
      before: [3, 3, 3],
      slots: 3,
      expected: "h1:1 h2:1 h3:1",
    },
  ])("$name", ({ cores, before, slots, expected }) => {
    const pool = poolOf(...cores);
    for (const earlier of before) pool.take(earlier);
    expect(show(pool.take(slots))).toBe(expected);
  });

  test("closed and removed hosts get nothing and count for nothing", () => {
    const pool = poolOf(4, 4, 4);
    const [first, second] = [...pool.hosts()];
    if (first === undefined || second === undefined) throw new Error("three hosts expected");
    pool.close(first);
    pool.remove(second);
    expect([pool.freeSlots, pool.openSlots, pool.size]).toEqual([4, 4, 2]);
    expect(show(pool.take(3))).toBe("h3:3");
    pool.reopen(first);
    expect(show(pool.take(4))).toBe("h1:4");
  });

  test("more than there is, is a mistake of the caller", () => {
    expect(() => poolOf(2).take(3)).toThrow("the pool has fewer than 3 free slots");
  });
});

test("after any history the counters are what the hosts say, and nobody holds more than he has", () => {
  const step = fc.record({
    what: fc.constantFrom("take", "release", "close", "reopen", "remove", "add"),
    which: fc.nat(30),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const pool = poolOf(4, 4, 2);
      const held: (readonly Share[])[] = [];
      steps.forEach(({ what, which }, index) => {
        const hosts = [...pool.hosts()];
        const host = hosts[which % Math.max(1, hosts.length)];
        if (what === "take" && pool.freeSlots > 0) {
          const slots = 1 + (which % pool.freeSlots);
          const shares = pool.take(slots);
          expect(shares.reduce((sum, share) => sum + share.slots, 0)).toBe(slots);
          held.push(shares);
        }
        if (what === "release")
          held.splice(which % Math.max(1, held.length), 1)[0]?.forEach((share) => pool.release(share));
        if (what === "close" && host?.open === true) pool.close(host);
        if (what === "reopen" && host?.open === false) pool.reopen(host);
        if (what === "remove" && host !== undefined) pool.remove(host);
        if (what === "add")
          pool.add(
            { hostname: `n${index}`, instanceId: `n${index}`, cores: 1 + (which % 5), stopUrl: undefined },
            0,
          );
        const open = [...pool.hosts()].filter((one) => one.open);
        expect(pool.freeSlots).toBe(open.reduce((sum, one) => sum + one.free, 0));
        expect(pool.openSlots).toBe(open.reduce((sum, one) => sum + one.cores, 0));
        expect(open.filter((one) => one.free < 0 || one.free > one.cores)).toEqual([]);
      });
    }),
  );
});
