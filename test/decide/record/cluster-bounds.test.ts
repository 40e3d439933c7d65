import { describe, expect, test } from "vitest";
import { accept } from "../../../src/decide/record/accept.ts";
import type { WholeUpdate } from "../../../src/domain/demand.ts";
import { digest, setName } from "../../../src/domain/ids.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { SetEntry } from "../../../src/domain/request-sets.ts";
import { at, NOW } from "../../support/build-node.ts";
import { SENDER_RULE } from "../../support/sender-rule.ts";
import { openRandomStream } from "../../../src/local/workload/random.ts";
import { HeldSizes } from "../../../src/decide/record/cluster-bounds.ts";
import { buildJob, buildPartial, buildUpdate, EMPTY_RECORD } from "../../support/build-record.ts";

/** What all sets of a cluster may hold together. */

const MIB = 1024 * 1024;

function entry(more: Partial<SetEntry> = {}): SetEntry {
  return {
    revision: { value: NOW - 60_000, tieBreak: "" },
    intervalSeconds: 300,
    sentAt: at(-60),
    acceptedAt: at(-60),
    expiresAt: at(240),
    digest: digest("held"),
    live: true,
    size: { jobs: 0, bytes: 10, memory: 40 },
    ...more,
  };
}

/** A record with a number of sets "held-0", "held-1" and so on. */
function holding(count: number, each: Partial<SetEntry> = {}): ClusterRecord {
  const names = Array.from({ length: count }, (_, index) => setName(`held-${index}`));
  return { ...EMPTY_RECORD, sets: new Map(names.map((name) => [name, entry(each)])) };
}

const outcome = (record: ClusterRecord, update: Parameters<typeof accept>[1], now = NOW): unknown => {
  const accepted = accept(record, update, now);
  return accepted.kind === "too-much" ? accepted.problem : accepted.kind;
};

const HOSTS = [{ hostname: "host-1", jobs: [] }];
const POOLS = [{ name: "licence-x", total: 1, used: 0 }];

const { constraints } = buildJob("any", 1);
/** As many as any test asks for. They share their constraints, as jobs that were read together do: what memory they need is not judged here. */
const JOBS = Array.from({ length: 200_001 }, (_, index) =>
  buildJob(`job-${index}`, 1, { position: index, constraints }),
);
const jobs = (count: number) => JOBS.slice(0, count);
const asking = (set: string, count: number, more: Partial<WholeUpdate> = {}) =>
  buildUpdate(1, {
    set: setName(set),
    digest: digest(`${set}-${count}`),
    demand: { demands: jobs(count), pools: [], rejectedJobs: [] },
    ...more,
  });

describe("5,000 live sets", () => {
  const full = holding(5000);
  const problem = {
    path: "",
    found: "5001 live request sets with this message",
    expected: "at most 5000 live request sets in a cluster; a set that lapses or is deleted makes room",
  };

  test("the last one fits", () => {
    expect(outcome(holding(4999), asking("new", 1))).toBe("accepted");
  });

  test.each([
    { name: "demand", update: asking("new", 1) },
    { name: "a report alone", update: buildPartial({ set: setName("new"), schedulerNodes: HOSTS }) },
    { name: "pools alone", update: buildPartial({ set: setName("new"), pools: POOLS }) },
  ])("one more is refused: $name", ({ update }) => {
    expect(outcome(full, update)).toEqual(problem);
  });

  test("those that are there may be renewed, changed and deleted", () => {
    const renewal = asking("held-7", 1, { digest: digest("held") });
    expect(outcome(full, renewal)).toBe("accepted");
    expect(outcome(full, asking("held-7", 3))).toBe("accepted");
    expect(outcome(full, asking("held-7", 0, { ends: true }))).toBe("accepted");
    expect(outcome(full, buildPartial({ set: setName("held-7"), schedulerNodes: [] }))).toBe("accepted");
  });

  test("to delete a set that is not there needs no room", () => {
    expect(outcome(full, asking("never-was", 0, { ends: true }))).toBe("accepted");
  });

  test("those that have lapsed take no room, before and after they are marked so", () => {
    const sets = new Map(full.sets).set(setName("held-7"), entry({ live: false }));
    expect(outcome({ ...full, sets }, asking("new", 1))).toBe("accepted");
    expect(outcome(full, asking("new", 1, { expiresAt: at(600) }), at(240))).toBe("accepted");
    expect(outcome(full, asking("held-7", 1, { expiresAt: at(600) }), at(239))).toBe("accepted");
  });

  test("a set with parts of its own counts once", () => {
    const separateReports = new Map([[setName("held-7"), entry()]]);
    const separatePools = new Map([[setName("held-7"), entry()]]);
    expect(outcome({ ...holding(4999), separateReports, separatePools }, asking("new", 1))).toBe("accepted");
    const others = new Map([[setName("reports-only"), entry()]]);
    expect(outcome({ ...holding(4999), separateReports: others }, asking("new", 1))).toEqual(problem);
  });
});

