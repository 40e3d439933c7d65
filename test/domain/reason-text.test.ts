import { expect, test } from "vitest";
import { renderVerdict } from "../../src/domain/node-verdict.ts";
import { renderReason } from "../../src/domain/reason-text.ts";
import { renderRefusal } from "../../src/domain/refusal.ts";

test("a reason with a code that only a newer release knows is shown as its code", () => {
  expect(renderReason(JSON.parse('{"code":"no-such-zone","zone":"3"}'))).toBe("no-such-zone");
});

test("a verdict of a kind that only a newer release knows is shown as its kind", () => {
  expect(renderVerdict(JSON.parse('{"kind":"toString"}'))).toBe("toString");
});

test("a text that reads as another kind of value is quoted", () => {
  const refusal = { code: "invalid-option", what: "node.spot", found: false, options: ["true"] } as const;
  expect(renderRefusal(refusal)).toBe('node.spot is false, asked is "true"');
});

test("a sentence of more than 2,000 characters is cut", () => {
  const text = renderReason({ code: "no-bucket", array: "a".repeat(3000) });
  expect(text).toBe(`node array "${"a".repeat(1988)}…`);
});
