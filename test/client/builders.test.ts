import { expect, test } from "vitest";
import type { JobMessage, SchedulerNodeMessage } from "../../src/client/index.ts";
import {
  allOf,
  anyOf,
  EXCLUSIVE,
  EXCLUSIVE_TASK,
  hostOf,
  IN_A_PLACEMENT_GROUP,
  isNot,
  jobOf,
  memory,
  needs,
  never,
  nodeIs,
  oneOf,
  pool,
} from "../../src/client/index.ts";
import { runPython } from "../python/run-python.ts";
import { readMembers } from "../wire/context.ts";

/** What each builder makes, in TypeScript and in Python. */
const BUILT: readonly {
  readonly python: string;
  readonly made: JobMessage | SchedulerNodeMessage;
  readonly expected: object;
}[] = [
  {
    python: "job('1')",
    made: jobOf("1"),
    expected: { name: "1" },
  },
  {
    python: "job('2', needs(ncpus=4, mem=memory('8g')), iterations=3, user='anna', placed=['a', 'b', 'a'])",
    made: jobOf("2", [needs({ ncpus: 4, mem: memory("8g") })], {
      iterations: 3,
      user: "anna",
      placed: ["a", "b", "a"],
    }),
    expected: {
      name: "2",
      iterations: 3,
      user: "anna",
      placed: [
        { hostname: "a", iterations: 2 },
        { hostname: "b", iterations: 1 },
      ],
      constraints: [{ ncpus: 4, mem: "memory::8g" }],
    },
  },
  {
    python:
      "job('3', EXCLUSIVE_TASK, node_count=2, packing_strategy='scatter', colocated=True, spot='never')",
    made: jobOf("3", [EXCLUSIVE_TASK], {
      nodeCount: 2,
      packingStrategy: "scatter",
      colocated: true,
      spot: "never",
    }),
    expected: {
      name: "3",
      "node-count": 2,
      "packing-strategy": "scatter",
      colocated: true,
      spot: "never",
      constraints: [{ "exclusive-task": true }],
    },
  },
  {
    python:
      "job('4', any_of(all_of(node(spot=True), needs(ngpus=1)), one_of(EXCLUSIVE, IN_A_PLACEMENT_GROUP)))",
    made: jobOf("4", [
      anyOf(allOf(nodeIs({ spot: true }), needs({ ngpus: 1 })), oneOf(EXCLUSIVE, IN_A_PLACEMENT_GROUP)),
    ]),
    expected: {
      name: "4",
      constraints: [
        {
          or: [
            { and: [{ "node.spot": true }, { ngpus: 1 }] },
            { xor: [{ exclusive: true }, { "in-a-placement-group": true }] },
          ],
        },
      ],
    },
  },
  {
    python:
      "job('5', is_not(node(gpu_count=0)), pool('licence', 2), any_of(needs(mem=memory(1.5)), never('no')))",
    made: jobOf("5", [
      isNot(nodeIs({ gpu_count: 0 })),
      pool("licence", 2),
      anyOf(needs({ mem: memory(1.5) }), never("no")),
    ]),
    expected: {
      name: "5",
      constraints: [
        { not: { "node.gpu_count": 0 } },
        { pool: { licence: 2 } },
        { or: [{ mem: "memory::1.5g" }, { never: "no" }] },
      ],
    },
  },
  {
    python: "host('ip-0A000404', jobs=['5'], state='open')",
    made: hostOf("ip-0A000404", ["5"], { state: "open" }),
    expected: { hostname: "ip-0A000404", jobs: ["5"], state: "open" },
  },
];

test.each(BUILT)("$python", ({ made, expected }) => {
  expect(made).toEqual(expected);
});

test("the builders for Python make the same", async () => {
  const list = BUILT.map(({ python }) => python).join(", ");
  const script = `from cyclecloud_autoscaler import *\nimport json\nprint(json.dumps([${list}]))`;
  const { stdout, stderr } = await runPython("python3", ["-c", script]);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual(BUILT.map(({ expected }) => expected));
});

test("the app reads what they make", () => {
  const made = BUILT.map((built) => built.made);
  const jobs = made.filter((one) => "name" in one);
  const schedulerNodes = made.filter((one) => "hostname" in one);
  expect(readMembers({ jobs, schedulerNodes })).toMatchObject({
    kind: "update",
    update: { demand: { rejectedJobs: [], demands: jobs.map(({ name }) => ({ name })) } },
  });
});
