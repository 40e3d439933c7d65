import { expect, test } from "vitest";
import { EMPTY_INDEX } from "../../../src/adapters/tables/body-index.ts";
import { readManifest, writeManifest } from "../../../src/adapters/tables/codec.ts";
import { clusterName, digest, setName } from "../../../src/domain/ids.ts";
import { emptyRecord, sampleEntry, SAMPLE_RECORD } from "../../support/sample-record.ts";

const ref = { id: "ab", bytes: 10 };

test.each([
  { name: "intents of every kind", record: SAMPLE_RECORD },
  {
    name: "reports and pools that came without demand",
    record: {
      ...emptyRecord(clusterName("demo")),
      sets: new Map([[setName("pbs"), sampleEntry(digest("aa11"))]]),
      separateReports: new Map([[setName("pbs"), sampleEntry(digest("cc33"), digest("dd44"))]]),
      separatePools: new Map([[setName("licences"), sampleEntry(digest("ee55"))]]),
    },
  },
])("a record with $name comes back as it was, with its members in their order", ({ record }) => {
  const index = { ...EMPTY_INDEX, finished: [undefined, ref], virtual: ref, own: new Map([["daa11", ref]]) };
  const read = readManifest(writeManifest({ record, index }));
  expect(read).toEqual({ record, index });
  expect("record" in read && Object.keys(read.record)).toEqual(Object.keys(record));
});
