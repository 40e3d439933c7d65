import { expect, test } from "vitest";
import { findViolations, readSources } from "./imports.ts";

const root = new URL("../..", import.meta.url).pathname;

test("the house as it stands keeps its rules", () => {
  const files = readSources(root);
  expect(files.length).toBeGreaterThan(50);
  expect(findViolations(files)).toEqual([]);
});

test.each([
  {
    name: "a decision that reaches for an adapter",
    path: "src/decide/planted.ts",
    text: 'import { x } from "../adapters/tables/table.ts";',
    expected: "src/decide/planted.ts: decide may not import src/adapters/tables/table.ts",
  },
  {
    name: "a noun that knows zod",
    path: "src/domain/planted.ts",
    text: 'import { z } from "zod";',
    expected: "src/domain/planted.ts: domain may not import zod",
  },
  {
    name: "a function that goes around compose",
    path: "functions/planted.ts",
    text: 'const t = await import("../src/adapters/tables/table.ts");',
    expected: "functions/planted.ts: functions may not import src/adapters/tables/table.ts",
  },
  {
    name: "an adapter that decides",
    path: "src/adapters/queue/planted.ts",
    text: 'import type { D } from "../../decide/reconcile/reconcile.ts";',
    expected: "src/adapters/queue/planted.ts: adapters may not import src/decide/reconcile/reconcile.ts",
  },
  {
    name: "a use case that loads the schema of an answer",
    path: "src/app/planted.ts",
    text: 'import { type BucketShown, bucket } from "../wire/api/cluster-buckets.ts";',
    expected: "src/app/planted.ts: app may not import src/wire/api/cluster-buckets.ts",
  },
  {
    name: "a use case with the types of messages",
    path: "src/app/planted.ts",
    text: 'import type { MessageRead } from "../wire/message/demand-message.ts";',
    expected: "src/app/planted.ts: app may not import src/wire/message/demand-message.ts",
  },
  {
    name: "a simulator that shares code with the adapter",
    path: "src/simulator/planted.ts",
    text: 'export { readNode } from "../adapters/cyclecloud/read-node.ts";',
    expected: "src/simulator/planted.ts: simulator may not import src/adapters/cyclecloud/read-node.ts",
  },
  {
    name: "a clock in a decision",
    path: "src/decide/planted.ts",
    text: "export const late = () => Date.now() > 5;",
    expected: "src/decide/planted.ts: a clock in a pure room",
  },
  {
    name: "randomness in a noun",
    path: "src/domain/planted.ts",
    text: "export const any = Math.random();",
    expected: "src/domain/planted.ts: randomness in a pure room",
  },
  {
    name: "waiting in a decision",
    path: "src/decide/planted.ts",
    text: "export async function decide() {}",
    expected: "src/decide/planted.ts: async in a pure room",
  },
  {
    name: "the environment in a decision",
    path: "src/decide/planted.ts",
    text: 'export const x = process.env["X"];',
    expected: "src/decide/planted.ts: process.env in a pure room",
  },
  {
    name: "the environment in a use case",
    path: "src/app/planted.ts",
    text: 'export const x = process.env["X"];',
    expected: "src/app/planted.ts: reads process.env; config.ts does that",
  },
])("is found: $name", ({ path, text, expected }) => {
  expect(findViolations([{ path, text }])).toEqual([expected]);
});

test.each([
  {
    name: "a decision that hashes",
    path: "src/decide/fine.ts",
    text: 'import { createHash } from "node:crypto";',
  },
  {
    name: "a use case with the type of an answer",
    path: "src/app/fine.ts",
    text: 'import type { BucketShown } from "../wire/api/cluster-buckets.ts";',
  },
  {
    name: "a comment that speaks of await and Date.now",
    path: "src/domain/fine.ts",
    text: "/** await Date.now */\n// async\n",
  },
])("is allowed: $name", ({ path, text }) => {
  expect(findViolations([{ path, text }])).toEqual([]);
});
