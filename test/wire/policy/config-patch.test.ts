import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lostKeys } from "../../../src/wire/policy/config-diff.ts";
import { clashesOf, patchDocument, readPatch } from "../../../src/wire/policy/config-patch.ts";
import { readPolicy } from "../../../src/wire/policy/policy.ts";
import { pathText, readPath } from "../../../src/wire/policy/config-path.ts";
import { IS_DEEP } from "../../property/runs.ts";

describe("the text of a path", () => {
  test.each([
    { text: "mode", path: ["mode"] },
    { text: "caps.users.anna.nodes", path: ["caps", "users", "anna", "nodes"] },
    { text: 'caps.users["anna.smith"].nodes', path: ["caps", "users", "anna.smith", "nodes"] },
    // A shell takes the quotes away.
    { text: "caps.users[anna.smith].nodes", path: ["caps", "users", "anna.smith", "nodes"] },
    { text: 'caps.users["a\\"b"]', path: ["caps", "users", 'a"b'] },
    { text: "caps.users.*", path: ["caps", "users", "*"] },
    { text: "__proto__.x", path: ["__proto__", "x"] },
  ])("$text", ({ text, path }) => {
    expect(readPath(text)).toEqual(path);
    expect(readPath(pathText(path))).toEqual(path);
  });

  test.each(["", ".", "a.", ".a", "a..b", 'a["b', "a[]", "a]", 'a["\\x"]', "a".repeat(1001)])(
    "%j is none",
    (text) => {
      expect(readPath(text)).toBeUndefined();
    },
  );
});

function patched(document: object, patch: object, mode: "act" | "observe" = "act") {
  const read = readPatch(JSON.stringify(patch));
  if (read.kind === "problems") return read.problems;
  const after = patchDocument({ ...document }, read.patch, mode);
  return after.kind === "document" ? after.document : after.problems;
}

