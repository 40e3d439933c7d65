import { expect, test } from "vitest";
import { countsText, renderTable } from "../../src/cli/table.ts";

interface Row {
  readonly name?: string;
  readonly count?: number;
  readonly note?: string;
}

const render = (rows: readonly Row[]) =>
  renderTable<Row>(
    [
      ["NAME", ({ name }) => name],
      ["COUNT", ({ count }) => count],
      ["NOTE", ({ note }) => note],
    ],
    rows,
    "nothing",
  );

test.each([
  { name: "no rows", rows: [], text: "nothing" },
  {
    name: "texts to the left, numbers to the right, without blanks at the end",
    rows: [
      { name: "a", count: 5, note: "x" },
      { name: "longer", count: 120, note: "why not" },
    ],
    text: "NAME    COUNT  NOTE\na           5  x\nlonger    120  why not",
  },
  {
    name: "what is absent is a dash; a column without anything is left out",
    rows: [{ name: "a" }, { count: 2 }],
    text: "NAME  COUNT\na         -\n-         2",
  },
  {
    name: "a name that would move the cursor is shown as its code",
    rows: [{ name: "a\u001B[2J\nb" }],
    text: "NAME\na\\u{1b}[2J\\u{a}b",
  },
])("a table: $name", ({ rows, text }) => {
  expect(render(rows)).toBe(text);
});

test.each([
  { counts: { ready: 8, coming: 3 }, text: "8 ready, 3 coming" },
  { counts: { ready: 0 }, text: "none" },
  { counts: {}, text: "none" },
])("counts: $text", ({ counts, text }) => {
  expect(countsText(counts, "none")).toBe(text);
});
