import { describe, expect, test } from "vitest";
import type { SchedulerNode } from "../../../src/domain/demand.ts";
import { nodeId, setName } from "../../../src/domain/ids.ts";
import type { Outage } from "../../../src/domain/troubles.ts";
import { at, buildNodes, buildSnapshot, idleSince, NOW, rememberNodes } from "../../support/build-node.ts";
import { buildState } from "../../support/build-record.ts";
import { created, d4, decideOn, targetOf, verdicts } from "./reconcile-stage.ts";

describe("after an outage of our own", () => {
  const nodes = buildNodes("n", 2);
  const report = nodes.map(({ hostname = "" }): SchedulerNode => ({ hostname, jobs: [] }));
  const idle = rememberNodes(nodes, idleSince(at(-3000)));
  const fifteenMinutes = { lastGoodLookAt: at(-900) };
  const live = { report, intervalSeconds: 3600, sentAt: at(-1000) };
  const standard = setName("standard");
  const rest = (more: Partial<Outage> = {}): Outage => ({
    from: at(-900),
    to: NOW,
    until: at(300),
    awaiting: [standard],
    ...more,
  });

  test("of fifteen minutes, scale-down rests, awaits the sets that were live and starts the idle times again", () => {
    const state = buildState({ sets: targetOf(0, live), ledger: idle, record: fifteenMinutes });
    const decision = decideOn(state, buildSnapshot(nodes));
    expect(decision.record.outage).toEqual(rest());
    expect([...decision.ledger.values()].map(({ busyness }) => busyness)).toEqual([
      { state: "idle", since: NOW },
      { state: "idle", since: NOW },
    ]);
    expect(verdicts(decision)["n1"]).toEqual({ kind: "resting", until: at(300) });
  });

  test.each([
    {
      name: "two intervals without an observation are none",
      record: { lastGoodLookAt: at(-120) },
      outage: undefined,
    },
    {
      name: "a moment more is one",
      record: { lastGoodLookAt: at(-120.001) },
      outage: rest({ from: at(-120.001) }),
    },
    {
      name: "a new record is one that lasts its full time: we know nothing",
      record: { lastGoodLookAt: undefined },
      outage: rest({ from: NOW }),
    },
  ])("$name", ({ record, outage }) => {
    const { record: base, bodies } = buildState({ sets: targetOf(0, live), ledger: idle });
    const { lastGoodLookAt: _replaced, ...blank } = base;
    const began =
      record.lastGoodLookAt === undefined ? blank : { ...base, lastGoodLookAt: record.lastGoodLookAt };
    expect(decideOn({ record: began, bodies }, buildSnapshot(nodes)).record.outage).toEqual(outage);
  });

  test("a set that was pushed during the outage is not awaited", () => {
    const sets = {
      standard: { sentAt: at(-100), intervalSeconds: 3600 },
      old: { sentAt: at(-900), intervalSeconds: 3600 },
    };
    const state = buildState({ sets, record: fifteenMinutes });
    expect(decideOn(state, buildSnapshot()).record.outage).toEqual(rest({ awaiting: [setName("old")] }));
  });

  const resting = { outage: rest(), lastGoodLookAt: at(60) };
  test.each([
    { name: "nothing pushed, four minutes later: it rests", sentAt: at(-1000), now: at(100), outage: rest() },
    { name: "pushed again: it ends", sentAt: at(90), now: at(100), outage: undefined },
    {
      name: "nothing pushed, five minutes later: it ends",
      sentAt: at(-1000),
      now: at(300),
      outage: undefined,
      seenAt: at(290),
    },
  ])("$name", ({ sentAt, now, outage, seenAt = at(60) }) => {
    const state = buildState({
      sets: targetOf(0, { ...live, sentAt }),
      ledger: idle,
      record: { ...resting, lastGoodLookAt: seenAt },
    });
    expect(decideOn(state, buildSnapshot(nodes), { now }).record.outage).toEqual(outage);
  });

  test("of two awaited sets one was pushed: it rests for the other", () => {
    const sets = { standard: { ...live, sentAt: at(90) }, other: { ...live, sentAt: at(-1000) } };
    const outage = rest({ awaiting: [standard, setName("other")] });
    const state = buildState({ sets, record: { outage, lastGoodLookAt: at(60) } });
    const decision = decideOn(state, buildSnapshot(), { now: at(100) });
    expect(decision.record.outage).toEqual(rest({ awaiting: [setName("other")] }));
  });

  test("a new record with no set at all rests its full time", () => {
    const outage = rest({ from: NOW, awaiting: [] });
    const state = buildState({ record: { outage, lastGoodLookAt: at(60) } });
    expect(decideOn(state, buildSnapshot(), { now: at(100) }).record.outage).toEqual(outage);
  });

  test("only the first observation starts the clocks again", () => {
    const ledger = rememberNodes(nodes, idleSince(at(0)));
    const state = buildState({ sets: targetOf(0, live), ledger, record: resting });
    const decision = decideOn(state, buildSnapshot(nodes), { now: at(100) });
    expect(decision.ledger.get(nodeId("n1"))?.busyness).toEqual({ state: "idle", since: at(0) });
  });

  test("what is missing is created all the same", () => {
    const state = buildState({ sets: targetOf(5, live), ledger: idle, record: fifteenMinutes });
    expect(created(decideOn(state, buildSnapshot(nodes)))).toEqual([`3 ${d4}`]);
  });
});
