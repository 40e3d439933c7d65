import { expect, test } from "vitest";
import { problemShown } from "../../../src/app/describe/describe-queues.ts";

test.each([
  { name: "what acts is shown as its code", text: "a\u202eb", shown: "a\\u{202e}b" },
  {
    name: "a text that its codes make long is cut",
    text: "\u202e".repeat(200),
    shown: `${"\\u{202e}".repeat(32).slice(0, 250)}…`,
  },
  { name: "a long text of the app's own is not", text: "x".repeat(400), shown: "x".repeat(400) },
])("in each part of a problem: $name", ({ text, shown }) => {
  expect(problemShown({ path: text, found: text, expected: text, didYouMean: text })).toEqual({
    path: shown,
    found: shown,
    expected: shown,
    didYouMean: shown,
  });
  expect(problemShown({ path: "a", found: "b", expected: text })).toEqual({
    path: "a",
    found: "b",
    expected: shown,
    didYouMean: undefined,
  });
});
