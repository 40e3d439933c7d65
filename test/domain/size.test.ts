import { expect, test } from "vitest";
import { bytesOf, parseSize, sizeText } from "../../src/domain/size.ts";

test.each([
  { text: "4g", bytes: 4_294_967_296 },
  { text: "4G", bytes: 4_000_000_000 },
  { text: "memory::1.50k", bytes: 1536 },
  { text: "size::1K", bytes: 1000 },
  { text: "17", bytes: 17 },
  { text: " 4 g", bytes: 4_294_967_296 },
  { text: "1e3m", bytes: 1_048_576_000 },
  { text: "1_000k", bytes: 1_024_000 },
  { text: ".5t", bytes: 549_755_813_888 },
  { text: "5.P", bytes: 5_000_000_000_000_000 },
  { text: "-4g", bytes: -4_294_967_296 },
  { text: "anything: at all:4k", bytes: 4096 },
  { text: "17B", bytes: "unknown-unit" },
  { text: "4gb", bytes: "unknown-unit" },
  { text: "g", bytes: "only-letters" },
  { text: "inf", bytes: "only-letters" },
  { text: "", bytes: "empty" },
  { text: "memory::", bytes: "empty" },
  { text: "1e999g", bytes: "no-number" },
  { text: "1__0g", bytes: "no-number" },
  { text: "0x10", bytes: "no-number" },
  { text: `memory::${"0".repeat(54)}4g`, bytes: 4_294_967_296 },
  { text: `memory::${"0".repeat(55)}4g`, bytes: "too-long" },
  { text: `${"1".repeat(65_000)}.${"1".repeat(65_000)}!`, bytes: "too-long" },
  { text: `${"a".repeat(131_000)}1`, bytes: "too-long" },
])("the size $text is $bytes bytes", ({ text, bytes }) => {
  const size = parseSize(text);
  expect(typeof size === "string" ? size : bytesOf(size)).toBe(bytes);
});

test.each([
  { amount: 0.125, text: "0.12g" },
  { amount: 0.375, text: "0.38g" },
  { amount: -2.625, text: "-2.62g" },
  { amount: 1.005, text: "1.00g" },
  { amount: 8, text: "8.00g" },
])("$amount is shown as $text", ({ amount, text }) => {
  expect(sizeText({ amount, unit: "g" })).toBe(text);
});
