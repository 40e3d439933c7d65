import { expect, test } from "vitest";
import { placeOf, readMapping, whyUnmapped } from "../../src/agent/slurm/mapping.ts";
import { MAPPING_TEXT, mappingOf } from "./stage.ts";

const MAPPING = mappingOf(MAPPING_TEXT);

test("a name has the place of its range", () => {
  expect(placeOf(MAPPING, "htc-4")).toEqual({ nodearray: "htc" });
  expect(placeOf(MAPPING, "hpc-1")).toEqual({
    nodearray: "hpc",
    size: "Standard_HB120rs_v3",
    group: "hpc-1",
  });
  expect(placeOf(MAPPING, "htc-5")).toBeUndefined();
});

test.each([
  { name: "htc-99", near: "htc-[1-4]" },
  { name: "hcp-1", near: "htc-[1-4]" },
  { name: "gpu1", near: "gpu-[1-2]" },
  { name: "login", near: "htc-[1-4]" },
])("$name is in no range, and is told the nearest", ({ name, near }) => {
  expect(whyUnmapped(MAPPING, name)).toBe(`in no host range of the agent's file; the nearest is ${near}`);
});

const GOOD = "cluster=prod\nstate=/var/spool/a\nnodes=htc-[1-4] nodearray=htc\n";

test.each([
  {
    name: "nothing",
    text: "",
    expected: [
      "cluster= is missing",
      "state= is missing",
      "no host range: expected a line as nodes=htc-[1-100] nodearray=htc",
    ],
  },
  {
    name: "a key that is a typing mistake",
    text: `${GOOD}previous_resmue=/a\n`,
    expected: ['line 4: unknown key "previous_resmue": did you mean previous_resume?'],
  },
  {
    name: "a key of a range that is a typing mistake",
    text: `${GOOD}nodes=a-[1-2] nodearray=a sise=F2\n`,
    expected: ['line 4: unknown key "sise": did you mean size?'],
  },
  {
    name: "a range that is none",
    text: `${GOOD}nodes=a-[2-1] nodearray=a\n`,
    expected: ['line 4: nodes: found "a-[2-1]", expected one host range as htc-[1-100], or a name'],
  },
  {
    name: "two brackets, which the shims do not read",
    text: `${GOOD}nodes=r[1-2]n[1-2] nodearray=a\n`,
    expected: ['line 4: nodes: found "r[1-2]n[1-2]", expected one host range as htc-[1-100], or a name'],
  },
  {
    name: "a range without an array",
    text: `${GOOD}nodes=a-[1-2]\n`,
    expected: [
      'line 4: nodearray: found "", expected 1 to 64 letters, digits, dots, dashes and underscores, no dot or dash first',
    ],
  },
  {
    name: "a name in two ranges",
    text: `${GOOD}nodes=htc-[4-9] nodearray=b\n`,
    expected: ["htc-4 is in htc-[1-4] and in htc-[4-9]"],
  },
  {
    name: "a program with arguments",
    text: `${GOOD}previous_resume=/bin/sh -c reboot\n`,
    expected: [
      'line 4: previous_resume: found "/bin/sh -c reboot", expected an absolute path without spaces and quotes',
    ],
  },
  { name: "a setting twice", text: `${GOOD}cluster=b\n`, expected: ["line 4: cluster is there twice"] },
])("is refused: $name", ({ text, expected }) => {
  expect(readMapping(text)).toEqual({ kind: "wrong", problems: expected });
});
