import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readManifest, writeManifest } from "../../../src/adapters/tables/codec.ts";
import { SAMPLE_RECORD } from "../../support/sample-record.ts";

const manifest = { record: SAMPLE_RECORD, index: { packs: [], own: new Map() } };
const stored = z.looseObject({
  record: z.looseObject({ intents: z.array(z.looseObject({ effect: z.looseObject({ kind: z.string() }) })) }),
});

describe("intents to start nodes", () => {
  test("are not among those that the release before takes for terminates", () => {
    const { record } = stored.parse(JSON.parse(writeManifest(manifest)));
    expect(record.intents.map(({ effect }) => effect.kind)).toEqual(["create", "terminate"]);
  });

  test("come back, also after the release before has saved the record with what it does not know", () => {
    const text = writeManifest(manifest);
    const { record, ...rest } = stored.parse(JSON.parse(text));
    const saved = JSON.stringify({ ...rest, record: { ...record, intents: [] } });
    const read = readManifest(saved);
    expect("record" in read && read.record.intents.map(({ effect }) => effect.kind)).toEqual(["start"]);
  });

  test("leave nothing behind in a record without any", () => {
    const intents = SAMPLE_RECORD.intents.filter(({ effect }) => effect.kind !== "start");
    const text = writeManifest({ ...manifest, record: { ...SAMPLE_RECORD, intents } });
    expect(text).not.toContain("startIntents");
  });
});
