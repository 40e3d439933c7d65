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
    expect(record.intents.map(({ effect }) => effect.kind)).toEqual(["create", "create", "terminate"]);
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

describe("a create request of several sets", () => {
  const effects = z.looseObject({
    record: z.looseObject({
      intents: z.array(
        z.looseObject({
          id: z.string(),
          effect: z.looseObject({ kind: z.string(), count: z.number().optional() }),
        }),
      ),
    }),
  });

  test("is stored as the release before reads it: one intent for each set, with the same id", () => {
    const { record } = effects.parse(JSON.parse(writeManifest(manifest)));
    const creates = record.intents.filter(({ effect }) => effect.kind === "create");
    expect(creates.map(({ id, effect }) => [id, effect.count])).toEqual([
      ["8d0c5f9e-1111-5222-8333-944444444444", 4],
      ["8d0c5f9e-1111-5222-8333-944444444444", 2],
    ]);
  });

  test("comes back as one", () => {
    const read = readManifest(writeManifest(manifest));
    expect("record" in read && read.record.intents).toEqual(SAMPLE_RECORD.intents);
  });
});
