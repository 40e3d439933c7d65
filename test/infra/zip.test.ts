import { randomBytes } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { zip } from "../../infra/zip.ts";

test("an archive without files is the end of a directory, 22 bytes", () => {
  expect(Buffer.from(zip([])).toString("hex")).toBe(`504b0506${"00".repeat(18)}`);
});

test("one small file, byte by byte by the format", () => {
  // "hello" deflated with fixed codes; its CRC-32 is 3610a686.
  const checksumAndSizes = "86a610360700000005000000";
  const facts = `14000000080000002100${checksumAndSizes}01000000`;
  const local = `504b0304${facts}61cb48cdc9c90700`;
  const entry = `504b01021403${facts}0000000000000000a4810000000061`;
  const end = "504b050600000000010001002f000000260000000000";
  const archive = zip([{ name: "a", content: Buffer.from("hello") }]);
  expect(Buffer.from(archive).toString("hex")).toBe(local + entry + end);
});

test("each file is found where the directory says, and unpacks to what it was", () => {
  const entries = ["one.cjs", "two.cjs", "three.json"].map((name, at) => ({
    name,
    content: Buffer.concat([randomBytes(1000 * at), Buffer.alloc(100_000 * at, name)]),
  }));
  const archive = Buffer.from(zip(entries));
  let at = archive.readUInt32LE(archive.length - 6);
  for (const { name, content } of entries) {
    const nameLength = archive.readUInt16LE(at + 28);
    expect(archive.toString("latin1", at + 46, at + 46 + nameLength)).toBe(name);
    const local = archive.readUInt32LE(at + 42);
    const begin = local + 30 + archive.readUInt16LE(local + 26);
    const packed = archive.subarray(begin, begin + archive.readUInt32LE(at + 20));
    expect(inflateRawSync(packed).equals(content)).toBe(true);
    at += 46 + nameLength;
  }
});
