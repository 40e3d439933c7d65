import { expect, test } from "vitest";
import { z } from "zod";
import type { Named, Shown, Sparse } from "../../../src/wire/api/shown.ts";
import { withoutAbsent } from "../../../src/domain/without-absent.ts";

const schema = z.strictObject({
  name: z.string(),
  note: z.string().optional(),
  list: z.array(z.strictObject({ size: z.number().optional() })),
  counts: z.partialRecord(z.enum(["ready", "off"]), z.number()),
});

/** The lines marked below are errors of the compiler: `npm run typecheck` fails if one of them is not. */
test("what is shown has every member of the schema, as a value or as undefined, and its JSON fits the schema", () => {
  const shown: Shown<typeof schema> = {
    name: "demo",
    note: undefined,
    list: [{ size: undefined }, { size: 4 }],
    counts: { ready: 2 },
  };
  const json: unknown = JSON.parse(JSON.stringify(shown));
  expect(json).toStrictEqual({ name: "demo", list: [{}, { size: 4 }], counts: { ready: 2 } });
  expect(schema.safeParse(json).success).toBe(true);
});

test("a member of the schema that is not shown is an error of the compiler, also in a list", () => {
  // @ts-expect-error: `note` is in the schema.
  const shown: Shown<typeof schema> = { name: "demo", list: [], counts: {} };
  // @ts-expect-error: `size` is in the schema.
  const item: Shown<typeof schema>["list"][number] = {};
  expect(schema.safeParse({ ...shown, list: [item] }).success).toBe(true);
});

test("a member that is shown and not in the schema is an error of the compiler", () => {
  const shown: Shown<typeof schema> = {
    name: "demo",
    note: undefined,
    list: [],
    counts: {},
    // @ts-expect-error: `more` is not in the schema.
    more: 1,
  };
  expect(schema.safeParse(shown).success).toBe(false);
});

test("a document leaves out members that are undefined; each member must be named, and no other", () => {
  type Document = Sparse<typeof schema>;
  const given = { name: "demo", list: [], counts: { off: 1 } };
  expect(withoutAbsent({ ...given, note: undefined } satisfies Named<Document>)).toStrictEqual(given);
  // @ts-expect-error: `note` is in the schema.
  expect(withoutAbsent(given satisfies Named<Document>)).toStrictEqual(given);
  // @ts-expect-error: `name` may not be absent.
  expect(withoutAbsent({ ...given, note: "", name: undefined } satisfies Named<Document>)).not.toHaveProperty(
    "name",
  );
  // @ts-expect-error: `more` is not in the schema.
  expect(withoutAbsent({ ...given, note: "", more: 1 } satisfies Named<Document>)).toHaveProperty("more", 1);
});
