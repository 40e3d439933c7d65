import { expect, test } from "vitest";
import { digestOf } from "../../src/domain/digest.ts";

test("a digest is the first half of the SHA-256 of the JSON text", () => {
  // sha256sum of {"a":1}
  expect(digestOf({ a: 1 })).toBe("015abd7f5cc57a2dd94b7590f04ad808");
});
