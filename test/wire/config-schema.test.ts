import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { describeConfig } from "../../src/wire/config-schema.ts";
import { OWN_KEYS, readPolicy } from "../../src/wire/policy/policy.ts";
import { writePolicy } from "../../src/wire/policy/write-policy.ts";

const file = new URL("../../docs/configuration.schema.json", import.meta.url);
const isValid = new Ajv({ strict: false }).compile(describeConfig());

test("the file in docs is up to date: npm run openapi writes it", () => {
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(describeConfig());
});

test("it has every key of a document, and $schema", () => {
  const shown = JSON.parse(readFileSync(file, "utf8"));
  expect(Object.keys(shown.properties)).toEqual(expect.arrayContaining(["$schema", ...OWN_KEYS]));
});

test.each([
  { document: {} },
  {
    document: {
      $schema: "configuration.schema.json",
      idleTimeout: 300,
      mode: { default: "observe", hpc: "act" },
    },
  },
  { document: { exclusiveNodearrays: ["hpc"], enabled: true } },
  { document: { exclusiveNodearrays: false } },
  { document: { idle_timeout: { default: "300", hpc: null }, lock_file: "/tmp/lock", url: "https://cc" } },
  { document: { nodearrays: { hpc: { placement_groups: ["pg0"] } } } },
])("it takes what the app takes: $document", ({ document }) => {
  expect(readPolicy(document).kind).toBe("policy");
  expect(isValid(document)).toBe(true);
});

test.each([
  { document: { idelTimeout: 300 } },
  { document: { mode: "watch" } },
  { document: { nodearrays: "hpc" } },
  { document: { exclusiveNodearrays: "hpc" } },
  { document: { $schema: 7 } },
  { document: { idleTimeout: -1 } },
])("an editor marks what the app refuses: $document", ({ document }) => {
  expect(readPolicy(document).kind).toBe("problems");
  expect(isValid(document)).toBe(false);
});

test("the app keeps $schema, and says that it changes nothing", () => {
  const read = readPolicy({ $schema: "./configuration.schema.json", idleTimeout: 60 });
  if (read.kind === "problems") throw new Error("refused");
  expect(writePolicy(read.policy)).toMatchObject({ $schema: "./configuration.schema.json", idleTimeout: 60 });
  expect(read.report.ignored).toEqual([
    { key: "$schema", why: "kept for editors, which check the document by it" },
  ]);
});
