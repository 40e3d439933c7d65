import { expect, test } from "vitest";
import { z } from "zod";
import { listOf, number, readerOf, text } from "../../src/client/readable.ts";

interface Answer {
  readonly name: string;
  readonly list: readonly ({ readonly size: number } | { readonly kind: string })[];
}

test("a reader takes the members that it knows, of every form of an answer, and leaves out the rest", () => {
  const read = readerOf<Answer>()(z.object({ list: listOf(z.object({ size: number, kind: text })) }));
  expect(read({ name: "demo", list: [{ size: 4, more: true }, { kind: "b" }] })).toEqual({
    list: [{ size: 4 }, { kind: "b" }],
  });
  expect(read("no object")).toBeUndefined();
});

test("a member that the answer does not have is an error of the compiler, at any depth", () => {
  // @ts-expect-error: the answer has no member `label`.
  const label = readerOf<Answer>()(z.object({ label: text }));
  // @ts-expect-error: no form of an item has a member `weight`.
  const weight = readerOf<Answer>()(z.object({ list: listOf(z.object({ weight: number })) }));
  expect([label({}), weight({})]).toEqual([{}, { list: [] }]);
});