describe("200,000 jobs", () => {
  const record = holding(2, { size: { jobs: 90_000, bytes: 10, memory: 40 } });

  test("as many fit, and one more does not", () => {
    expect(outcome(record, asking("new", 20_000))).toBe("accepted");
    expect(outcome(record, asking("new", 20_001))).toEqual({
      path: "",
      found: "200001 jobs with this message",
      expected: "at most 200000 jobs in a cluster; a set that lapses or is deleted makes room",
    });
  });

  test("what a set held before makes room for what it asks for now", () => {
    const third = new Map(record.sets).set(
      setName("third"),
      entry({ size: { jobs: 15_000, bytes: 10, memory: 40 } }),
    );
    const three = { ...record, sets: third };
    expect(outcome(three, asking("held-0", 95_000))).toBe("accepted");
    expect(outcome(three, asking("held-0", 95_001))).toMatchObject({
      found: "200001 jobs with this message",
    });
  });

  test("without rules for senders one set may hold half, however empty the cluster is", () => {
    expect(outcome(EMPTY_RECORD, asking("one", 100_000))).toBe("accepted");
    expect(outcome(EMPTY_RECORD, asking("one", 100_001))).toEqual({
      path: "",
      found: "100001 jobs of request set one with this message",
      expected:
        "at most 100000 jobs, half of what a cluster holds: without rules in senders no request set has more",
    });
  });

  test("a set that holds more than half since a rule that allowed it is renewed as it is, and may shrink", () => {
    const large = holding(1, { size: { jobs: 150_000, bytes: 100, memory: 400 } });
    expect(outcome(large, asking("held-0", 150_000, { digest: digest("held") }))).toBe("accepted");
    expect(outcome(large, asking("held-0", 149_999))).toBe("accepted");
    expect(outcome(large, asking("held-0", 150_001))).toMatchObject({
      found: "150001 jobs of request set held-0 with this message",
    });
  });

  test("a set that asks for less passes, whatever the others hold", () => {
    const over = holding(3, { size: { jobs: 90_000, bytes: 10, memory: 40 } });
    expect(outcome(over, asking("held-0", 80_000))).toBe("accepted");
    expect(outcome(over, asking("held-0", 90_001))).toMatchObject({ found: "270001 jobs with this message" });
  });
});

describe("128 MiB of demand", () => {
  const record = holding(2, { size: { jobs: 0, bytes: 40 * MIB, memory: 160 * MIB } });

  test("as much fits, and a byte more does not", () => {
    expect(outcome(record, asking("new", 1, { bytes: 48 * MIB }))).toBe("accepted");
    expect(outcome(record, asking("new", 1, { bytes: 48 * MIB + 1 }))).toEqual({
      path: "",
      found: "128.1 MiB of demand as JSON with this message",
      expected: "at most 128 MiB of demand as JSON in a cluster; a set that lapses or is deleted makes room",
    });
  });

  test("hosts count with the demand that they came with, and alone", () => {
    // {"hostname":"h0000000","jobs":["..."]} and its comma are 36 bytes and the name of the job: 50 KiB. 1,024 are 50 MiB.
    const schedulerNodes = Array.from({ length: 1024 }, (_, index) => ({
      hostname: `h${String(index).padStart(7, "0")}`,
      jobs: ["j".repeat(51_164)],
    }));
    const found = "130.1 MiB of demand as JSON with this message";
    expect(outcome(record, asking("new", 0, { bytes: 0, schedulerNodes }))).toMatchObject({ found });
    expect(outcome(record, buildPartial({ set: setName("new"), schedulerNodes }))).toMatchObject({ found });
  });
});

test("of messages that are accepted one after the other, each counts what those before it hold", () => {
  const senders = ["a*", "b*"].map((set) => ({ ...SENDER_RULE, requestSets: [set] }));
  const random = openRandomStream(7);
  const pick = (count: number): number => Math.floor(random.uniform() * count);
  const updates = Array.from({ length: 60 }, (_, index) => {
    const set = `${["a", "b", "c"][pick(3)] ?? ""}-${pick(4)}`;
    const count = [0, 20_000, 45_000, 90_000][pick(4)] ?? 0;
    const revision = { value: NOW + index, tieBreak: "" };
    return asking(set, count, { revision, ...(pick(5) === 0 ? { ends: true as const } : {}) });
  });
  const play = (isCountedOnce: boolean) => {
    let record: ClusterRecord = EMPTY_RECORD;
    const sizes = isCountedOnce ? new HeldSizes(NOW, senders, () => record) : undefined;
    return updates.map((update) => {
      const accepted = accept(record, update, NOW, { senders, sizes });
      if (accepted.kind === "accepted") ({ record } = accepted);
      return accepted.kind === "too-much" ? accepted.problem.found : accepted.kind;
    });
  };
  const each = play(false);
  expect(new Set(each).size).toBeGreaterThan(5);
  expect(play(true)).toEqual(each);
});
