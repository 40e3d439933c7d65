import { describe, expect, test } from "vitest";
import type { Acceptance } from "../../../src/decide/record/accept.ts";
import { accept } from "../../../src/decide/record/accept.ts";
import type { RequestSetUpdate, SchedulerNode, SetDemand } from "../../../src/domain/demand.ts";
import { compareRevisions } from "../../../src/domain/demand.ts";
import { setName } from "../../../src/domain/ids.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { at, NOW } from "../../support/build-node.ts";
import { buildUpdate, EMPTY_RECORD } from "../../support/build-record.ts";

const standard = setName("standard");

/** Takes the messages in one after the other; what is not accepted leaves the record as it was. */
function acceptAll(updates: readonly RequestSetUpdate[], now: Instant = NOW): ClusterRecord {
  return updates.reduce((record, update) => {
    const outcome = accept(record, update, now);
    return outcome.kind === "accepted" ? outcome.record : record;
  }, EMPTY_RECORD);
}

/** What became of the last of several messages. */
function acceptLast(updates: readonly RequestSetUpdate[], now: Instant = NOW): Acceptance {
  const last = updates.at(-1);
  if (last === undefined) throw new RangeError("a scenario has at least one message");
  return accept(acceptAll(updates.slice(0, -1), now), last, now);
}

const ASKS_NOTHING: SetDemand = { demands: [], pools: [], rejectedJobs: [] };

const summary = (outcome: Acceptance) =>
  outcome.kind === "accepted" ? { kind: outcome.kind, changed: outcome.changed } : outcome;

describe("which message is in force", () => {
  test.each([
    {
      name: "the first of a set",
      updates: [buildUpdate(4)],
      outcome: { kind: "accepted", changed: true },
      inForce: "target-4",
      generation: 1,
    },
    {
      name: "a later revision replaces an earlier one whole",
      updates: [buildUpdate(4, { revisionValue: 100 }), buildUpdate(2, { revisionValue: 101 })],
      outcome: { kind: "accepted", changed: true },
      inForce: "target-2",
      generation: 2,
    },
    {
      name: "an earlier revision that arrives late changes nothing",
      updates: [buildUpdate(2, { revisionValue: 101 }), buildUpdate(4, { revisionValue: 100 })],
      outcome: { kind: "older", held: { value: 101, tieBreak: "" } },
      inForce: "target-2",
      generation: 1,
    },
    {
      name: "two messages of one queue second: the larger message id is the newer",
      updates: [
        buildUpdate(4, { revisionValue: 100, tieBreak: "a" }),
        buildUpdate(2, { revisionValue: 100, tieBreak: "b" }),
      ],
      outcome: { kind: "accepted", changed: true },
      inForce: "target-2",
      generation: 2,
    },
    {
      name: "the same two, delivered the other way round",
      updates: [
        buildUpdate(2, { revisionValue: 100, tieBreak: "b" }),
        buildUpdate(4, { revisionValue: 100, tieBreak: "a" }),
      ],
      outcome: { kind: "older", held: { value: 100, tieBreak: "b" } },
      inForce: "target-2",
      generation: 1,
    },
    {
      name: "one explicit revision for two demands: the larger digest wins",
      updates: [buildUpdate(4, { revisionValue: 100 }), buildUpdate(7, { revisionValue: 100 })],
      outcome: { kind: "accepted", changed: true },
      inForce: "target-7",
      generation: 2,
    },
    {
      name: "the same two, delivered the other way round",
      updates: [buildUpdate(7, { revisionValue: 100 }), buildUpdate(4, { revisionValue: 100 })],
      outcome: { kind: "older", held: { value: 100, tieBreak: "" } },
      inForce: "target-7",
      generation: 1,
    },
    {
      name: "the same message twice is accepted twice and counts once",
      updates: [buildUpdate(4), buildUpdate(4)],
      outcome: { kind: "accepted", changed: false },
      inForce: "target-4",
      generation: 1,
    },
    {
      name: "a renewal of the same demand does not move the generation",
      updates: [
        buildUpdate(4, { revisionValue: 100 }),
        buildUpdate(4, { revisionValue: 101, sentAt: at(0), expiresAt: at(600) }),
      ],
      outcome: { kind: "accepted", changed: false },
      inForce: "target-4",
      generation: 1,
    },
    {
      name: "a changed report alone does not move the generation",
      updates: [
        buildUpdate(4, { revisionValue: 100, schedulerNodes: [{ hostname: "ip-a", jobs: ["1"] }] }),
        buildUpdate(4, { revisionValue: 101, schedulerNodes: [{ hostname: "ip-a", jobs: [] }] }),
      ],
      outcome: { kind: "accepted", changed: false },
      inForce: "target-4",
      generation: 1,
    },
    {
      name: "a new set that asks for nothing needs no plan",
      updates: [buildUpdate(4), buildUpdate(0, { set: setName("other"), demand: ASKS_NOTHING })],
      outcome: { kind: "accepted", changed: false },
      inForce: "target-4",
      generation: 1,
    },
    {
      name: "a message past its expiry is stale, whatever its revision",
      updates: [
        buildUpdate(4, { revisionValue: 100 }),
        buildUpdate(9, { revisionValue: 200, expiresAt: at(0) }),
      ],
      outcome: { kind: "stale", expiredAt: at(0) },
      inForce: "target-4",
      generation: 1,
    },
  ])("$name", ({ updates, outcome, inForce, generation }) => {
    expect(summary(acceptLast(updates))).toEqual(outcome);
    const record = acceptAll(updates);
    expect(record.sets.get(standard)?.digest).toBe(inForce);
    expect(record.generation).toBe(generation);
  });

  test("a set that lapsed and then asks for nothing needs a plan, if none has noticed that it lapsed", () => {
    const lapsed = acceptAll([buildUpdate(4, { expiresAt: at(10) })]);
    const empty = buildUpdate(0, { revisionValue: NOW + 1, demand: ASKS_NOTHING, expiresAt: at(300) });
    expect(summary(accept(lapsed, empty, at(20)))).toEqual({ kind: "accepted", changed: true });
  });

  test("a renewal moves revision, times and report", () => {
    const report: readonly SchedulerNode[] = [{ hostname: "ip-a", jobs: [] }];
    const record = acceptAll([
      buildUpdate(4, { revisionValue: 100, sentAt: at(-200), expiresAt: at(100) }),
      buildUpdate(4, {
        revisionValue: 101,
        sentAt: at(-1),
        expiresAt: at(599),
        intervalSeconds: 600,
        schedulerNodes: report,
      }),
    ]);
    expect(record.sets.get(standard)).toEqual({
      revision: { value: 101, tieBreak: "" },
      intervalSeconds: 600,
      sentAt: at(-1),
      acceptedAt: NOW,
      expiresAt: at(599),
      digest: "target-4",
      live: true,
      // The first half of the SHA-256 of [{"hostname":"ip-a","jobs":[]}].
      report: "cbde467f59b3a0ca0bbcb1fe90dcd249",
      // Of the demand 100, as its reader says, and of that text 31. A target takes 800 bytes and its id 14, a host 1,200 and its name 8.
      size: { jobs: 0, bytes: 131, memory: 2172 },
    });
  });

  test("a renewal without a report takes the report back", () => {
    const record = acceptAll([
      buildUpdate(4, { revisionValue: 100, schedulerNodes: [{ hostname: "ip-a", jobs: [] }] }),
      buildUpdate(4, { revisionValue: 101 }),
    ]);
    expect(record.sets.get(standard)).not.toHaveProperty("report");
  });

  test("a set replaces itself only", () => {
    const other = setName("other");
    const record = acceptAll([buildUpdate(4), buildUpdate(9, { set: other, revisionValue: 1 })]);
    expect(record.sets.get(standard)?.digest).toBe("target-4");
    expect(record.sets.get(other)?.digest).toBe("target-9");
  });

  test("the bodies that a commit must write come with the acceptance, and none with a repetition", () => {
    const report: readonly SchedulerNode[] = [{ hostname: "ip-a", jobs: [] }];
    const update = buildUpdate(4, { schedulerNodes: report });
    const first = accept(EMPTY_RECORD, update, NOW);
    if (first.kind !== "accepted") throw new Error(`unexpected: ${first.kind}`);
    expect(first.demands).toEqual(new Map([["target-4", update.demand]]));
    expect([...first.reports.values()]).toEqual([report]);
    const again = accept(first.record, update, NOW);
    expect(again).toEqual({
      kind: "accepted",
      record: first.record,
      demands: new Map(),
      reports: new Map(),
      changed: false,
      taken: ["demand", "schedulerNodes"],
      older: [],
    });
  });
});

