import { describe, expect, test } from "vitest";
import type { Acceptance } from "../../../src/decide/record/accept.ts";
import { accept } from "../../../src/decide/record/accept.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { Pool, RequestSetUpdate, SchedulerNode } from "../../../src/domain/demand.ts";
import { setName } from "../../../src/domain/ids.ts";
import type { Bodies } from "../../../src/domain/bodies.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { at, buildSnapshot, NOW } from "../../support/build-node.ts";
import { buildPartial, buildTarget, buildUpdate, EMPTY_RECORD, OURS } from "../../support/build-record.ts";
import { poolsInForce } from "../../../src/decide/senders/owned-pools.ts";
import { hostFacts } from "../../../src/decide/senders/host-facts.ts";
import { lapseParts } from "../../../src/decide/record/lapse.ts";

/** Demand, report and pools of a set, joined separately. */

const standard = setName("standard");
const DAY = 86_400;
const host = (hostname: string): readonly SchedulerNode[] => [{ hostname, jobs: [] }];
const licences = (total: number): readonly Pool[] => [{ name: "licence", total, used: 0 }];

/** A message with demand: a target of this many nodes. */
const whole = (
  revisionValue: number,
  count: number,
  { hosts, pools = [] }: { readonly hosts?: readonly SchedulerNode[]; readonly pools?: readonly Pool[] } = {},
) =>
  buildUpdate(count, {
    revisionValue,
    demand: { demands: [buildTarget(count)], pools, rejectedJobs: [] },
    ...(hosts === undefined ? {} : { schedulerNodes: hosts }),
  });
const report = (revisionValue: number, hosts: readonly SchedulerNode[]) =>
  buildPartial({ schedulerNodes: hosts }, { revisionValue });
const pools = (revisionValue: number, list: readonly Pool[]) =>
  buildPartial({ pools: list }, { revisionValue });

interface State {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
  readonly last: Acceptance | undefined;
}

function take(updates: readonly RequestSetUpdate[], now: Instant = NOW): State {
  const start: State = {
    record: EMPTY_RECORD,
    bodies: { demands: new Map(), reports: new Map(), ledger: new Map() },
    last: undefined,
  };
  return updates.reduce(({ record, bodies }, update): State => {
    const last = accept(record, update, now);
    if (last.kind !== "accepted") return { record, bodies, last };
    const demands = new Map([...bodies.demands, ...last.demands]);
    const reports = new Map([...bodies.reports, ...last.reports]);
    return { record: last.record, bodies: { ...bodies, demands, reports }, last };
  }, start);
}

/** What counts of the set "standard": its target, the hosts that are reported, the licences in its pool. */
function inForce({ record, bodies }: State, now: Instant = NOW) {
  const lapsed = lapseParts(record, now, DAY);
  const entry = lapsed.sets.get(standard);
  return {
    target: entry?.live === true ? entry.digest : undefined,
    hosts: [...hostFacts(lapsed, bodies, now).keys()],
    licences: poolsInForce(lapsed, bodies).map(({ total }) => total),
  };
}

