import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyText } from "../../../src/adapters/tables/keys.ts";
import { createLru, inParallel } from "../../../src/adapters/tables/bodies.ts";
import { packCountFor, packOf } from "../../../src/adapters/tables/body-index.ts";
import {
  ROW_BYTES,
  chunkProperties,
  joinChunks,
  partOf,
  rowsFor,
} from "../../../src/adapters/tables/rows.ts";

describe("names as keys", () => {
  test.each([
    { name: "plain", text: "prod-1.west_2", key: "prod-1.west_2" },
    { name: "forbidden in keys", text: "/\\#?", key: "=2F=5C=23=3F" },
    { name: "control characters", text: "a\u0000\n\u007F", key: "a=00=0A=7F" },
    { name: "the escape itself, quotes and percent", text: "='%", key: "=3D=27=25" },
    { name: "beyond ASCII", text: "ü \u{1F600}", key: "=C3=BC=20=F0=9F=98=80" },
  ])("$name", ({ text, key }) => {
    expect(keyText(text)).toBe(key);
  });

  test.each([
    { name: "the longest that is written out", text: "ü".repeat(84), key: "=C3=BC".repeat(84) },
    {
      name: "84 letters of two bytes and one sign more",
      text: `${"ü".repeat(84)}a`,
      key: `${"=C3=BC".repeat(66)}=C3=~b005f982fe3811c5e5eda3982a63c38bfc29fa330b1e037fb29e2b12ac99027f`,
    },
  ])("a key is at most 504 characters long: $name", ({ text, key }) => {
    expect(keyText(text)).toBe(key);
    expect(keyText(text).length).toBeLessThanOrEqual(504);
  });

  test("different names give different keys", () => {
    const name = fc.string({ unit: "grapheme", maxLength: 6 });
    fc.assert(fc.property(name, name, (a, b) => (keyText(a) === keyText(b)) === (a === b)));
  });
});

describe("bytes in rows", () => {
  test.each([
    { bytes: 0, rows: 1, lastChunks: 0 },
    { bytes: 1, rows: 1, lastChunks: 1 },
    { bytes: 61_440, rows: 1, lastChunks: 1 },
    { bytes: 61_441, rows: 1, lastChunks: 2 },
    { bytes: 716_800, rows: 1, lastChunks: 12 },
    { bytes: 716_801, rows: 2, lastChunks: 1 },
    { bytes: 1_500_000, rows: 3, lastChunks: 2 },
  ])("$bytes bytes take $rows rows", ({ bytes, rows, lastChunks }) => {
    const blob = randomBytes(bytes);
    expect(rowsFor(bytes)).toBe(rows);
    const stored = Array.from({ length: rows }, (_, part) => chunkProperties(partOf(blob, part)));
    expect(Object.keys(stored.at(-1) ?? {})).toHaveLength(lastChunks);
    for (const chunk of stored.flatMap((row) => Object.values(row)))
      expect(chunk.length).toBeLessThanOrEqual(65_536);
    expect(Buffer.concat(stored.map((row) => joinChunks(row))).equals(blob)).toBe(true);
  });

  test("a row with its base64 stays below what the emulator and the service take", () => {
    expect(Math.ceil(ROW_BYTES / 3) * 4).toBeLessThan(1024 * 1024);
  });
});

describe("number of packs", () => {
  const KiB = 1024;
  test.each([
    { name: "nothing stays in one pack", bytes: 0, present: 1, count: 1 },
    { name: "up to 128 KiB a pack nothing changes", bytes: 128 * KiB, present: 1, count: 1 },
    { name: "a little more: twice as many", bytes: 129 * KiB, present: 1, count: 2 },
    { name: "much more at once", bytes: 900 * KiB, present: 2, count: 8 },
    { name: "eight fill up to most of a row each", bytes: 4700 * KiB, present: 8, count: 8 },
    { name: "and only then become more", bytes: 4800 * KiB, present: 1, count: 16 },
    { name: "half empty rows stay as they are", bytes: 2400 * KiB, present: 16, count: 16 },
    { name: "rows less than a quarter full are put together", bytes: 2300 * KiB, present: 16, count: 8 },
    { name: "down to 32 KiB a pack nothing changes", bytes: 256 * KiB, present: 8, count: 8 },
    { name: "a little less: half as many", bytes: 255 * KiB, present: 8, count: 4 },
    { name: "all gone", bytes: 0, present: 64, count: 1 },
  ])("$name", ({ bytes, present, count }) => {
    expect(packCountFor(bytes, present)).toBe(count);
  });

  test("keys are spread evenly, and always to the same pack", () => {
    const sizes = new Map<number, number>();
    for (let number = 0; number < 8000; number++) {
      const pack = packOf(`d${number.toString(16).padStart(64, "0")}`, 16);
      sizes.set(pack, (sizes.get(pack) ?? 0) + 1);
    }
    expect(sizes.size).toBe(16);
    for (const size of sizes.values()) expect(Math.abs(size - 500)).toBeLessThan(125);
    // Part of the stored form: these may never change.
    expect([packOf("daa11", 1), packOf("daa11", 16), packOf("rbb22", 16)]).toStrictEqual([0, 11, 11]);
  });
});

describe("cache by weight", () => {
  test("the least recently used goes first", () => {
    const cache = createLru<string>(10);
    cache.set("a", "A", 4);
    cache.set("b", "B", 4);
    cache.get("a");
    cache.set("c", "C", 4);
    expect([cache.get("a"), cache.get("b"), cache.get("c")]).toStrictEqual(["A", undefined, "C"]);
  });

  test("what is heavier than everything is not kept and pushes nothing out", () => {
    const cache = createLru<string>(10);
    cache.set("a", "A", 10);
    cache.set("huge", "H", 11);
    expect([cache.get("a"), cache.get("huge")]).toStrictEqual(["A", undefined]);
  });

  test("setting again replaces the weight", () => {
    const cache = createLru<string>(10);
    cache.set("a", "A", 9);
    cache.set("a", "A2", 2);
    cache.set("b", "B", 8);
    expect([cache.get("a"), cache.get("b")]).toStrictEqual(["A2", "B"]);
  });
});

test("in parallel: never more at one time than asked for, results in order", async () => {
  let running = 0;
  let most = 0;
  const results = await inParallel([5, 1, 4, 2, 3], 2, async (turns) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    running--;
    return turns * 10;
  });
  expect(results).toStrictEqual([50, 10, 40, 20, 30]);
  expect(most).toBe(2);
});
