import { describe, expect, test } from "vitest";
import { readSchedulerNodes } from "../../../src/wire/message/scheduler-node.ts";
import { Problems } from "../../../src/wire/json/problems.ts";

function read(host: object) {
  const problems = new Problems();
  const [node] = readSchedulerNodes([{ hostname: "h", ...host }], problems);
  return {
    node,
    problems: problems.all().map(({ path, found, expected }) => `${path}: ${found} -> ${expected}`),
  };
}

describe("the resources of a host", () => {
  test("are numbers, sizes, texts, true, false and null, in the order of their names", () => {
    const { node, problems } = read({
      resources: { slots: 8, rack: "r1", ssd: true, mem: "memory::4g", disk: "size::1.5T", ngpus: null },
      available: { ncpus: -1.5 },
    });
    expect(problems).toEqual([]);
    expect(JSON.stringify(node)).toBe(
      JSON.stringify({
        available: { ncpus: -1.5 },
        hostname: "h",
        jobs: [],
        resources: {
          disk: { amount: 1.5, unit: "T" },
          mem: { amount: 4, unit: "g" },
          ngpus: null,
          rack: "r1",
          slots: 8,
          ssd: true,
        },
      }),
    );
  });

  test("are left out where there are none", () => {
    expect(read({ resources: {}, available: {}, state: "open" }).node).toEqual({
      hostname: "h",
      jobs: [],
      state: "open",
    });
  });

  test.each([
    {
      host: { resources: { mem: "memory::4gb" } },
      problem:
        'schedulerNodes[0].resources.mem: "memory::4gb" -> a size such as memory::4g: b, k, m, g, t, p, or upper case for powers of 1000',
    },
    {
      host: { available: { mem: "4g" } },
      problem: 'schedulerNodes[0].available.mem: "4g" -> an amount: a number, or a size such as memory::4g',
    },
    {
      host: { resources: { ncpus: "8" } },
      problem: 'schedulerNodes[0].resources.ncpus: "8" -> an amount: a number, or a size such as memory::4g',
    },
    {
      host: { resources: { ncpus: { total: 8 } } },
      problem:
        "schedulerNodes[0].resources.ncpus: object with 1 member -> a number, text, true, false or null",
    },
    {
      host: { resources: [8] },
      problem: "schedulerNodes[0].resources: list of 1 item -> an object: resource name -> amount",
    },
    {
      host: { resources: { "": 8 } },
      problem:
        'schedulerNodes[0].resources.: "" -> the name of a resource: 1 to 200 characters, without control and direction characters',
    },
    {
      host: { resources: { rack: "r".repeat(201) } },
      problem: expect.stringMatching(
        /^schedulerNodes\[0\]\.resources\.rack: .* -> a text of at most 200 characters$/,
      ),
    },
    {
      host: { resources: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`r${i}`, i])) },
      problem: "schedulerNodes[0].resources: object with 101 members -> at most 100 resources",
    },
  ])("$problem", ({ host, problem }) => {
    expect(read(host).problems).toEqual([problem]);
  });
});
