import { describe, expect, test } from "vitest";
import { keepMode } from "../../../src/wire/policy/mode.ts";
import { readPolicy } from "../../../src/wire/policy/policy.ts";
import { writePolicy } from "../../../src/wire/policy/write-policy.ts";

type Document = Readonly<Record<string, unknown>>;

function modesOf(document: Document, otherwise?: "observe" | "act") {
  const read = readPolicy(document, otherwise);
  if (read.kind === "problems") return read.problems;
  const { mode, arrayModes, modeIsDefault } = read.policy;
  return { mode, arrays: Object.fromEntries(arrayModes), isDefault: modeIsDefault === true };
}

describe("the mode of a configuration document", () => {
  test.each<{ readonly name: string; readonly document: Document; readonly modes: object }>([
    { name: "nothing: act", document: {}, modes: { mode: "act", arrays: {}, isDefault: true } },
    {
      name: "one mode",
      document: { mode: "observe" },
      modes: { mode: "observe", arrays: {}, isDefault: false },
    },
    {
      name: "by array",
      document: { mode: { default: "observe", hpc: "act" } },
      modes: { mode: "observe", arrays: { hpc: "act" }, isDefault: false },
    },
    {
      name: "of one array only",
      document: { mode: { hpc: "observe" } },
      modes: { mode: "act", arrays: { hpc: "observe" }, isDefault: true },
    },
    {
      name: "enabled false",
      document: { enabled: false },
      modes: { mode: "observe", arrays: {}, isDefault: false },
    },
    {
      name: "enabled true",
      document: { enabled: true },
      modes: { mode: "act", arrays: {}, isDefault: false },
    },
    {
      name: "both, which agree",
      document: { enabled: false, mode: "observe" },
      modes: { mode: "observe", arrays: {}, isDefault: false },
    },
    {
      name: "scalelib's read_only",
      document: { read_only: true },
      modes: { mode: "observe", arrays: {}, isDefault: false },
    },
    {
      name: "read_only false says nothing",
      document: { read_only: false },
      modes: { mode: "act", arrays: {}, isDefault: true },
    },
    {
      name: "read_only and a mode that agrees",
      document: { read_only: true, mode: { hpc: "observe" } },
      modes: { mode: "observe", arrays: { hpc: "observe" }, isDefault: false },
    },
  ])("$name", ({ document, modes }) => {
    expect(modesOf(document)).toEqual(modes);
  });

  test.each<{ readonly document: Document; readonly mode: string; readonly expected: string }>([
    {
      document: { read_only: true, mode: "act" },
      mode: "act",
      expected: "read_only or mode, not both: read_only means observe, and mode says act",
    },
    {
      document: { read_only: true, mode: { default: "observe", hpc: "act" } },
      mode: "observe",
      expected: "read_only or mode, not both: read_only means observe, and mode says act",
    },
    {
      document: { read_only: true, enabled: true },
      mode: "act",
      expected: "read_only or enabled, not both: read_only means observe, and enabled says act",
    },
    { document: { read_only: "yes", mode: "act" }, mode: "act", expected: "true or false" },
  ])("$document is refused at the door; stored, it counts as before, and says what mends it", (row) => {
    expect(readPolicy(row.document)).toMatchObject({
      kind: "problems",
      problems: [{ path: "read_only", expected: row.expected }],
    });
    expect(readPolicy(row.document, undefined, "store")).toMatchObject({
      policy: { mode: row.mode },
      refused: [{ problem: { path: "read_only" }, mend: "config unset read_only" }],
    });
  });

  test("a new document that says no mode for the cluster keeps the one in force", () => {
    const kept = (document: Document, inForce: Document) => {
      const [wanted, held] = [readPolicy(document), readPolicy(inForce)];
      if (wanted.kind === "problems" || held.kind === "problems") throw new Error("problems");
      return writePolicy(keepMode(wanted.policy, held.policy)).mode;
    };
    const both = { default: "observe", htc: "act" };
    expect(kept({}, { mode: "observe" })).toBe("observe");
    expect(kept({}, { mode: both })).toEqual(both);
    expect(kept({ mode: { hpc: "act" } }, { mode: both })).toEqual({ default: "observe", hpc: "act" });
    expect(kept({ mode: "act" }, { mode: both })).toBe("act");
    expect(kept({ read_only: true }, { mode: "act" })).toBe("observe");
    expect(kept({}, {})).toBeUndefined();
  });

  test("what the app setting says counts only where the document is silent", () => {
    expect(modesOf({}, "observe")).toMatchObject({ mode: "observe", isDefault: true });
    expect(modesOf({ mode: { hpc: "act" } }, "observe")).toMatchObject({ mode: "observe" });
    expect(modesOf({ enabled: true }, "observe")).toMatchObject({ mode: "act" });
  });

  test.each<{ readonly document: Document; readonly path: string; readonly found: string }>([
    { document: { mode: "watch" }, path: "mode", found: '"watch"' },
    { document: { mode: true }, path: "mode", found: "true" },
    { document: { mode: { hpc: "off" } }, path: "mode.hpc", found: '"off"' },
    { document: { enabled: "no" }, path: "enabled", found: "text of 2 characters" },
    { document: { enabled: true, mode: "observe" }, path: "enabled", found: "true" },
    {
      document: { enabled: false, mode: { default: "observe", hpc: "act" } },
      path: "enabled",
      found: "false",
    },
  ])("refuses $document", ({ document, path, found }) => {
    expect(modesOf(document)).toMatchObject([{ path, found }]);
  });

  test.each<{ readonly document: Document; readonly shown: unknown }>([
    { document: {}, shown: undefined },
    { document: { mode: "observe" }, shown: "observe" },
    { document: { enabled: true }, shown: "act" },
    { document: { mode: { default: "observe", hpc: "act" } }, shown: { default: "observe", hpc: "act" } },
    { document: { mode: { hpc: "act" } }, shown: { hpc: "act" } },
  ])("$document is written with mode, and read back", ({ document, shown }) => {
    const read = readPolicy(document);
    if (read.kind === "problems") throw new Error("problems");
    const written = writePolicy(read.policy);
    expect(written.mode).toEqual(shown);
    expect(written).not.toHaveProperty("enabled");
    expect(readPolicy(written)).toMatchObject({ policy: read.policy });
  });
});
