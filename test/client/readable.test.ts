import { expect, test } from "vitest";
import { z } from "zod";
import { readerOf } from "../../src/client/readable.ts";

const answer = z.object({
  name: z.string(),
  kind: z.enum(["old", "new"]).optional(),
  flag: z.literal(true).optional(),
  size: z.number(),
  part: z.object({ at: z.iso.datetime(), more: z.array(z.string()) }),
  other: z.object({ at: z.string() }).optional(),
  notes: z.array(z.string()).optional(),
  counts: z.record(z.string(), z.int()),
  amounts: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  list: z.array(z.union([z.object({ size: z.number() }), z.object({ kind: z.literal("b") })])),
});
const read = readerOf(answer);

test("a reader takes the members that it knows, of every form of a part, and leaves out the rest", () => {
  const body = {
    name: "demo",
    kind: "of a later release",
    flag: true,
    size: 4,
    part: { at: "2026-01-01T00:00:00Z", more: ["a"], news: 1 },
    other: { at: "b" },
    notes: ["c"],
    counts: { ready: 3 },
    amounts: { mem: "4g", cores: 2 },
    data: { any: [1] },
    list: [{ size: 4, more: true }, { kind: "b" }],
    news: 1,
  };
  expect(read(body)).toEqual({
    name: "demo",
    kind: "of a later release",
    flag: true,
    size: 4,
    part: { at: "2026-01-01T00:00:00Z", more: ["a"] },
    other: { at: "b" },
    notes: ["c"],
    counts: { ready: 3 },
    amounts: { mem: "4g", cores: 2 },
    data: { any: [1] },
    list: [{ size: 4 }, { kind: "b" }],
  });
});

test("what is missing or of another kind is left out; parts and lists that an answer always has are there", () => {
  const empty = { part: { more: [] }, notes: [], counts: {}, list: [] };
  expect(read({})).toEqual(empty);
  expect(
    read({
      name: 1,
      kind: {},
      flag: "true",
      size: "4",
      part: "none",
      other: [],
      notes: "one",
      counts: { ready: "3" },
      amounts: 3,
      data: "x",
      list: ["a", 1],
    }),
  ).toEqual(empty);
  expect([read("no object"), read(null), read([])]).toEqual([undefined, undefined, undefined]);
});

test("no text acts on a terminal, in no member and no name", () => {
  expect(read({ name: "\u001b[2J", notes: ["a\nb"], counts: { "\u001b": 1 } })).toMatchObject({
    name: "\\u{1b}[2J",
    notes: ["a\\u{a}b"],
    counts: { "\\u{1b}": 1 },
  });
});

test("a member that the answer does not have is an error of the compiler, at any depth", () => {
  const known = read({});
  // @ts-expect-error: the answer has no member `label`.
  expect(known?.label).toBeUndefined();
  // @ts-expect-error: no form of an item has a member `weight`.
  expect(known?.list[0]?.weight).toBeUndefined();
});
