import type { Constraint } from "../../src/domain/constraint.ts";
import { arrayName, machineType } from "../../src/domain/ids.ts";
import { buildJob, buildTarget } from "./build-record.ts";
import { amount, choice, jobs, pattern, times } from "./hostile-jobs.ts";
import type { HostileCluster } from "./hostile-jobs.ts";

export const HOSTILE_CLUSTERS: readonly HostileCluster[] = [
  {
    name: "1,000 jobs that match no VM size by a long pattern",
    sets: jobs(1000, 1, (i) => ({ constraints: [choice("vm_size", pattern(i, 4000)), amount(1)] })),
  },
  {
    name: "15,000 jobs that match no VM size by a long pattern",
    sets: jobs(15_000, 1, (i) => ({ constraints: [choice("vm_size", pattern(i, 4000)), amount(1)] })),
  },
  {
    name: "10,000 jobs with 100 patterns of VM sizes each",
    sets: jobs(10_000, 1, (i) => ({
      constraints: [choice("vm_size", ...times(100, (k) => `*_D${i}_*${k}_v5`)), amount(1)],
    })),
  },
  {
    name: "200 jobs with 10,000 values of one property each, none of which is there",
    sets: jobs(200, 1, (i) => ({
      constraints: [choice("vm_size", ...times(10_000, (k) => `Standard_E${i}_${k}`))],
    })),
  },
  {
    name: "1,000 jobs with patterns of host names",
    sets: jobs(1000, 1, (i) => ({ constraints: [choice("hostname", pattern(i, 1000)), amount(1)] })),
  },
  {
    name: "20,000 jobs with patterns of host names",
    sets: jobs(20_000, 1, (i) => ({ constraints: [choice("hostname", `ip-*${i}`, `*-n${i}?`), amount(1)] })),
  },
  {
    name: "10,000 jobs with 50 patterns in a not",
    sets: jobs(10_000, 1, (i) => ({
      constraints: [
        { kind: "not", of: choice("vm_size", ...times(50, (k) => `*_D${i}_${k}`), "*") },
        amount(1),
      ],
    })),
  },
  {
    name: "jobs that name 1,000 VM sizes, each its own, as machine types",
    sets: () => ({
      evil: {
        demands: times(1000, (i) =>
          buildTarget(1, {
            id: `t${i}`,
            position: i,
            machineTypes: times(1000, (k) => machineType(`Evil_${i}_${k}`)),
          }),
        ),
      },
    }),
  },
  {
    name: "20,000 jobs of 50 slots that ask for nothing",
    sets: jobs(20_000, 50, () => ({ constraints: [] })),
  },
  {
    name: "20,000 jobs of 50 slots that ask for 0 of something",
    sets: jobs(20_000, 50, (i) => ({ constraints: [amount(0, `r${i % 7}`)] })),
  },
  {
    name: "200,000 jobs of one slot that ask for nothing",
    sets: jobs(200_000, 1, () => ({ constraints: [] })),
  },
  {
    name: "20,000 jobs with an and around 0 cores",
    sets: jobs(20_000, 50, () => ({ constraints: [{ kind: "and", of: [amount(0)] }] })),
  },
  {
    name: "20,000 jobs with an or around 0 cores",
    sets: jobs(20_000, 50, () => ({ constraints: [{ kind: "or", of: [amount(0), amount(1)] }] })),
  },
  {
    name: "4,000 jobs with 100 alternatives each",
    sets: jobs(4000, 1000, (i) => ({
      constraints: [{ kind: "or", of: times(100, (k) => amount(900 + k + i / 10_000)) }],
    })),
  },
  {
    name: "4,000 jobs with 100 alternatives of which one is to hold",
    sets: jobs(4000, 1000, (i) => ({
      constraints: [{ kind: "xor", of: times(100, (k) => amount(900 + k + i / 10_000)) }],
    })),
  },
  {
    name: "2,000 jobs with a not around 100 alternatives around a not, 60 levels",
    sets: jobs(2000, 10, (i) => ({
      constraints: [
        times(29, (k) => k).reduce(
          (of: Constraint): Constraint => ({
            kind: "not",
            of: { kind: "or", of: [of, choice("vm_size", `x${i}`)] },
          }),
          amount(1),
        ),
      ],
    })),
  },
  {
    name: "1,000 jobs of a thousand slots with an or",
    sets: jobs(1000, 10_000, (i) => ({
      constraints: [{ kind: "or", of: [amount(0.001 + i / 1e6), amount(0.002)] }],
    })),
  },
  {
    name: "100,000 jobs that fit nowhere, of which no two are alike",
    sets: jobs(100_000, 1, (i) => ({ constraints: [amount(1000 + i)] })),
  },
  {
    name: "100,000 jobs of two nodes that fit nowhere, of which no two are alike",
    sets: jobs(100_000, 1, (i) => ({ nodeCount: 2, constraints: [amount(1000 + i)] })),
  },
  {
    name: "100,000 jobs of two nodes, of which no two are alike",
    sets: jobs(100_000, 1, (i) => ({ nodeCount: 2, constraints: [amount(1 + i / 1e6)] })),
  },
  {
    name: "20,000 jobs of 1,000 nodes each, in one group",
    sets: jobs(20_000, 1, (i) => ({
      nodeCount: 200 + (i % 100),
      colocated: true,
      constraints: [amount(1 + i / 1e6), { kind: "in-a-placement-group", wanted: true }],
    })),
  },
  {
    name: "50,000 jobs of which each has a resource of its own",
    sets: jobs(50_000, 1, (i) => ({ constraints: [amount(1, `r${i}`), amount(1)] })),
  },
  {
    name: "200 jobs of which each has 900 resources of its own",
    sets: jobs(200, 1, (i) => ({ constraints: times(900, (k) => amount(1, `r${i}_${k}`)) })),
  },
  {
    name: "5,000 jobs that are alone, by task",
    sets: jobs(5000, 20, (i) => ({
      constraints: [{ kind: "exclusive", scope: "task", wanted: true }, amount(1 + i / 1e6)],
    })),
  },
  {
    name: "5,000 jobs with an or that are alone, by task",
    sets: jobs(5000, 20, (i) => ({
      constraints: [
        { kind: "or", of: [{ kind: "exclusive", scope: "task", wanted: true }, amount(1 + i / 1e6)] },
      ],
    })),
  },
  {
    name: "20,000 jobs of which each runs on 50 hosts",
    sets: jobs(20_000, 100, (i) => ({
      constraints: [amount(0.001 + i / 1e9)],
      placed: times(50, (k) => ({ hostname: `ip-n${k + 1}`, iterations: 2 })),
    })),
  },
  {
    name: "5,000 jobs with an or of which each runs on 50 hosts",
    sets: jobs(5000, 100, (i) => ({
      constraints: [{ kind: "or", of: [amount(0.001 + i / 1e9), amount(0.5)] }],
      placed: times(50, (k) => ({ hostname: `ip-n${k + 1}`, iterations: 2 })),
    })),
  },
  {
    name: "1,000 targets for ten million nodes, each of an array that is not there",
    sets: () => ({
      evil: {
        demands: times(1000, (i) =>
          buildTarget(10_000_000, { id: `t${i}`, array: arrayName(`none${i}`), position: i }),
        ),
      },
    }),
  },
  {
    name: "1,000 requests for five million groups of two",
    sets: () => ({
      evil: {
        demands: times(1000, (i) => ({
          kind: "groups" as const,
          id: `g${i}`,
          priority: 0,
          position: i,
          array: arrayName("a0"),
          groups: 5_000_000,
          size: { unit: "nodes" as const, count: 2 },
        })),
      },
    }),
  },
  {
    name: "1,000 targets with attributes of their own",
    sets: () => ({
      evil: {
        demands: times(1000, (i) =>
          buildTarget(20, {
            id: `t${i}`,
            array: arrayName(`a${i % 10}`),
            position: i,
            attributes: { A: { B: i } },
          }),
        ),
      },
    }),
  },
  {
    name: "300 jobs of 300 choices between pools, of 1,000 pools",
    pools: times(1000, (k) => ({ name: `p${k}`, total: 1000, used: 0 })),
    sets: jobs(300, 3, (i) => ({
      constraints: times(300, (k): Constraint => ({
        kind: "or",
        of: [
          { kind: "pool", pool: `p${(i + k) % 1000}`, amount: 1 },
          { kind: "pool", pool: `p${k + 1}`, amount: 2 },
        ],
      })),
    })),
  },
  {
    name: "3,000 jobs of a pool each that is not there, beside 1,000 pools",
    pools: times(1000, (k) => ({ name: `${"p".repeat(20)}${k + 1000}`, total: 1, used: 0 })),
    sets: jobs(3000, 1, (i) => ({
      constraints: [{ kind: "pool", pool: `${i + 1000}${"q".repeat(20)}`, amount: 1 }],
    })),
  },
  {
    name: "100,000 jobs of one pool that is short",
    pools: [{ name: "p", total: 10, used: 0 }],
    sets: jobs(100_000, 2, (i) => ({
      constraints: [{ kind: "pool", pool: "p", amount: 1 }, amount(1 + i / 1e6)],
    })),
  },
  {
    name: "100,000 jobs of 3,000 users, each with a cap",
    policy: { caps: { requestSets: new Map(), users: new Map([["*", { nodes: 2, cores: 8 }]]) } },
    sets: jobs(100_000, 2, (i) => ({ user: `u${i % 3000}`, constraints: [amount(1 + i / 1e6)] })),
  },
  {
    name: "20,000 jobs of one user with a cap, each of whom would fit on any node",
    policy: { caps: { requestSets: new Map(), users: new Map([["*", { nodes: 40 }]]) } },
    sets: jobs(20_000, 50, (i) => ({ user: "u", constraints: [amount(1e-5 + i / 1e12)] })),
  },
  {
    name: "5,000 sets, each of twenty jobs of which no two are alike",
    sets: () =>
      Object.fromEntries(
        times(5000, (s) => [
          `s${s}`,
          {
            demands: times(20, (i) =>
              buildJob(`j${i}`, 3, { position: i, constraints: [amount(1 + s / 1e6 + i / 1e9)] }),
            ),
          },
        ]),
      ),
  },
  {
    name: "100 sets, each of 40 jobs with 100 alternatives",
    sets: () =>
      Object.fromEntries(
        times(100, (s) => [
          `s${s}`,
          {
            demands: times(40, (i) =>
              buildJob(`j${i}`, 1000, {
                position: i,
                constraints: [{ kind: "or", of: times(100, (k) => amount(900 + k + i / 1e4 + s / 1e6)) }],
              }),
            ),
          },
        ]),
      ),
  },
  {
    name: "100 sets, each of 2,000 jobs of which no two are alike",
    sets: () =>
      Object.fromEntries(
        times(100, (s) => [
          `s${s}`,
          {
            demands: times(2000, (i) =>
              buildJob(`j${i}`, 50, { position: i, constraints: [amount(0.001 + s / 1e6 + i / 1e9)] }),
            ),
          },
        ]),
      ),
  },
];