describe("one revision sent twice with one demand", () => {
  // A client that saw no answer sends again; over HTTP its times and its report are then newer, whatever arrives first.
  const early = buildUpdate(4, {
    revisionValue: 100,
    sentAt: at(-20),
    expiresAt: at(280),
    schedulerNodes: [{ hostname: "ip-a", jobs: ["1"] }],
  });
  const late = buildUpdate(4, {
    revisionValue: 100,
    sentAt: at(-10),
    expiresAt: at(290),
    schedulerNodes: [{ hostname: "ip-a", jobs: [] }],
  });

  test.each([
    { name: "in order", updates: [early, late] },
    { name: "the other way round", updates: [late, early] },
    { name: "each twice", updates: [early, late, late, early] },
  ])("$name: the times and the report of the one that lasts longer", ({ updates }) => {
    const record = acceptAll(updates);
    expect(record.sets.get(standard)).toMatchObject({
      sentAt: at(-10),
      expiresAt: at(290),
      report: "cbde467f59b3a0ca0bbcb1fe90dcd249",
    });
    expect(record.generation).toBe(1);
  });

  test.each([
    { name: "in order", updates: [buildUpdate(4, { expiresAt: at(900) }), buildUpdate(7)] },
    { name: "the other way round", updates: [buildUpdate(7), buildUpdate(4, { expiresAt: at(900) })] },
  ])("$name: a demand that wins by its digest brings its own expiry", ({ updates }) => {
    expect(acceptAll(updates).sets.get(standard)).toMatchObject({ digest: "target-7", expiresAt: at(300) });
  });

  test("two reports that differ in nothing but their hosts: the same one stays, whatever arrives first", () => {
    const one = buildUpdate(4, { schedulerNodes: [{ hostname: "ip-a", jobs: [] }] });
    const two = buildUpdate(4, { schedulerNodes: [{ hostname: "ip-b", jobs: [] }] });
    expect(acceptAll([one, two]).sets.get(standard)?.report).toBe(
      acceptAll([two, one]).sets.get(standard)?.report,
    );
  });
});

test.each([
  { name: "by value", a: { value: 1, tieBreak: "z" }, b: { value: 2, tieBreak: "a" }, sign: -1 },
  { name: "then by message id", a: { value: 1, tieBreak: "b" }, b: { value: 1, tieBreak: "a" }, sign: 1 },
  {
    name: "an explicit one before the queue's",
    a: { value: 1, tieBreak: "" },
    b: { value: 1, tieBreak: "a" },
    sign: -1,
  },
  { name: "equal", a: { value: 1, tieBreak: "a" }, b: { value: 1, tieBreak: "a" }, sign: 0 },
])("revisions are ordered $name", ({ a, b, sign }) => {
  expect(Math.sign(compareRevisions(a, b))).toBe(sign);
});
