import { expect, test } from "vitest";
import type { Answer } from "../../src/client/answer.ts";
import { readPages } from "../../src/client/pages.ts";

interface Body {
  readonly cluster: string;
  readonly nodes: { readonly count: number; readonly list: readonly string[] };
  readonly outcomes: readonly string[];
  readonly pages?: readonly { readonly list: string }[];
  readonly next?: string;
}

const answered = (body: Body): Answer<Body> => ({ kind: "answered", status: 200, body });
const body = (list: readonly string[], outcomes: readonly string[], more: Partial<Body> = {}): Body => ({
  cluster: "prod",
  nodes: { count: 5, list },
  outcomes,
  ...more,
});

function asking(answers: ReadonlyMap<string | undefined, Answer<Body>>) {
  const asked: (string | undefined)[] = [];
  const ask = (page: string | undefined): Promise<Answer<Body>> => {
    asked.push(page);
    return Promise.resolve(answers.get(page) ?? { kind: "unreachable", message: `no page ${page}` });
  };
  return { ask, asked };
}

test("lists are put together page after page; what is no list is as on the first page", async () => {
  const { ask, asked } = asking(
    new Map([
      [undefined, answered(body(["a", "b"], ["x"], { pages: [{ list: "nodes.list" }], next: "p2" }))],
      ["p2", answered(body(["c", "d"], [], { pages: [{ list: "nodes.list" }], next: "p3" }))],
      ["p3", answered(body(["e"], [], { pages: [{ list: "nodes.list" }] }))],
    ]),
  );
  const answer = await readPages(ask);
  expect(JSON.parse(JSON.stringify(answer))).toEqual(answered(body(["a", "b", "c", "d", "e"], ["x"])));
  expect(asked).toEqual([undefined, "p2", "p3"]);
});

test("an answer of one page, also of an app that knows none, is taken as it is", async () => {
  const { ask, asked } = asking(new Map([[undefined, answered(body(["a"], []))]]));
  expect(await readPages(ask)).toEqual(answered(body(["a"], [])));
  expect(asked).toEqual([undefined]);
});

test("a page that is refused is the answer: a list without its end would be taken for whole", async () => {
  const { ask } = asking(
    new Map([[undefined, answered(body(["a"], [], { pages: [{ list: "nodes.list" }], next: "p2" }))]]),
  );
  expect(await readPages(ask)).toEqual({ kind: "unreachable", message: "no page p2" });
});
