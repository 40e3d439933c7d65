import { expect, test } from "vitest";
import { bytesOfSize, gibOfBytes } from "../../src/wire/size.ts";

test.each([
  { text: "4g", bytes: 4_294_967_296 },
  { text: "4G", bytes: 4_000_000_000 },
  { text: "memory::1.50k", bytes: 1536 },
  { text: "size::1K", bytes: 1000 },
  { text: "17", bytes: 17 },
  { text: "17b", bytes: 17 },
  { text: " 4 g", bytes: 4_294_967_296 },
  { text: "1e3m", bytes: 1_048_576_000 },
  { text: "1e3", bytes: 1000 },
  { text: "1_000k", bytes: 1_024_000 },
  { text: ".5t", bytes: 549_755_813_888 },
  { text: "5.P", bytes: 5_000_000_000_000_000 },
  { text: "-4g", bytes: -4_294_967_296 },
  { text: "17B", bytes: undefined },
  { text: "4gb", bytes: undefined },
  { text: "g", bytes: undefined },
  { text: "", bytes: undefined },
  { text: "memory::", bytes: undefined },
  { text: "inf", bytes: undefined },
  { text: "1e999g", bytes: undefined },
  { text: "1__0g", bytes: undefined },
  { text: "0x10g", bytes: undefined },
  { text: "disk::4g", bytes: undefined },
])("the size $text is $bytes bytes", ({ text, bytes }) => {
  expect(bytesOfSize(text)).toBe(bytes);
});

test("a GiB is 2^30 bytes", () => {
  expect(gibOfBytes(3_221_225_472)).toBe(3);
});
