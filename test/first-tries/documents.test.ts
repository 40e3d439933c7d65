/** What the public documentation shows, as a newcomer would copy it: our own fixtures, and the captured ones where they are. */
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { readCaptured, readOurs } from "./documents.ts";
import { expectNoFaults } from "./try-all.ts";

const ours = readOurs();

describe("examples of the documentation", () => {
  test.each(ours.tries)("$name", (one) => expectNoFaults(one, ours.clusters));
  test.each(ours.configs)("a configuration is read: %j", (config) => {
    expect(readPolicy(config)).toMatchObject({ kind: "policy" });
  });
});

const folder = new URL("../../../shared/captured/docs/", import.meta.url);
const hasCaptured = existsSync(folder);
if (!hasCaptured) console.warn(`NOT RUN: captured examples, as there is no folder ${folder.pathname}`);

describe.skipIf(!hasCaptured)("examples as they were captured (needs ../shared/captured/docs)", () => {
  const captured = hasCaptured ? readCaptured(folder) : { tries: [], clusters: [], configs: [] };
  test.each(captured.tries)("$name", (one) => expectNoFaults(one, captured.clusters));
  test.each(captured.configs)("a configuration is read: %j", (config) => {
    expect(readPolicy(config)).toMatchObject({ kind: "policy" });
  });
});
