import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ROOT } from "../support/run-main.ts";
import type { Targets, Text } from "./citations.ts";
import { deadCitations, deadLinks } from "./citations.ts";

/** Everything that code cites and that pages link to is in the repository. */

const read = (path: string): string => readFileSync(`${ROOT}/${path}`, "utf8");
const filesBelow = (folder: string, ending: RegExp): readonly Text[] =>
  readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => ending.test(path))
    .map((path) => ({ path, text: read(path) }));

const sources = ["src", "functions", "infra", "test"].flatMap((folder) =>
  filesBelow(folder, /\.(?:ts|mjs|bicep|bicepparam|kql)$/),
);
const pages = filesBelow("docs", /\.md$/);
const above = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].map((path) => ({
  path,
  text: read(path),
}));
const targets: Targets = {
  pages: new Map(pages.map(({ path, text }) => [path.replace("docs/", ""), text])),
  has: (path) => existsSync(`${ROOT}/${path}`),
};

test("every citation in a comment leads to a page, a heading or a number of the repository", () => {
  expect(sources).not.toEqual([]);
  // The dead citations that this test plants are texts, not comments.
  expect(sources.flatMap((source) => deadCitations(source, targets))).toEqual([]);
});

test("every citation in a page does, too", () => {
  const all = [...above, ...pages, ...filesBelow("test", /\.md$/)];
  const asComment = ({ path, text }: Text): Text => ({ path, text: `/** ${text.replaceAll("*/", "")} */` });
  expect(all.flatMap((page) => deadCitations(asComment(page), targets))).toEqual([]);
});

test("every relative link of README, docs and the pages of tests leads somewhere, anchors included", () => {
  const all = [...above, ...pages, ...filesBelow("test", /\.md$/)];
  expect(all.flatMap((page) => deadLinks(page, targets, read))).toEqual([]);
});

describe("a dead one is found", () => {
  test.each([
    {
      name: "a page outside",
      comment: "(design.md section 3)",
      found: ["a.ts: design.md", "a.ts: no page design.md"],
    },
    {
      name: "a page that there is not",
      comment: "docs/no-such-page.md says so",
      found: ["a.ts: no page docs/no-such-page.md"],
    },
    { name: "a section of the wire", comment: "(cyclecloud-wire.md A.99)", found: ["a.ts: no A.99"] },
    {
      name: "a number in a section",
      comment: "(A.3, semantics 1 to 66)",
      found: ["a.ts: no A.3, semantics 1 to 66"],
    },
    {
      name: "a part of the wire",
      comment: "(cyclecloud-wire.md Z)",
      found: ["a.ts: no cyclecloud-wire.md Z"],
    },
    {
      name: "a section of scalelib",
      comment: "(scalelib.md 10 and 99)",
      found: ["a.ts: no scalelib.md 10 and 99"],
    },
    { name: "a defect", comment: "(defect 999)", found: ["a.ts: no defect 999"] },
    {
      name: "a heading",
      comment: "(docs/protocol.md, No such heading)",
      found: ['a.ts: no heading "No such heading" in docs/protocol.md'],
    },
    {
      name: "a wrapped one",
      comment: "(docs/protocol.md,\n * No such heading)",
      found: ['a.ts: no heading "No such heading" in docs/protocol.md'],
    },
    {
      name: "a section of the platform",
      comment: "(platform.md section 77)",
      found: ["a.ts: no platform.md section 77"],
    },
    {
      name: "none",
      comment:
        '(docs/protocol.md, Observations and Plans; cyclecloud-wire.md A.3, semantics 1 and 2; platform.md section 3, "backoff")',
      found: [],
    },
  ])("$name", ({ comment, found }) => {
    expect(deadCitations({ path: "a.ts", text: `/** Says ${comment}. */\n` }, targets)).toEqual(found);
  });

  test("in a comment of Bicep", () => {
    // The slashes are put in, as the test above reads this file, too.
    const text = "resource a 'b' = {\n  SLASHES The platform needs it (azure.md 1.2).\n  c: 'd'\n}\n";
    expect(deadCitations({ path: "infra/a.bicep", text: text.replace("SLASHES", "//") }, targets)).toEqual([
      "infra/a.bicep: no page azure.md",
    ]);
  });

  test.each([
    { link: "no-such-page.md", found: ["docs/a.md: no no-such-page.md"] },
    { link: "cli.md#no-such-heading", found: ["docs/a.md: no anchor cli.md#no-such-heading"] },
    { link: "../LICENSE", found: [] },
    { link: "cli.md#after-a-restore", found: [] },
    { link: "https://example.com/no-such-page", found: [] },
  ])("a link to $link", ({ link, found }) => {
    expect(deadLinks({ path: "docs/a.md", text: `See [this](${link}).\n` }, targets, read)).toEqual(found);
  });
});
