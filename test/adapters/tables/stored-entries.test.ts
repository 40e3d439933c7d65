import { describe, expect, test } from "vitest";
import { readManifest, writeManifest } from "../../../src/adapters/tables/codec.ts";
import { EMPTY_INDEX } from "../../../src/adapters/tables/body-index.ts";
import { clusterName, digest, setName } from "../../../src/domain/ids.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import { instant } from "../../../src/domain/units.ts";
import { emptyRecord, sampleEntry, SAMPLE_TIME } from "../../support/sample-record.ts";

/** How what senders said is stored, so that this release and the one before it can run side by side. */

const pbs = setName("pbs");

function read(text: string): ClusterRecord {
  const manifest = readManifest(text);
  if ("spilled" in manifest) throw new Error("spilled");
  return manifest.record;
}

const write = (record: ClusterRecord): string => writeManifest({ record, index: EMPTY_INDEX });
const setsIn = (text: string): unknown => JSON.parse(text).record.sets;

/** As the release before this one wrote it. */
const STORED = `{"record":{"cluster":"demo","epoch":"epoch-1","plan":7,"generation":3,"observedGeneration":3,
  "sets":[["pbs",{"revision":{"value":1763636400000,"tieBreak":""},"intervalSeconds":300,"sentAt":1763636400000,
    "acceptedAt":1763636400010,"expiresAt":1763636700000,"digest":"aa11","live":true,"report":"bb22"}]],
  "intents":[],"inFlight":[],"backoffs":[],"rejections":[],"totals":{"created":0,"terminated":0}},
  "index":{"packs":[null],"own":[]}}`;

describe("a record of the release before this one", () => {
  test("is read as it is: its report is the demand's, and nothing came by itself", () => {
    expect(read(STORED)).toEqual({
      ...emptyRecord(clusterName("demo")),
      plan: 7,
      generation: 3,
      observedGeneration: 3,
      sets: new Map([
        [
          pbs,
          {
            revision: { value: 1_763_636_400_000, tieBreak: "" },
            intervalSeconds: 300,
            sentAt: 1_763_636_400_000,
            acceptedAt: 1_763_636_400_010,
            expiresAt: 1_763_636_700_000,
            digest: "aa11",
            live: true,
            report: "bb22",
          },
        ],
      ]),
    });
  });

  test("is written as it was", () => {
    expect(JSON.parse(write(read(STORED)))).toEqual(JSON.parse(STORED));
  });
});

describe("what came without demand", () => {
  const demand = { ...sampleEntry(digest("aa11")), revision: { value: 100, tieBreak: "" } };
  const report = { ...sampleEntry(digest("cc33"), digest("dd44")), revision: { value: 101, tieBreak: "" } };
  const pools = { ...sampleEntry(digest("ee55")), revision: { value: 102, tieBreak: "" } };
  const record: ClusterRecord = {
    ...emptyRecord(clusterName("demo")),
    sets: new Map([[pbs, demand]]),
    separateReports: new Map([[pbs, report]]),
    separatePools: new Map([[setName("licences"), pools]]),
  };

  test("is stored as sets that the release before this one can read, and read back as it was", () => {
    const text = write(record);
    expect(setsIn(text)).toEqual([
      ["pbs", demand],
      ["pbs\u0000report", report],
      ["licences\u0000pools", pools],
    ]);
    expect(read(text)).toEqual(record);
  });

  test("that the release before this one let lapse has lapsed", () => {
    const { report: _gone, ...kept } = report;
    const lapsed = { ...kept, live: false };
    const text = write({ ...record, separateReports: new Map([[pbs, lapsed]]) });
    expect(read(text).separateReports.get(pbs)).toEqual(lapsed);
  });

  test("is dropped if the release before this one took a newer demand meanwhile", () => {
    const newer = { ...demand, revision: { value: 103, tieBreak: "" }, sentAt: instant(SAMPLE_TIME + 9000) };
    const text = write({ ...record, sets: new Map([[pbs, newer]]) });
    expect(read(text)).toEqual({ ...record, sets: new Map([[pbs, newer]]), separateReports: new Map() });
  });
});
