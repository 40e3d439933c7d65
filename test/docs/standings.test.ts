import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Flaw } from "../../src/domain/node-standing.ts";
import { WORTH } from "../../src/domain/node-standing.ts";
import { ROOT } from "../support/run-main.ts";

/** Compares the tables of docs/nodes.md, Standings, with the type. */

const [, section = ""] = readFileSync(`${ROOT}/docs/nodes.md`, "utf8").split("\n## Standings\n");
const [kinds = [], whys = []] = (section.split("\n## ")[0] ?? "")
  .split(/^\| --- .*\n/m)
  .slice(1)
  .map((table) => (table.split("\n\n")[0] ?? "").split("\n").map((row) => row.split(" | ")));
const plain = (cell = ""): string => cell.replaceAll(/[|` ]/g, "");

test("the table has a row for each standing, with its worth, and no other", () => {
  expect(kinds.map(([kind, worth]) => [plain(kind), plain(worth)])).toEqual(Object.entries(WORTH));
});

test("each row says how a node comes and leaves, and what may happen to it", () => {
  for (const row of kinds)
    expect(row.map((cell) => plain(cell) !== "")).toEqual([true, true, true, true, true]);
});

test("what speaks against a node has a row each", () => {
  const all: Readonly<Record<NonNullable<Flaw["why"]>, true>> = {
    missing: true,
    unclear: true,
    down: true,
    failed: true,
    late: true,
    stop: true,
  };
  expect(whys.map(([why]) => plain(why))).toEqual(Object.keys(all));
});
