import { describe, expect, test } from "vitest";
import { commitEffects, sendAlone, sendTogether } from "../../../src/decide/intents/create-requests.ts";
import { settle } from "../../../src/decide/intents/settle.ts";
import { arrayName, clusterName, epoch, placementGroup, requestId } from "../../../src/domain/ids.ts";
import type { CreateKind, CreateSet } from "../../../src/domain/intent.ts";
import { DEFAULT_CALL_BOUNDS } from "../../../src/domain/policy.ts";
import { at, D4, D8, EXECUTE, NOW } from "../../support/build-node.ts";
import { buildIntent, buildState, EMPTY_RECORD, OURS } from "../../support/build-record.ts";
import type { ClusterName, Epoch } from "../../../src/domain/ids.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { instant } from "../../../src/domain/units.ts";
import type { Evidence } from "../../../src/decide/intents/evidence.ts";

const lab = arrayName("lab");
const d4: CreateSet = { bucket: { array: EXECUTE, machineType: D4 }, count: 2, purpose: { kind: "array" } };
const d8: CreateSet = { ...d4, bucket: { array: EXECUTE, machineType: D8 } };
const inGroup: CreateSet = { ...d4, bucket: { ...d4.bucket, placementGroup: placementGroup("pg-1") } };
const ofLab: CreateSet = { ...d4, purpose: { kind: "dynamic", array: lab } };
const spot: CreateSet = { ...d4, attributes: { Interruptible: true } };

const requestsOf = (creates: readonly CreateSet[], alone: readonly CreateKind[]) =>
  commitEffects({ ...EMPTY_RECORD, alone }, { creates }, NOW, OURS, DEFAULT_CALL_BOUNDS).intents.map(
    ({ effect }) => effect.kind === "create" && effect.sets,
  );

describe("which sets share a request", () => {
  test.each([
    { name: "no sets: no request", sets: [], requests: [] },
    {
      name: "sets that differ in size, group or name share one",
      sets: [d4, d8, inGroup, ofLab],
      requests: [[d4, d8, inGroup, ofLab]],
    },
    {
      name: "sets whose nodes look alike in a list do not",
      sets: [d4, spot, d8],
      requests: [[d4, d8], [spot]],
    },
    {
      name: "machine types are the same in any letter case",
      sets: [d4, { ...spot, bucket: { ...d4.bucket, machineType: D4 } }],
      requests: [[d4], [spot]],
    },
  ])("$name", ({ sets, requests }) => {
    expect(requestsOf(sets, [])).toEqual(requests);
  });

  test("what must go alone goes after the others, each set in a request of its own", () => {
    const alone = [{ array: EXECUTE, machineType: D4 }];
    expect(requestsOf([inGroup, d4, d8, ofLab], alone)).toEqual([[d8, ofLab], [inGroup], [d4]]);
  });
});

describe("what goes alone", () => {
  test("by array, size and dynamic array, once, until it has been accepted", () => {
    const refused = sendAlone(sendAlone(EMPTY_RECORD, [d4, ofLab]), [d4, inGroup, d8]);
    expect(refused.alone).toEqual([
      { array: EXECUTE, machineType: D4 },
      { array: EXECUTE, machineType: D4, dynamic: lab },
      { array: EXECUTE, machineType: D8 },
    ]);
    const accepted = sendTogether(sendTogether(refused, [inGroup]), [ofLab]);
    expect(accepted.alone).toEqual([{ array: EXECUTE, machineType: D8 }]);
    expect(sendTogether(accepted, [d8])).toEqual(EMPTY_RECORD);
  });
});

describe("a request of two sets", () => {
  const R1 = requestId("r-1");
  const intent = buildIntent("r-1", { effect: { kind: "create", sets: [d4, d8] } });
  const settled = (evidence: Evidence) => {
    const { record, bodies } = buildState({ record: { intents: [intent] } });
    return settle({ record, ledger: bodies.ledger }, R1, evidence, at(5)).record;
  };
  const alone = [
    { array: EXECUTE, machineType: D4 },
    { array: EXECUTE, machineType: D8 },
  ];

  test("granted in part: each set by its own answer", () => {
    const record = settled({ kind: "accepted", sets: [{ added: 2 }, { added: 1, message: "quota" }] });
    expect(record.inFlight.map(({ bucket, added }) => [bucket.machineType, added])).toEqual([
      [D4, 2],
      [D8, 1],
    ]);
    expect(record.backoffs.map(({ bucket, message }) => [bucket.machineType, message])).toEqual([
      [D8, "2 asked, 1 added: quota"],
    ]);
    expect(record.alone).toBeUndefined();
  });

  test.each<{ name: string; evidence: Evidence }>([
    { name: "refused", evidence: { kind: "refused", message: "HTTP 400: no" } },
    {
      name: "certainly without effect",
      evidence: {
        kind: "absent",
        afterSend: "none",
        askedAt: at(210),
        held: { by: OURS, certainFrom: at(210) },
      },
    },
  ])("$name: any set may be why, so that no bucket rests and each goes alone", ({ evidence }) => {
    const record = settled(evidence);
    expect([record.intents, record.inFlight, record.backoffs]).toEqual([[], [], []]);
    expect(record.alone).toEqual(alone);
  });

  test("found after a lost answer: all of both sets may come", () => {
    const unconfirmed = { listed: 0, since: at(5) };
    expect(settled({ kind: "found" }).inFlight).toMatchObject([
      { bucket: d4.bucket, added: 2, unconfirmed, plannedAt: NOW },
      { bucket: d8.bucket, added: 2, unconfirmed, plannedAt: NOW },
    ]);
  });

  test("not sent: nothing is known of its sets, and they stay together", () => {
    const record = settled({ kind: "not-sent" });
    expect([record.intents, record.alone]).toEqual([[], undefined]);
  });
});

describe("the id of an effect", () => {
  const prod = clusterName("prod");
  const first = epoch("epoch-1");
  const committed = instant(1_763_636_400_000);
  /** The id of the effect at this position of the commit. */
  const idOf = (cluster: ClusterName, of: Epoch, now: Instant, plan: number, ordinal: number) => {
    // Equal sets are in different requests.
    const creates = Array.from({ length: ordinal + 1 }, () => d4);
    const record = { ...EMPTY_RECORD, cluster, epoch: of, plan };
    return commitEffects(record, { creates }, now, OURS, DEFAULT_CALL_BOUNDS).intents[ordinal]?.id;
  };

  test("is the SHA-256 of cluster, epoch, commit time, plan and ordinal, in UUID shape", () => {
    // sha256sum of ["prod","epoch-1",1763636400000,7,0] is 871aa6ebbbc21b054616af3a72c128ab...
    expect(idOf(prod, first, committed, 7, 0)).toBe("871aa6eb-bbc2-1b05-4616-af3a72c128ab");
  });

  test.each([
    { name: "the ordinal", id: idOf(prod, first, committed, 7, 1) },
    { name: "the plan", id: idOf(prod, first, committed, 8, 0) },
    { name: "the commit time", id: idOf(prod, first, instant(committed + 1), 7, 0) },
    { name: "the epoch", id: idOf(prod, epoch("epoch-2"), committed, 7, 0) },
    { name: "the cluster", id: idOf(clusterName("prod2"), first, committed, 7, 0) },
    {
      name: "where one part ends",
      id: idOf(clusterName('prod","epoch'), epoch("1"), committed, 7, 0),
    },
  ])("depends on $name", ({ id }) => {
    expect(id).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(id).not.toBe("871aa6eb-bbc2-1b05-4616-af3a72c128ab");
  });
});
