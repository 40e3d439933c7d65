import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { clusterAnswer } from "../../src/wire/api/cluster-answer.ts";
import { ROOT } from "../support/run-main.ts";

/** docs/emergency.md has a row for each trouble of the code and for each alert of infra/, and no other. */

const read = (path: string): string => readFileSync(`${ROOT}/${path}`, "utf8");
const query = read("infra/modules/events.kql");

/** The cells of the rows below a heading, without the table's head. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const [, section = ""] = read("docs/emergency.md").split(`\n## ${heading}\n`);
  const [own = ""] = section.split(/\n## /);
  const rows = own.split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(2).map((row) => row.slice(2, -2).split(" | "));
}

const namesIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, name = ""]) => name);

test("the first table says how to stop creating, everything and nodes, each with a command", () => {
  const rows = rowsOf("Stop it");
  expect(rows.map(([what]) => what)).toEqual([
    "stop creating",
    "stop one sender",
    "stop everything",
    "end nodes",
    "go back",
  ]);
  expect(rows.filter(([, command = ""]) => !command.includes("`"))).toEqual([]);
  expect(rows[0]?.[1]).toContain("`cyclecloud-autoscaler config set mode=observe`");
});

test("the table of troubles has each kind of the code, and no other", () => {
  const kinds = rowsOf("Troubles").map(
    ([kind = ""]) => /^`([a-z-]+)`(?:, \*\*alert\*\*)?$/.exec(kind)?.[1] ?? kind,
  );
  expect(kinds.toSorted()).toEqual([...clusterAnswer.shape.troubles.element.shape.kind.options].toSorted());
});

test("each trouble says what it means, what the app does and what a person does", () => {
  const rows = rowsOf("Troubles");
  expect(rows.filter((row) => row.length !== 4 || row.some((cell) => cell.trim().length < 7))).toEqual([]);
});

test("the troubles that raise an alert are those of the query", () => {
  const [, list = ""] = /kind in \(([^)]*)\)/.exec(query) ?? [];
  const marked = rowsOf("Troubles").flatMap(([kind = ""]) =>
    kind.endsWith("**alert**") ? namesIn(kind, /`([a-z-]+)`/g) : [],
  );
  expect(marked.toSorted()).toEqual(namesIn(list, /'([a-z-]+)'/g).toSorted());
  expect(marked.length).toBeGreaterThan(4);
});

test("each alert has a row with a first command", () => {
  const rules = namesIn(
    read("infra/modules/alerts.bicep"),
    /name: '?(?:index == 0 \? ')?(alert-[a-z0-9]+)-/g,
  );
  const told = [
    ...rules.filter((name) => name !== "alert-events"),
    ...namesIn(query, /project problem = '([^']+)'/g),
  ];
  const rows = rowsOf("By alert").filter(([problem]) => problem !== "the kind of a trouble");
  expect(rows.map(([problem = ""]) => problem).toSorted()).toEqual(told.toSorted());
  expect(told.length).toBeGreaterThan(8);
  expect(
    rows.filter(([, , first = ""]) => !/^`(?:cyclecloud-autoscaler [a-z]+|curl )[^`]*`/.test(first)),
  ).toEqual([]);
});
