import type { ClusterName, Digest } from "../../src/domain/ids.ts";
import {
  arrayName,
  clusterName,
  digest,
  epoch,
  machineType,
  nodeId,
  owner,
  placementGroup,
  requestId,
  setName,
} from "../../src/domain/ids.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { SetEntry } from "../../src/domain/request-sets.ts";
import { instant, plusSeconds } from "../../src/domain/units.ts";
import { EMPTY_RECORD } from "./build-record.ts";

/** A record and bodies that have every field of the domain's types, and every kind of every union. */

export const SAMPLE_TIME = instant(Date.UTC(2026, 10, 20, 8, 0, 0));

export const later = (seconds: number) => plusSeconds(SAMPLE_TIME, seconds);
export const execute = arrayName("execute");
export const hb = machineType("Standard_HB120rs_v3");
export const bucket: BucketKey = { array: execute, machineType: hb, placementGroup: placementGroup("as-1") };
const looseBucket: BucketKey = { array: execute, machineType: hb };

/** The entry of an accepted set. `digest` is that of its demand. */
export function sampleEntry(demandDigest: Digest, report?: Digest): SetEntry {
  return {
    revision: { value: 1_763_636_400_000, tieBreak: "3f0c2a7e-0000-4000-8000-000000000001" },
    intervalSeconds: 300,
    sentAt: SAMPLE_TIME,
    acceptedAt: later(1),
    expiresAt: later(300),
    digest: demandDigest,
    live: true,
    ...(report === undefined ? {} : { report }),
  };
}

export const demandDigest = digest("aa11");
export const reportDigest = digest("bb22");
export const emptyDigest = digest("cc33");
export const separateReportDigest = digest("dd44");
export const poolsDigest = digest("ee55");

export function emptyRecord(cluster: ClusterName): ClusterRecord {
  return { ...EMPTY_RECORD, cluster, plan: 0 };
}

export const licensed = arrayName("licensed");

export const SAMPLE_RECORD: ClusterRecord = {
  cluster: clusterName("prod/west #1 ümlaut?"),
  epoch: epoch("5f7b0f6e"),
  epochAt: later(-600),
  plan: 17,
  generation: 12,
  observedGeneration: 11,
  totals: { created: 42, terminated: 7, started: 3 },
  sets: new Map([
    [setName("standard"), sampleEntry(demandDigest, reportDigest)],
    [setName("job 4711 \u0001\u{1F600}"), { ...sampleEntry(digest("gone")), live: false }],
  ]),
  separateReports: new Map([
    [setName("standard"), sampleEntry(emptyDigest, separateReportDigest)],
    [setName("only reports"), { ...sampleEntry(emptyDigest), live: false }],
  ]),
  separatePools: new Map([[setName("licences"), sampleEntry(poolsDigest)]]),
  intents: [
    {
      id: requestId("8d0c5f9e-1111-5222-8333-933333333333"),
      owner: owner("owner-1"),
      committedAt: later(2),
      leaseUntil: later(62),
      notAfter: later(122),
      certainFrom: later(172),
      effect: { kind: "start", bucket, nodes: [nodeId("n-4"), nodeId("n-5")] },
      sent: "never",
    },
    {
      id: requestId("8d0c5f9e-1111-5222-8333-944444444444"),
      owner: owner("owner-1"),
      committedAt: later(2),
      leaseUntil: later(62),
      notAfter: later(122),
      certainFrom: later(172),
      effect: {
        kind: "create",
        sets: [
          {
            bucket,
            count: 4,
            purpose: { kind: "group", key: "execute:4n", group: "as-1" },
            attributes: { Configuration: { autoscale: { idle: true } }, Tags: ["a", null], constructor: 1 },
          },
          { bucket: looseBucket, count: 2, purpose: { kind: "dynamic", array: licensed } },
        ],
      },
      sent: "once-refused",
      absentSince: later(12),
    },
    {
      id: requestId("8d0c5f9e-1111-5222-8333-955555555555"),
      owner: owner("owner-2"),
      committedAt: later(3),
      leaseUntil: later(63),
      notAfter: later(123),
      certainFrom: later(173),
      effect: { kind: "terminate", nodes: [nodeId("n-1"), nodeId("n-2")] },
      sent: "maybe",
    },
  ],
  inFlight: [
    {
      requestId: requestId("8d0c5f9e-1111-5222-8333-966666666666"),
      bucket: looseBucket,
      purpose: { kind: "dynamic", array: licensed },
      look: digest("cc33"),
      keyId: "k2",
      spot: true,
      added: 3,
      seen: [nodeId("n-3")],
      since: later(-30),
    },
  ],
  backoffs: [
    { bucket, until: later(60), seconds: 60, cause: "fell-short", message: "quota of 120 cores reached" },
    { bucket, dynamic: licensed, until: later(60), seconds: 60, cause: "refused", message: "no such image" },
  ],
  dynamicArrays: [
    {
      name: licensed,
      extends: execute,
      machineTypes: [hb],
      attributes: { Configuration: { licence: "x" } },
      sets: [setName("standard")],
    },
  ],
  lookedAt: later(-5),
  wakeAt: later(1),
  wakeFor: "demand",
  targetStatesLackedSince: later(-60),
  lastGoodLookAt: later(-65),
  outage: { from: later(-900), to: later(-120), until: later(180), awaiting: [setName("standard")] },
  trouble: { at: later(-5), kind: "suspicious", message: "199 of 200 nodes missing" },
  unneeded: {
    nodes: 3,
    since: later(-4000),
    sizes: [{ array: execute, machineType: hb, nodes: 2 }],
    cost: { perHour: 7.5, currency: "EUR", unpriced: 1 },
  },
  unhealthyStops: [{ array: execute, at: later(-600), count: 2 }],
  stopKeys: [{ keyId: "k2", nodes: 3 }, { nodes: 1 }],
  rejections: [
    {
      at: later(-10),
      messageId: "m-1",
      set: "standard",
      problems: [{ path: "/jobs/0/ncpu", found: "1", expected: "ncpus", didYouMean: "ncpus" }],
    },
  ],
};
