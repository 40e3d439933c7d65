import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { describeState } from "../../../src/app/describe/describe-cluster.ts";
import { readPage } from "../../../src/app/describe/pages.ts";
import type { Bodies } from "../../../src/domain/bodies.ts";
import type { RejectedJob, SchedulerNode, SetDemand } from "../../../src/domain/demand.ts";
import { setName } from "../../../src/domain/ids.ts";
import type { DemandOutcome } from "../../../src/domain/plan.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Reason } from "../../../src/domain/reason.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import { IS_DEEP } from "../../property/runs.ts";
import { buildNodes, buildSnapshot, NOW, rememberNodes } from "../../support/build-node.ts";
import { BUCKET, buildJob, buildState } from "../../support/build-record.ts";

/** The state of the largest cluster that the doors let in (in `npm test` with fewer jobs): each page stays below 2 MiB, and all is on some page. */

const TWO_MIB = 2 * 1024 * 1024;
const SETS = 5000;
/** With 40, as in `npm run test:deep`, they are all that a cluster may hold. */
const JOBS_OF_SET = IS_DEEP ? 40 : 8;
const NODES = 20_000;
const long = (name: string): string => name.padEnd(200, "x");

const problem = { path: "p".repeat(200), found: "f".repeat(80), expected: "e".repeat(300) };
const rejectedJobs = Array.from({ length: 100 }, (_, i): RejectedJob => ({
  name: long(`j${i}`),
  problems: Array.from({ length: 100 }, () => problem),
}));
const why: Reason = { code: "bucket-invalid", bucket: BUCKET, why: "w".repeat(4000) };
const names = Array.from({ length: SETS }, (_, i) => long(`set-${i}`));

let record: ClusterRecord;
let bodies: Bodies;

beforeAll(() => {
  const nodes = buildNodes("n", NODES, { statusMessage: "m".repeat(300) });
  const jobs = Array.from({ length: JOBS_OF_SET }, (_, i) => buildJob(`job-${i}`, 1));
  const resources = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`r${i}`, i]));
  const report = Array.from({ length: 10 }, (_, i): SchedulerNode => ({
    hostname: `rack-${i}`,
    state: "open",
    jobs: [],
    resources,
    available: resources,
  }));
  const sets = Object.fromEntries(names.map((name) => [name, { demands: jobs, digest: "all" }]));
  const state = buildState({
    sets: { ...sets, [names[0] ?? ""]: { demands: jobs, digest: "all", report } },
    ledger: rememberNodes(nodes),
    seen: buildSnapshot(nodes),
  });
  const demand: SetDemand = { demands: jobs, pools: [], rejectedJobs };
  const demands = names.flatMap((set) =>
    jobs.map(({ id }): DemandOutcome => ({
      set: setName(set),
      id,
      kind: "job",
      unit: "slots",
      asked: 1,
      placed: 0,
      pending: 0,
      reasons: [why, why, why],
    })),
  );
  record = state.record;
  bodies = {
    ...state.bodies,
    demands: new Map([...state.bodies.demands.keys()].map((digest) => [digest, demand])),
    plan: {
      number: 7,
      at: NOW,
      creates: [],
      terminates: nodes.map(({ nodeId }) => nodeId),
      demands,
      nodes: new Map(),
    },
  };
});

const pageSchema = z.object({
  demand: z.array(z.object({ requestSet: z.string(), moreRejectedJobs: z.number() })),
  nodes: z.object({ count: z.number(), list: z.array(z.object({ name: z.string() })) }),
  plan: z.object({ unmetCount: z.number(), unmet: z.array(z.unknown()), terminates: z.array(z.string()) }),
  outcomes: z.array(z.unknown()),
  pages: z.array(z.object({ list: z.string(), from: z.number(), shown: z.number(), count: z.number() })),
  next: z.string().optional(),
});

function page(next?: string) {
  const start = next === undefined ? undefined : readPage(next);
  const text = JSON.stringify(describeState(record, bodies, DEFAULT_POLICY, NOW, NOW, undefined, start));
  return { bytes: Buffer.byteLength(text), ...pageSchema.parse(JSON.parse(text)) };
}

test("each page is below 2 MiB, goes on where the one before ended, and says how many there are", () => {
  const first = page();
  const second = page(first.next);
  expect(first.bytes).toBeLessThan(TWO_MIB);
  expect(second.bytes).toBeLessThan(TWO_MIB);
  const counts = Object.fromEntries(first.pages.map(({ list, count }) => [list, count]));
  expect(counts).toMatchObject({
    demand: 5000,
    "nodes.list": 20_000,
    outcomes: SETS * JOBS_OF_SET,
    "plan.unmet": SETS * JOBS_OF_SET,
    "plan.terminates": 20_000,
  });
  const shown = [first, second].flatMap(({ nodes }) => nodes.list.map(({ name }) => name));
  expect(shown).toEqual(Array.from({ length: shown.length }, (_, i) => `execute-n${i + 1}`));
  expect(shown.length).toBeGreaterThan(first.nodes.list.length);
  expect(first.outcomes.length).toBeGreaterThan(10);
  // 100 were listed: what is not shown of them is counted.
  const { moreRejectedJobs = 0 } = first.demand[0] ?? {};
  expect(moreRejectedJobs).toBeGreaterThan(90);
});

test("the last page has no next", () => {
  const last = page(`nodes.list:${NODES - 3}`);
  expect(last.nodes.list).toHaveLength(3);
  expect([last.demand, last.outcomes, last.plan.unmet]).toEqual([[], [], []]);
  expect(last.pages).toEqual([{ list: "nodes.list", from: NODES - 3, shown: 3, count: NODES }]);
  expect(last.next).toBeUndefined();
});
