import fc from "fast-check";
import { expect, test } from "vitest";
import { schedulerHostname } from "../../src/domain/hosts.ts";
import { buildArray, buildBucket, buildNodes, buildSnapshot, D8 } from "../support/build-node.ts";
import { decideOn, push } from "../support/push-message.ts";
import type { Pushed } from "../support/push-message.ts";
import { runsOf, TIMEOUT } from "./runs.ts";

const SETS = ["pbs", "slurm", "none"] as const;

const hostAt = (hostname: string) =>
  fc.record(
    {
      hostname: fc.constant(hostname),
      resources: fc.record({ ncpus: fc.integer({ min: 0, max: 16 }) }),
      available: fc.record({ ncpus: fc.integer({ min: 0, max: 8 }) }),
      state: fc.constantFrom("open", "closed", "down"),
      jobs: fc.constantFrom([], ["elsewhere"]),
    },
    { requiredKeys: ["hostname"] },
  );
const hostsOf = fc.tuple(hostAt("rack1"), hostAt("rack2"), hostAt("rack3"), hostAt("ip-n1"), hostAt("ip-n2"));

const jobOf = fc.record(
  {
    constraints: fc.constantFrom<object[]>(
      [],
      [{ ncpus: 1 }],
      [{ ncpus: 4 }],
      [{ or: [{ ngpus: 1 }, { ncpus: 2 }] }],
      [{ ncpus: 1, exclusive: true }],
      [{ "node.nodearray": "execute" }, { ncpus: 2 }],
    ),
    iterations: fc.integer({ min: 1, max: 12 }),
    "node-count": fc.integer({ min: 1, max: 3 }),
    placed: fc.constantFrom([{ hostname: "rack1", iterations: 1 }], [{ hostname: "ip-n1", iterations: 1 }]),
  },
  { requiredKeys: [] },
);

const messageOf = fc.record({
  schedulerNodes: hostsOf,
  jobs: fc.array(jobOf, { maxLength: 6 }).map((jobs) =>
    jobs.map((job, i) => ({
      name: `j${i}`,
      ...job,
      ...(job.placed === undefined ? {} : { iterations: 5 }),
    })),
  ),
});

const MODES = [
  { preference: "existing-first", among: "priority" },
  { preference: "existing-first", among: "cheapest" },
  { preference: "bucket-order", among: "priority" },
] as const;

const ncpusOf = (constraints: readonly object[] = []): number => {
  const [first = {}] = constraints.filter((one) => !("node.nodearray" in one));
  if ("or" in first) return 2;
  return "ncpus" in first && typeof first.ncpus === "number" ? first.ncpus : 0;
};

function decideWith(messages: readonly (readonly [string, Pushed])[], mode: (typeof MODES)[number]) {
  const cluster = buildSnapshot(buildNodes("n", 2, { machineType: D8 }), {
    arrays: [buildArray("execute", { buckets: [buildBucket(D8, 8, { availableCount: 3 })] })],
  });
  return decideOn(push(Object.fromEntries(messages)), cluster, { policy: mode }).plan;
}

test(
  "what is put on a host that only the scheduler knows fits there, and is of a set that reports it as open",
  () => {
    fc.assert(
      fc.property(fc.tuple(messageOf, messageOf, messageOf), fc.constantFrom(...MODES), (all, mode) => {
        const messages = SETS.map((set, i) => {
          const { jobs, schedulerNodes } = all[i] ?? all[0];
          const hosts = schedulerNodes.filter(() => set !== "none");
          return [set, { jobs, schedulerNodes: hosts }] as const;
        });
        const plan = decideWith(messages, mode);
        // The order of messages means nothing.
        expect(decideWith(messages.toReversed(), mode).demands).toEqual(plan.demands);
        for (const { nodeId, jobs } of plan.loads?.loads ?? []) {
          const hostname = nodeId === undefined ? undefined : schedulerHostname(nodeId);
          if (hostname === undefined) continue;
          // A host that CycleCloud does not know counts for each set as that set reports it.
          const taking = new Set<string>();
          let bound = 0;
          let added = 0;
          for (const [first, last, slots, isBound] of jobs)
            for (const { set, id } of plan.demands.slice(first, last + 1)) {
              const job = messages.find(([name]) => name === set)?.[1].jobs.find(({ name }) => name === id);
              if (isBound === 1) bound += slots * ncpusOf(job?.constraints);
              else {
                taking.add(set);
                added += slots * ncpusOf(job?.constraints);
              }
            }
          if (taking.size === 0) continue;
          const reports = messages.flatMap(([set, { schedulerNodes }]) =>
            taking.has(set) ? schedulerNodes.filter((host) => host.hostname === hostname) : [],
          );
          expect(reports).toHaveLength(1);
          const [{ state = "open", resources, available } = {}] = reports;
          expect(state).toBe("open");
          expect(resources ?? available).toBeDefined();
          const total = Math.max(0, (resources?.ncpus ?? 0) - bound);
          expect(added).toBeLessThanOrEqual(available?.ncpus ?? total);
        }
      }),
      runsOf(20_251_120, { usual: 25 }),
    );
  },
  TIMEOUT,
);