describe("a message without demand", () => {
  test("changes what it has and leaves the demand as it is, with its times", () => {
    const before = take([whole(100, 4, { hosts: host("a"), pools: licences(2) })]);
    const after = take([
      whole(100, 4, { hosts: host("a"), pools: licences(2) }),
      { ...report(101, host("b")), expiresAt: at(900), intervalSeconds: 900 },
    ]);
    expect(inForce(after)).toEqual({ target: "target-4", hosts: ["b"], licences: [2] });
    expect(after.record.sets).toEqual(before.record.sets);
    expect(after.record.sets.get(standard)?.expiresAt).toBe(at(300));
  });

  test.each([
    {
      name: "a newer report replaces the one that came with the demand",
      updates: [whole(100, 4, { hosts: host("a") }), report(101, host("b"))],
      counts: { target: "target-4", hosts: ["b"], licences: [] },
      last: { kind: "accepted", taken: ["schedulerNodes"], older: [], changed: false },
    },
    {
      name: "an older report is older",
      updates: [whole(100, 4, { hosts: host("a") }), report(99, host("b"))],
      counts: { target: "target-4", hosts: ["a"], licences: [] },
      last: { kind: "older", held: { value: 100, tieBreak: "" } },
    },
    {
      name: "a demand that names no hosts takes an older report back",
      updates: [report(100, host("a")), whole(101, 4)],
      counts: { target: "target-4", hosts: [], licences: [] },
      last: { kind: "accepted", taken: ["demand"], older: [], changed: true },
    },
    {
      name: "a demand that arrives after a newer report leaves it",
      updates: [report(101, host("a")), whole(100, 4, { hosts: host("b") })],
      counts: { target: "target-4", hosts: ["a"], licences: [] },
      last: { kind: "accepted", taken: ["demand"], older: ["schedulerNodes"], changed: true },
    },
    {
      name: "at one revision the report that came by itself counts",
      updates: [report(100, host("a")), whole(100, 4, { hosts: host("b") })],
      counts: { target: "target-4", hosts: ["a"], licences: [] },
      last: { kind: "accepted", taken: ["demand"], older: ["schedulerNodes"], changed: true },
    },
    {
      name: "newer pools replace those that came with the demand, and a plan is due",
      updates: [whole(100, 4, { pools: licences(2) }), pools(101, licences(7))],
      counts: { target: "target-4", hosts: [], licences: [7] },
      last: { kind: "accepted", taken: ["pools"], older: [], changed: true },
    },
    {
      name: "the same pools again: no plan is due",
      updates: [whole(100, 4), pools(101, licences(7)), pools(102, licences(7))],
      counts: { target: "target-4", hosts: [], licences: [7] },
      last: { kind: "accepted", taken: ["pools"], older: [], changed: false },
    },
    {
      name: "a renewal of the demand takes older pools back, and a plan is due",
      updates: [whole(100, 4), pools(101, licences(7)), whole(102, 4)],
      counts: { target: "target-4", hosts: [], licences: [] },
      last: { kind: "accepted", taken: ["demand"], older: [], changed: true },
    },
    {
      name: "a demand with the very pools that are held: a mere renewal",
      updates: [whole(100, 4), pools(101, licences(7)), whole(102, 4, { pools: licences(7) })],
      counts: { target: "target-4", hosts: [], licences: [7] },
      last: { kind: "accepted", taken: ["demand", "pools"], older: [], changed: false },
    },
    {
      name: "of a report and pools one is newer and one is older",
      updates: [
        whole(100, 4),
        pools(103, licences(7)),
        buildPartial({ schedulerNodes: host("a"), pools: licences(9) }, { revisionValue: 102 }),
      ],
      counts: { target: "target-4", hosts: ["a"], licences: [7] },
      last: { kind: "accepted", taken: ["schedulerNodes"], older: ["pools"], changed: false },
    },
    {
      name: "a set that only reports asks for nothing",
      updates: [report(100, host("a"))],
      counts: { target: undefined, hosts: ["a"], licences: [] },
      last: { kind: "accepted", taken: ["schedulerNodes"], older: [], changed: false },
    },
    {
      name: "a report twice counts once",
      updates: [report(100, host("a")), report(100, host("a"))],
      counts: { target: undefined, hosts: ["a"], licences: [] },
      last: { kind: "accepted", taken: ["schedulerNodes"], older: [], changed: false },
    },
    {
      name: "one revision for two reports: the one that lasts longer",
      updates: [{ ...report(100, host("a")), expiresAt: at(310) }, report(100, host("b"))],
      counts: { target: undefined, hosts: ["a"], licences: [] },
      last: { kind: "older", held: { value: 100, tieBreak: "" } },
    },
    {
      name: "an emptied set, as DELETE makes it, has no report and no pools",
      updates: [
        whole(100, 4, { hosts: host("a"), pools: licences(2) }),
        report(101, host("b")),
        pools(102, licences(7)),
        buildUpdate(0, { revisionValue: 103, demand: { demands: [], pools: [], rejectedJobs: [] } }),
      ],
      counts: { target: "target-0", hosts: [], licences: [] },
      last: { kind: "accepted", taken: ["demand"], older: [], changed: true },
    },
  ])("$name", ({ updates, counts, last }) => {
    const state = take(updates);
    expect(inForce(state)).toEqual(counts);
    expect(state.last).toMatchObject(last);
  });

  test("past its expiry is stale", () => {
    expect(take([{ ...report(100, host("a")), expiresAt: at(0) }]).last).toEqual({
      kind: "stale",
      expiredAt: at(0),
    });
  });
});

describe("the rest after an outage", () => {
  const away = { from: at(-400), to: at(-60), until: at(240), awaiting: [standard] };
  const before = {
    ...take([{ ...whole(100, 4), sentAt: at(-500), intervalSeconds: 3600, expiresAt: at(3100) }]).record,
    lastGoodLookAt: at(-30),
    outage: away,
  };
  const outageAfter = (update: RequestSetUpdate): unknown => {
    const accepted = accept(before, update, NOW);
    if (accepted.kind !== "accepted") throw new Error(accepted.kind);
    const observation = { snapshot: buildSnapshot(), requestNodes: new Map() };
    const bodies = { demands: accepted.demands, reports: accepted.reports, ledger: new Map() };
    return decide(accepted.record, bodies, observation, DEFAULT_POLICY, NOW, OURS).record.outage;
  };

  test("goes on after a report: it says nothing of what is needed", () => {
    expect(outageAfter(report(101, host("a")))).toEqual(away);
  });

  test("ends with the demand", () => {
    expect(outageAfter(whole(101, 4))).toBeUndefined();
  });
});

describe("each part lapses by itself", () => {
  const both = take([
    whole(100, 4, { hosts: host("a"), pools: licences(2) }),
    { ...report(101, host("b")), intervalSeconds: 60, expiresAt: at(60) },
    { ...pools(102, licences(7)), intervalSeconds: 600, expiresAt: at(600) },
  ]);

  test.each([
    { name: "all live", now: at(59), counts: { target: "target-4", hosts: ["b"], licences: [7] } },
    {
      name: "the report lapses first",
      now: at(60),
      counts: { target: "target-4", hosts: [], licences: [7] },
    },
    { name: "then the demand", now: at(300), counts: { target: undefined, hosts: [], licences: [7] } },
    { name: "then the pools", now: at(600), counts: { target: undefined, hosts: [], licences: [] } },
  ])("$name", ({ now, counts }) => {
    expect(inForce(both, now)).toEqual(counts);
  });

  test("a report outlives the demand, and does not renew it", () => {
    const state = take([
      whole(100, 4),
      { ...report(101, host("b")), intervalSeconds: 600, expiresAt: at(600) },
    ]);
    expect(inForce(state, at(400))).toEqual({ target: undefined, hosts: ["b"], licences: [] });
  });

  test("a lapsed report keeps its revision for a day, and is forgotten then", () => {
    const lapsed = lapseParts(both.record, at(60), DAY);
    expect(accept(lapsed, report(100, host("c")), at(61)).kind).toBe("older");
    expect(lapseParts(both.record, at(60 + DAY + 299.999), DAY).separateReports.size).toBe(1);
    expect(lapseParts(both.record, at(60 + DAY + 300), DAY).separateReports.size).toBe(0);
  });
});