describe("a change of single keys", () => {
  test.each<{ readonly name: string; readonly from: object; readonly patch: object; readonly to: object }>([
    { name: "a value", from: {}, patch: { set: { idleTimeout: 60 } }, to: { idleTimeout: 60 } },
    {
      name: "one key of an object; its neighbours stay",
      from: { caps: { users: { zoe: { nodes: 4 } } } },
      patch: { set: { 'caps.users["anna.smith"].nodes': 10 } },
      to: { caps: { users: { zoe: { nodes: 4 }, "anna.smith": { nodes: 10 } } } },
    },
    {
      name: "an object that is given whole replaces",
      from: { caps: { users: { zoe: { nodes: 4 } } } },
      patch: { set: { caps: { users: { anna: { nodes: 1 } } } } },
      to: { caps: { users: { anna: { nodes: 1 } } } },
    },
    {
      name: "a list is replaced whole",
      from: { nodearrays: ["a", "b"] },
      patch: { set: { nodearrays: ["c"] } },
      to: { nodearrays: ["c"] },
    },
    {
      name: "a key goes away, and one that is not there stays away",
      from: { caps: { users: { zoe: { nodes: 4 } } }, among: "cheapest" },
      patch: { unset: ["caps.users.zoe", "prices.locations", "among"] },
      to: { caps: { users: {} } },
    },
    {
      name: "one array on a plain mode",
      from: { mode: "observe" },
      patch: { set: { "mode.hpc": "act" } },
      to: { mode: { default: "observe", hpc: "act" } },
    },
    {
      name: "one array where the document says no mode: the one in force is written",
      from: {},
      patch: { set: { "mode.hpc": "observe" } },
      to: { mode: { default: "act", hpc: "observe" } },
    },
    {
      name: "one array on a plain timeout",
      from: { idleTimeout: 300 },
      patch: { set: { "idleTimeout.hpc": 900 } },
      to: { idleTimeout: { default: 300, hpc: 900 } },
    },
    {
      name: "enabled takes the place of mode",
      from: { mode: "act" },
      patch: { set: { enabled: false } },
      to: { enabled: false },
    },
    {
      name: "read_only: false says no mode",
      from: { mode: "act" },
      patch: { set: { read_only: false } },
      to: { mode: "act", read_only: false },
    },
    {
      name: "scalelib's spelling takes the place of ours",
      from: { idleTimeout: 60 },
      patch: { set: { idle_timeout: 240 } },
      to: { idle_timeout: 240 },
    },
    {
      name: "the mode of one array goes away",
      from: { mode: { default: "observe", hpc: "act" } },
      patch: { unset: ["mode.hpc"] },
      to: { mode: { default: "observe" } },
    },
  ])("$name", ({ from, patch, to }) => {
    expect(patched(from, patch)).toEqual(to);
  });

  test.each<{
    readonly name: string;
    readonly from?: object;
    readonly patch: unknown;
    readonly problem: object;
  }>([
    { name: "no object", patch: [], problem: { path: "", expected: "an object" } },
    { name: "nothing to change", patch: { ifVersion: 3 }, problem: { path: "" } },
    { name: "a wrong key", patch: { sett: {} }, problem: { found: '"sett"', didYouMean: "set" } },
    { name: "set is a list", patch: { set: ["mode"] }, problem: { path: "set" } },
    { name: "unset is a text", patch: { unset: "mode" }, problem: { path: "unset" } },
    { name: "unset of a number", patch: { unset: [1] }, problem: { path: "unset[0]", found: "1" } },
    { name: "no path", patch: { set: { "a..b": 1 } }, problem: { path: "set", found: '"a..b"' } },
    { name: "ifVersion as text", patch: { unset: ["a"], ifVersion: "3" }, problem: { path: "ifVersion" } },
    {
      name: "two paths that overlap",
      patch: { set: { "mode.hpc": "act" }, unset: ["mode"] },
      problem: { found: '"mode"', expected: "one change of mode.hpc, not two" },
    },
    {
      name: "a part of a list",
      from: { senders: [{ requestSets: "a" }] },
      patch: { set: { "senders.0.write": false } },
      problem: { path: "senders", expected: "a list is replaced as a whole: set senders itself" },
    },
    {
      name: "a part of a number",
      from: { prices: { locations: { here: { F2: 0.1 } } } },
      patch: { set: { "prices.locations.here.F2.spot": 0.02 } },
      problem: { path: "prices.locations.here.F2", found: "0.1" },
    },
    ...["mode", "mode.default", "enabled"].map((key) => ({
      name: `${key} goes away without another mode`,
      from: key === "mode.default" ? { mode: { default: "act" } } : { [key]: "act" },
      patch: { unset: [key] },
      problem: { found: '"mode"', expected: 'a mode: set "mode" to "observe" or "act" instead' },
    })),
  ])("$name is refused", ({ from = {}, patch, problem }) => {
    const found = patched(from, Object(patch));
    expect(found).toEqual([expect.objectContaining(problem)]);
  });

  test("a thousand paths at most, and their number costs little", () => {
    const set = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`caps.users.u${index}.nodes`, index]));
    expect(patched({}, { set: set(1001) })).toEqual([
      expect.objectContaining({ found: "1001", expected: "at most 1000 paths" }),
    ]);
    const before = process.cpuUsage().user;
    expect(patched({}, { set: set(1000) })).toMatchObject({ caps: { users: { u999: { nodes: 999 } } } });
    expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(2);
  });

  test("the name of an inherited member is a key like any other", () => {
    const after = patched({}, { set: { "caps.users.__proto__.nodes": 3, "constructor.x": 1 } });
    expect(JSON.stringify(after)).toBe('{"caps":{"users":{"__proto__":{"nodes":3}}},"constructor":{"x":1}}');
  });
});

