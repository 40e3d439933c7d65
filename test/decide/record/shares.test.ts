import { describe, expect, test } from "vitest";
import { accept } from "../../../src/decide/record/accept.ts";
import type { RequestSetUpdate, WholeUpdate } from "../../../src/domain/demand.ts";
import { digest, setName } from "../../../src/domain/ids.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { SetEntry } from "../../../src/domain/request-sets.ts";
import type { SenderRule, SenderRules } from "../../../src/domain/sender-rules.ts";
import { at, NOW } from "../../support/build-node.ts";
import { buildJob, buildPartial, buildUpdate, EMPTY_RECORD } from "../../support/build-record.ts";

/** What one sender leaves to the others of the bounds of a cluster: 5,000 live sets, 200,000 jobs, 64 MiB. */

const MIB = 1024 * 1024;

const rule = (requestSets: string, more: Partial<SenderRule> = {}): SenderRule => ({
  requestSets: [requestSets],
  write: true,
  hosts: true,
  pools: true,
  dynamicArrays: true,
  attributes: [],
  ...more,
});

/** Sets of evil, each with this size. */
function held(sets: Readonly<Record<string, Partial<SetEntry["size"]>>>): ClusterRecord {
  const entryOf = (size: Partial<SetEntry["size"]>): SetEntry => ({
    revision: { value: NOW - 60_000, tieBreak: "" },
    intervalSeconds: 300,
    sentAt: at(-60),
    acceptedAt: at(-60),
    expiresAt: at(240),
    digest: digest("held"),
    live: true,
    size: { jobs: 0, bytes: 10, memory: 4 * (size?.bytes ?? 10), ...size },
  });
  return {
    ...EMPTY_RECORD,
    sets: new Map(Object.entries(sets).map(([name, size]) => [setName(name), entryOf(size)])),
  };
}

const { constraints } = buildJob("any", 1);
/** As many as any test asks for. They share their constraints, as jobs that were read together do: what memory they need is not judged here. */
const JOBS = Array.from({ length: 200_001 }, (_, index) =>
  buildJob(`job-${index}`, 1, { position: index, constraints }),
);

const asking = (set: string, count: number, more: Partial<WholeUpdate> = {}) =>
  buildUpdate(1, {
    set: setName(set),
    digest: digest(`${set}-${count}`),
    demand: {
      demands: JOBS.slice(0, count),
      pools: [],
      rejectedJobs: [],
    },
    ...more,
  });
/** A message that asks for nothing. */
const empty = (set: string) => asking(set, 0);

const outcome = (record: ClusterRecord, update: RequestSetUpdate, senders: SenderRules): unknown => {
  const accepted = accept(record, update, NOW, { senders });
  return accepted.kind === "too-much" ? accepted.problem : accepted.kind;
};

