import { describe, expect, test } from "vitest";
import { backOff, forgetOldBackoffs } from "../../../src/decide/intents/back-off.ts";
import { settle } from "../../../src/decide/intents/settle.ts";
import type { NodeId } from "../../../src/domain/ids.ts";
import { nodeId, placementGroup } from "../../../src/domain/ids.ts";
import type { ClusterRecord, Backoff } from "../../../src/domain/record.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { at, buildLedger, buildNode, NOW, rememberNode } from "../../support/build-node.ts";
import { BUCKET, buildIntent, EMPTY_RECORD } from "../../support/build-record.ts";
import type { Evidence, Settled } from "../../../src/decide/intents/evidence.ts";
import { R1, absent, never, stateOf } from "./settle-stage.ts";

describe("pauses of a bucket", () => {
  const pause = (seconds: number, until: Instant, cause: Backoff["cause"] = "refused"): Backoff => ({
    bucket: BUCKET,
    until,
    seconds,
    cause,
    message: "earlier",
  });

  test("double with each failure, up to half an hour", () => {
    let record: ClusterRecord = EMPTY_RECORD;
    let now = NOW;
    const lengths = Array.from({ length: 7 }, () => {
      record = backOff(record, BUCKET, "refused", "no", now);
      const [entry] = record.backoffs;
      now = entry?.until ?? now;
      return entry?.seconds;
    });
    expect(lengths).toEqual([60, 120, 240, 480, 960, 1800, 1800]);
  });

  test("a second failure of the same kind inside a pause does not lengthen it", () => {
    const record = { ...EMPTY_RECORD, backoffs: [pause(60, at(30))] };
    expect(backOff(record, BUCKET, "refused", "again", NOW)).toBe(record);
  });

  test.each([
    { name: "no longer than half an hour ago: the next failure doubles", until: at(-1799), kept: 1 },
    { name: "half an hour ago: forgotten", until: at(-1800), kept: 0 },
    { name: "not over yet", until: at(10), kept: 1 },
  ])("a pause that ended $name", ({ until, kept }) => {
    expect(forgetOldBackoffs([pause(960, until)], NOW)).toHaveLength(kept);
  });

  test("are of one bucket and one placement group", () => {
    const inGroup = { ...BUCKET, placementGroup: placementGroup("group-a") };
    const record = backOff({ ...EMPTY_RECORD, backoffs: [pause(60, at(30))] }, inGroup, "refused", "no", NOW);
    expect(record.backoffs.map(({ bucket, seconds }) => [bucket.placementGroup, seconds])).toEqual([
      [undefined, 60],
      ["group-a", 60],
    ]);
  });

  test.each([
    { name: "a refusal is forgotten", cause: "refused", kept: 0 },
    { name: "a shortfall is forgotten", cause: "fell-short", kept: 0 },
    { name: "that nodes did not boot stands: to be accepted is not to boot", cause: "boot-failed", kept: 1 },
    { name: "that nodes found themselves unfit stands", cause: "unhealthy", kept: 1 },
  ] as const)("when all that was asked for is accepted, $name", ({ cause, kept }) => {
    const state = stateOf([never], { backoffs: [pause(120, at(-5), cause)] });
    const settled = settle(state, R1, { kind: "accepted", sets: [{ added: 4 }] }, at(5));
    expect(settled.record.backoffs).toHaveLength(kept);
  });

  test("a shortfall after a shortfall pauses twice as long", () => {
    const state = stateOf([never], { backoffs: [pause(60, at(-5), "fell-short")] });
    const settled = settle(state, R1, { kind: "accepted", sets: [{ added: 1 }] }, at(0));
    expect(settled.record.backoffs).toMatchObject([{ seconds: 120, until: at(120), cause: "fell-short" }]);
  });
});

