/** What the public documentation shows, as a newcomer would copy it: our own fixtures, and the captured ones. */
import { describe, expect, test } from "vitest";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { readDocumented, readOurs } from "./documents.ts";
import { expectNoFaults, numbered } from "./try-all.ts";

const ours = readOurs();

describe("examples of the documentation", () => {
  test.each(ours.tries.map(numbered))("$name", ({ one, at }) => expectNoFaults(one, at, ours.clusters));
  test.each(ours.configs)("a configuration is read: %j", (config) => {
    expect(readPolicy(config)).toMatchObject({ kind: "policy" });
  });
});

describe("examples as they were captured", () => {
  const captured = readDocumented();
  test.each(captured.tries.map(numbered))("$name", ({ one, at }) =>
    expectNoFaults(one, at, captured.clusters),
  );
  test.each(captured.configs)("a configuration is read: %j", (config) => {
    expect(readPolicy(config)).toMatchObject({ kind: "policy" });
  });
});