const names = (prefix: string, count: number, size: Partial<SetEntry["size"]> = {}) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}-${index}`, size]));

describe("two rules: a quarter of each bound is of each of them alone, and half is for both", () => {
  const rules = [rule("evil*"), rule("pbs*")];

  test("a sender takes its share and the pot, and is told how much of it is its own", () => {
    expect(outcome(EMPTY_RECORD, asking("evil", 150_000), rules)).toBe("accepted");
    expect(outcome(EMPTY_RECORD, asking("evil", 150_001), rules)).toEqual({
      path: "",
      found: "150001 jobs of the rule for evil* with this message",
      expected:
        "at most 150000 jobs: of the 200000 jobs of a cluster 50000 is its own share, and of the 100000 that all share 100000 are free; a set of it that lapses or is deleted makes room",
    });
  });

  test("whatever one sender holds, the other has its share", () => {
    const full = held({ evil: { jobs: 150_000 } });
    expect(outcome(full, asking("pbs", 50_000), rules)).toBe("accepted");
    expect(outcome(full, asking("pbs", 50_001), rules)).toMatchObject({
      found: "50001 jobs of the rule for pbs* with this message",
      expected: expect.stringContaining(
        "50000 is its own share, and of the 100000 that all share 0 are free",
      ),
    });
  });

  test("sets of one rule share what is its own", () => {
    const both = held({ "evil-1": { jobs: 100_000 }, "evil-2": { jobs: 50_000 } });
    expect(outcome(both, asking("evil-3", 1), rules)).toMatchObject({
      found: "150001 jobs of the rule for evil* with this message",
    });
  });

  test("live sets: 3,750 of 5,000, and 1,250 are left for the other", () => {
    const evil = names("evil", 3750);
    expect(outcome(held(evil), asking("evil-more", 1), rules)).toMatchObject({
      found: "3751 live request sets of the rule for evil* with this message",
    });
    expect(outcome(held({ ...evil, ...names("pbs", 1249) }), asking("pbs", 1), rules)).toBe("accepted");
    expect(outcome(held({ ...evil, ...names("pbs", 1250) }), asking("pbs", 1), rules)).toMatchObject({
      found: "1251 live request sets of the rule for pbs* with this message",
    });
  });

  test("bytes: 96 of 128 MiB", () => {
    const evil = asking("evil", 1, { bytes: 96 * MIB });
    expect(outcome(EMPTY_RECORD, evil, rules)).toBe("accepted");
    expect(outcome(EMPTY_RECORD, { ...evil, bytes: 96 * MIB + 1 }, rules)).toMatchObject({
      found: "96.1 MiB of demand as JSON of the rule for evil* with this message",
      expected: expect.stringContaining(
        "at most 96 MiB of demand as JSON: of the 128 MiB of demand as JSON of a cluster 32 MiB is its own share, and of the 64 MiB",
      ),
    });
  });

  test("a sender that held more before there were rules renews it as it is, and leaves the other its share", () => {
    const stored = held({ evil: { jobs: 200_000 } });
    expect(outcome(stored, asking("evil", 5, { digest: digest("held") }), rules)).toBe("accepted");
    expect(outcome(stored, asking("pbs", 50_000), rules)).toBe("accepted");
    expect(outcome(stored, asking("pbs", 50_001), rules)).not.toBe("accepted");
  });
});

describe("other lists of rules", () => {
  test("sets that no rule names have half together, and no share of their own", () => {
    const rules = [rule("pbs")];
    expect(outcome(EMPTY_RECORD, asking("other", 100_000), rules)).toBe("accepted");
    const two = held({ "other-1": { jobs: 60_000 }, "other-2": { jobs: 40_000 } });
    expect(outcome(two, asking("other-3", 1), rules)).toMatchObject({
      found: "100001 jobs of the request sets without a rule with this message",
      expected: expect.stringContaining(
        "nothing is its own share, and of the 100000 that all share 100000 are free",
      ),
    });
    expect(outcome(two, asking("pbs", 100_000), rules)).toBe("accepted");
  });

  test("a rule whose messages are refused has no share", () => {
    const rules = [rule("pbs"), rule("*", { write: false })];
    expect(outcome(EMPTY_RECORD, asking("pbs", 200_000), rules)).toBe("accepted");
  });

  test("one rule for all: one sender, which may hold everything", () => {
    expect(outcome(EMPTY_RECORD, asking("one", 200_000), [rule("*")])).toBe("accepted");
  });

  test("share: three parts of four, and one", () => {
    const rules = [rule("pbs", { share: 3 }), rule("lab")];
    expect(outcome(held({ lab: { jobs: 125_000 } }), asking("pbs", 75_000), rules)).toBe("accepted");
    expect(outcome(held({ pbs: { jobs: 175_000 } }), asking("lab", 25_000), rules)).toBe("accepted");
    expect(outcome(held({ pbs: { jobs: 175_000 } }), asking("lab", 25_001), rules)).toMatchObject({
      expected: expect.stringContaining("25000 is its own share"),
    });
  });

  test("share: 0 has the pot alone, and where all are 0 everything is the pot", () => {
    const none = [rule("pbs", { share: 0 }), rule("lab")];
    expect(outcome(EMPTY_RECORD, asking("pbs", 100_000), none)).toBe("accepted");
    expect(outcome(EMPTY_RECORD, asking("pbs", 100_001), none)).not.toBe("accepted");
    const all = [rule("pbs", { share: 0 }), rule("lab", { share: 0 })];
    expect(outcome(EMPTY_RECORD, asking("pbs", 200_000), all)).toBe("accepted");
  });
});

describe("sets that ask for nothing and report nothing", () => {
  /** As they are held: they use none of the other bounds. */
  const NOTHING = { jobs: 0, bytes: 0 };
  const rules = [rule("evil*"), rule("pbs*")];

  test("a thousand of them take no room from sets that ask for something", () => {
    const full = held(names("evil", 1000, NOTHING));
    expect(outcome(full, asking("pbs", 1), [])).toBe("accepted");
    expect(outcome(full, asking("pbs", 1), rules)).toBe("accepted");
  });

  test("have a bound of their own, with the same shares", () => {
    expect(outcome(held(names("evil", 999, NOTHING)), empty("evil"), [])).toBe("accepted");
    expect(outcome(held(names("evil", 1000, NOTHING)), empty("evil"), [])).toEqual({
      path: "",
      found: "1001 request sets that ask for nothing with this message",
      expected:
        "at most 1000 request sets that ask for nothing in a cluster; a set that lapses or is deleted makes room",
    });
    const evil = held(names("evil", 750, NOTHING));
    expect(outcome(evil, empty("evil"), rules)).toMatchObject({
      found: "751 request sets that ask for nothing of the rule for evil* with this message",
    });
    expect(outcome(evil, empty("pbs"), rules)).toBe("accepted");
  });

  test.each([
    { name: "no jobs", update: empty("idle") },
    { name: "no jobs and no hosts", update: { ...empty("idle"), schedulerNodes: [] } },
    { name: "no hosts", update: buildPartial({ set: setName("idle"), schedulerNodes: [] }) },
    { name: "no pools", update: buildPartial({ set: setName("idle"), pools: [] }) },
  ])("is one of them: $name", ({ update }) => {
    expect(outcome(held(names("live", 5000)), update, [])).toBe("accepted");
    expect(outcome(held(names("idle", 1000, NOTHING)), update, [])).not.toBe("accepted");
  });

  test.each([
    { name: "a job", update: asking("live", 1) },
    { name: "a host", update: { ...empty("live"), schedulerNodes: [{ hostname: "h1", jobs: [] }] } },
    { name: "a host alone", update: buildPartial({ schedulerNodes: [{ hostname: "h1", jobs: [] }] }) },
    { name: "a pool alone", update: buildPartial({ pools: [{ name: "p", total: 1, used: 0 }] }) },
    {
      name: "a job that could not be read",
      update: asking("live", 0, {
        demand: { demands: [], pools: [], rejectedJobs: [{ name: "j", problems: [] }] },
      }),
    },
  ])("is none of them: $name", ({ update }) => {
    expect(outcome(held(names("idle", 1000, NOTHING)), update, [])).toBe("accepted");
    expect(outcome(held(names("live", 5000)), update, [])).not.toBe("accepted");
  });

  test("a set that asked for something and now asks for nothing is never refused: where there is no room it ends", () => {
    const full = held({ ...names("idle", 1000, NOTHING), pbs: {} });
    const accepted = accept(full, empty("pbs"), NOW);
    if (accepted.kind !== "accepted") throw new Error(accepted.kind);
    expect(accepted.record.sets.get(setName("pbs"))).toMatchObject({
      live: false,
      ended: true,
      expiresAt: NOW,
    });
    expect(accepted.changed).toBe(true);
    const room = accept(held({ pbs: {} }), empty("pbs"), NOW);
    if (room.kind !== "accepted") throw new Error(room.kind);
    expect(room.record.sets.get(setName("pbs"))).toMatchObject({ live: true, size: { jobs: 0, bytes: 0 } });
  });

  test("so does a set whose last report was its last word, with all its parts", () => {
    const reporting = accept(
      held({ ...names("idle", 1001, NOTHING), pbs: NOTHING }),
      buildPartial({ set: setName("pbs"), schedulerNodes: [{ hostname: "h1", jobs: [] }] }),
      NOW,
    );
    if (reporting.kind !== "accepted") throw new Error(reporting.kind);
    const silent = accept(
      reporting.record,
      buildPartial({ set: setName("pbs"), schedulerNodes: [], revision: { value: NOW + 1, tieBreak: "" } }),
      NOW,
    );
    if (silent.kind !== "accepted") throw new Error(silent.kind);
    expect(silent.record.sets.get(setName("pbs"))?.live).toBe(false);
    expect(silent.record.separateReports.get(setName("pbs"))?.live).toBe(false);
  });
});