describe("any change", () => {
  const key = fc.constantFrom(
    "mode",
    "caps",
    "users",
    "zoe",
    "default",
    "idleTimeout",
    "a.b",
    "__proto__",
    "0",
  );
  const path = fc.array(key, { minLength: 1, maxLength: 4 }).map(pathText);
  const change = fc.record(
    {
      set: fc.oneof(fc.dictionary(path, fc.jsonValue(), { maxKeys: 3 }), fc.jsonValue()),
      unset: fc.oneof(fc.array(path, { maxLength: 3 }), fc.jsonValue()),
      ifVersion: fc.oneof(fc.nat(), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const document = fc.oneof(
    fc.dictionary(key, fc.jsonValue()),
    fc.constant({ mode: "act", idleTimeout: 300, caps: { users: { zoe: { nodes: 4 } } } }),
  );

  test("is read or refused, and what becomes of a document is read or refused", () => {
    fc.assert(
      fc.property(document, fc.oneof(change, fc.jsonValue()), (from, asked) => {
        const after = patched(from, Object(asked));
        expect(["policy", "problems"]).toContain(readPolicy(JSON.stringify(after)).kind);
      }),
      { seed: 28, numRuns: IS_DEEP ? 20_000 : 800 },
    );
  });

  test("of other keys can be made before or after it, with the same outcome", () => {
    const users = ["ada", "b.b", "zoe", "eve"];
    const one = fc.tuple(fc.constantFrom(...users), fc.option(fc.nat()));
    const patchOf = ([user, nodes]: readonly [string, number | null]) => {
      const at = pathText(["caps", "users", user, "nodes"]);
      return nodes === null ? { unset: [at] } : { set: { [at]: nodes } };
    };
    const sorted = (value: unknown): unknown =>
      typeof value === "object" && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .map(([name, member]): [string, unknown] => [name, sorted(member)])
              .toSorted(([a], [b]) => (a < b ? -1 : 1)),
          )
        : value;
    fc.assert(
      fc.property(one, one, (a, b) => {
        fc.pre(a[0] !== b[0]);
        const from = { caps: { users: { zoe: { nodes: 4, cores: 2 }, eve: { nodes: 1 } } } };
        const both = patched(patched(from, patchOf(a)), patchOf(b));
        expect(sorted(patched(patched(from, patchOf(b)), patchOf(a)))).toEqual(sorted(both));
      }),
      { seed: 28 },
    );
  });
});

describe("changes by others", () => {
  const clashes = (patch: object, seen: object, inForce: object) => {
    const read = readPatch(JSON.stringify(patch));
    return read.kind === "patch"
      ? clashesOf(read.patch, seen, inForce).map(({ path }) => pathText(path))
      : [];
  };

  test("of the same key, and of what is within it; not of its neighbours", () => {
    const seen = { caps: { users: { zoe: { nodes: 4 }, anna: { nodes: 1 } } }, mode: "act" };
    const inForce = { caps: { users: { zoe: { nodes: 9 }, anna: { nodes: 1 } } }, mode: "observe" };
    expect(clashes({ set: { "caps.users.zoe.nodes": 5 } }, seen, inForce)).toEqual(["caps.users.zoe.nodes"]);
    expect(clashes({ unset: ["caps"] }, seen, inForce)).toEqual(["caps"]);
    expect(clashes({ set: { "caps.users.anna.nodes": 5 } }, seen, inForce)).toEqual([]);
    expect(clashes({ set: { "mode.hpc": "act" } }, seen, inForce)).toEqual([]);
    expect(clashes({ set: { mode: "act" } }, seen, inForce)).toEqual(["mode"]);
  });
});

describe("keys that a new document takes away", () => {
  test.each<{
    readonly name: string;
    readonly before: object;
    readonly after: object;
    readonly given?: object;
    readonly lost: readonly string[];
  }>([
    { name: "a key", before: { caps: {}, a: 1 }, after: { a: 2 }, lost: ["caps"] },
    {
      name: "at every depth",
      before: { caps: { users: { zoe: { nodes: 4, cores: 8 } } } },
      after: { caps: { users: { zoe: { nodes: 4 } } } },
      lost: ["caps.users.zoe.cores"],
    },
    {
      name: "a key that goes back to its default because it is not named",
      before: { idleTimeout: 900 },
      after: { idleTimeout: 300 },
      given: {},
      lost: ["idleTimeout"],
    },
    {
      name: "named in scalelib's spelling",
      before: { idleTimeout: 900 },
      after: { idleTimeout: 300 },
      given: { idle_timeout: 300 },
      lost: [],
    },
    {
      name: "the mode of one array",
      before: { mode: { default: "observe", hpc: "act" } },
      after: { mode: "act" },
      lost: ["mode.hpc"],
    },
    { name: "a list is a value", before: { nodearrays: ["a", "b"] }, after: { nodearrays: ["a"] }, lost: [] },
    {
      name: "more is no loss",
      before: { idleTimeout: 3 },
      after: { idleTimeout: { default: 3, a: 1 }, caps: {} },
      lost: [],
    },
  ])("$name", ({ before, after, given = after, lost }) => {
    expect(lostKeys(before, after, given).map(pathText)).toEqual(lost);
  });
});
