import { expect, test } from "vitest";
import { renderVerdict } from "../../src/domain/node-verdict.ts";
import { renderReason } from "../../src/domain/reason-text.ts";

test("a reason with a code that only a newer release knows is shown as its code", () => {
  expect(renderReason(JSON.parse('{"code":"no-such-zone","zone":"3"}'))).toBe("no-such-zone");
});

test("a verdict of a kind that only a newer release knows is shown as its kind", () => {
  expect(renderVerdict(JSON.parse('{"kind":"toString"}'))).toBe("toString");
});

test("a sentence of more than 2,000 characters is cut", () => {
  const text = renderReason({ code: "no-bucket", array: "a".repeat(3000) });
  expect(text).toBe(`node array "${"a".repeat(1988)}…`);
});
