import { expect, test } from "vitest";
import { instant, isoTime, minusSeconds, plusSeconds } from "../../src/domain/units.ts";

const NOW = instant(Date.parse("2026-01-31T12:00:00Z"));

test.each([
  { at: plusSeconds(NOW, 1.5), text: "2026-01-31T12:00:01.500Z" },
  { at: plusSeconds(NOW, 1e308), text: "9999-12-31T23:59:59.999Z" },
  { at: minusSeconds(NOW, 1e308), text: "0000-01-01T00:00:00.000Z" },
  { at: plusSeconds(NOW, Number.POSITIVE_INFINITY), text: "9999-12-31T23:59:59.999Z" },
])("a sum of a moment and a duration is a moment that can be shown: $text", ({ at, text }) => {
  expect(isoTime(at)).toBe(text);
});