describe("a start is never replayed: whatever was learnt, its intent is gone, and its node says what is known", () => {
  const N1 = nodeId("n1");
  const known = rememberNode(buildNode("n1", { phase: "deallocated" }), {
    deallocated: true,
    start: { state: "unsure", since: NOW },
  });
  const intent = buildIntent("r-1", { effect: { kind: "start", bucket: BUCKET, nodes: [N1] } });
  const answer = (outcome: { ok: boolean; error?: string }, id: NodeId = N1): Evidence => ({
    kind: "started",
    nodes: new Map([[id, outcome]]),
  });
  const accepted = { start: { state: "accepted", since: at(5), plannedAt: NOW }, pauses: [] };
  const unsure = { start: { state: "unsure", since: at(5), plannedAt: NOW }, pauses: [] };
  const free = { start: undefined, pauses: [] };
  const refused = (message: string) => ({
    start: { state: "refused", since: at(5), plannedAt: NOW, until: at(905), message },
    pauses: [],
  });

  test.each<{ name: string; evidence: Evidence; outcome: object }>([
    { name: "accepted for the node", evidence: answer({ ok: true }), outcome: accepted },
    {
      name: "refused for the node: it rests, in CycleCloud's words, and others of its bucket are started and created",
      evidence: answer({ ok: false, error: "no such disk" }),
      outcome: refused("no such disk"),
    },
    {
      name: "refused for the node without a word",
      evidence: answer({ ok: false }),
      outcome: refused("CycleCloud refused to start it"),
    },
    {
      name: "the node is not in the answer",
      evidence: answer({ ok: true }, nodeId("n9")),
      outcome: refused("CycleCloud's answer to its start does not list it"),
    },
    {
      name: "refused altogether: creates would be, too, so its bucket is paused",
      evidence: { kind: "refused", message: "403" },
      outcome: { ...refused("403"), pauses: [["refused", 60, "execute-n1: 403"]] },
    },
    { name: "found: it took effect", evidence: { kind: "found" }, outcome: accepted },
    { name: "not sent: may be decided again at once", evidence: { kind: "not-sent" }, outcome: free },
    {
      name: "its owner is gone and CycleCloud does not know the id: decided again at once",
      evidence: absent("none"),
      outcome: free,
    },
    {
      name: "no answer, and not known yet: it may have had its effect",
      evidence: absent("no-answer"),
      outcome: unsure,
    },
    {
      name: "409, and not known yet: the words are kept until an observation shows",
      evidence: absent("conflict", "locked"),
      outcome: { start: { state: "unsure", since: at(5), plannedAt: NOW, message: "locked" }, pauses: [] },
    },
    { name: "nothing learnt", evidence: { kind: "unclear" }, outcome: unsure },
  ])("$name", ({ evidence, outcome }) => {
    const state: Settled = { record: stateOf([intent]).record, ledger: buildLedger([known]) };
    const settled = settle(state, R1, evidence, at(5));
    expect(settled.record.intents).toEqual([]);
    expect({
      start: settled.ledger.get(N1)?.start,
      pauses: settled.record.backoffs.map(({ cause, seconds, message }) => [cause, seconds, message]),
    }).toEqual(outcome);
  });

  test("each node by its own answer, without a pause for the bucket", () => {
    const nodes = ["n1", "n2", "n3"].map((id) => rememberNode(buildNode(id, { phase: "deallocated" })));
    const effect = { kind: "start", bucket: BUCKET, nodes: nodes.map((node) => node.nodeId) } as const;
    const state: Settled = {
      record: stateOf([buildIntent("r-1", { effect })]).record,
      ledger: buildLedger(nodes),
    };
    const results = new Map([
      [nodeId("n1"), { ok: true }],
      [nodeId("n2"), { ok: false, error: "no" }],
      [nodeId("n3"), { ok: false, error: "nor this" }],
    ]);
    const settled = settle(state, R1, { kind: "started", nodes: results }, at(5));
    expect([...settled.ledger.values()].map(({ start }) => start?.state)).toEqual([
      "accepted",
      "refused",
      "refused",
    ]);
    expect(settled.record.backoffs).toEqual([]);
  });
});
