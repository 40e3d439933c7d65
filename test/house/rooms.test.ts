import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { readSources } from "./imports.ts";
import {
  APP,
  countLevels,
  DECIDE,
  findCircles,
  findLooseFiles,
  findUpwardEdges,
  MOST_LEVELS,
  STOREYS,
} from "./rooms.ts";

const files = readSources(new URL("../..", import.meta.url).pathname);

test("no file imports itself by way of others", () => {
  expect(findCircles(files)).toEqual([]);
});

test.each(STOREYS)("between the rooms of $folder imports run downwards only", (storeys) => {
  expect(findUpwardEdges(files, storeys)).toEqual([]);
});

test("at most 10 levels of rooms stand on each other in src/decide", () => {
  expect(countLevels(files)).toBeLessThanOrEqual(MOST_LEVELS);
});

test.each(STOREYS)("every room in the list of $folder has files", ({ folder, rooms }) => {
  const empty = rooms.filter((room) => !files.some(({ path }) => path.startsWith(`${folder}/${room}/`)));
  expect(empty).toEqual([]);
});

test("every file of src/decide lies in a room", () => {
  expect(findLooseFiles(files)).toEqual([]);
  expect(findLooseFiles([{ path: "src/decide/planted.ts", text: "" }])).toEqual(["src/decide/planted.ts"]);
});

test("a circle is found", () => {
  const planted = [
    { path: "src/app/a.ts", text: 'import type { B } from "./b.ts";' },
    { path: "src/app/b.ts", text: 'export { c } from "./sub/c.ts";' },
    { path: "src/app/sub/c.ts", text: 'const a = await import("../a.ts");' },
  ];
  expect(findCircles(planted)).toEqual(["src/app/a.ts -> src/app/b.ts -> src/app/sub/c.ts -> src/app/a.ts"]);
});

test("a circle that is planted in the sources is found", () => {
  const text = 'import { decide } from "../reconcile/reconcile.ts";';
  const planted = files.map((file) =>
    file.path === "src/decide/need/spare.ts" ? { ...file, text: `${text}\n${file.text}` } : file,
  );
  expect(findCircles(planted)).not.toEqual([]);
});

test.each([
  {
    name: "a room that imports one above it",
    path: "src/decide/place/planted.ts",
    text: 'import type { Told } from "../why/unmet.ts";',
    expected: "src/decide/place/planted.ts: place may not import why (src/decide/why/unmet.ts)",
  },
  {
    name: "a room that imports the decision",
    path: "src/decide/need/planted.ts",
    text: 'import { decide } from "../reconcile/reconcile.ts";',
    expected: "src/decide/need/planted.ts: need may not import reconcile (src/decide/reconcile/reconcile.ts)",
  },
  {
    name: "a room that is not in the list",
    path: "src/decide/attic/planted.ts",
    text: 'import { Bins } from "../bins/bins.ts";',
    expected: "src/decide/attic/planted.ts: the room attic is not in the list",
  },
])("is found: $name", ({ path, text, expected }) => {
  expect(findUpwardEdges([{ path, text }], DECIDE)).toEqual([expected]);
});

test("in src/app, too: a room that imports one above it, or a file that lies above all rooms", () => {
  const text = 'import "../reconcile/reserve-observation.ts"; import "../tick.ts";';
  expect(findUpwardEdges([{ path: "src/app/record/planted.ts", text }], APP)).toEqual([
    "src/app/record/planted.ts: record may not import reconcile (src/app/reconcile/reserve-observation.ts)",
    "src/app/record/planted.ts: record may not import (none) (src/app/tick.ts)",
  ]);
});

test("rooms that stand on each other are counted", () => {
  const planted = [
    { path: "src/decide/need/a.ts", text: 'import "../search/b.ts"; import "../pace/c.ts";' },
    { path: "src/decide/search/b.ts", text: 'import "../bins/d.ts";' },
  ];
  expect(countLevels(planted)).toBe(3);
});

test.each(STOREYS)("tests of $folder lie in folders for rooms alone", ({ folder, rooms }) => {
  const tests = folder.replace("src/", "");
  const folders = readdirSync(new URL(`../${tests}`, import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(folders.filter((folder) => !rooms.includes(folder))).toEqual([]);
});
