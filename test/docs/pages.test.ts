import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ROUTES } from "../../functions/routes.ts";
import { compile } from "../../src/decide/constraints/match.ts";
import { ClusterBuckets } from "../../src/decide/world/cluster-buckets.ts";
import type { NodeProperty } from "../../src/domain/constraint.ts";
import { NODE_PROPERTIES } from "../../src/domain/constraint.ts";
import { arrayName, machineType } from "../../src/domain/ids.ts";
import { STOREYS } from "../house/rooms.ts";
import { ROOT } from "../support/run-main.ts";

/** Compares statements of the pages with the repository. */

const read = (path: string): string => readFileSync(`${ROOT}/${path}`, "utf8");
const pages = readdirSync(`${ROOT}/docs`).filter((name) => name.endsWith(".md"));

/** The first cells of the table rows below a heading, up to the next heading. */
function firstCells(page: string, heading: string): readonly string[] {
  const [, section = ""] = page.split(`\n${heading}\n`);
  const [own = ""] = section.split(/\n#+ /);
  return [...own.matchAll(/^\| ([^|]+?) \|/gm)].slice(2).map(([, cell = ""]) => cell.replaceAll("`", ""));
}

test("the README is one screen and a half: at most 8 KB", () => {
  expect(Buffer.byteLength(read("README.md"))).toBeLessThanOrEqual(8192);
});

test("the README leads to every page", () => {
  const readme = read("README.md");
  expect(pages.filter((name) => !readme.includes(`](docs/${name})`))).toEqual([]);
});

test.each(STOREYS)(
  "docs/architecture.md describes each room of $folder from the ground up",
  ({ folder, rooms }) => {
    const described = firstCells(read("docs/architecture.md"), `### Rooms of \`${folder}\``);
    const folders = readdirSync(`${ROOT}/${folder}`, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(described.toSorted()).toEqual(folders.toSorted());
    expect(described).toEqual([...rooms]);
  },
);

test("no page has a section twice", () => {
  const twice = pages.flatMap((name) => {
    const prose = read(`docs/${name}`).replaceAll(/^```[\s\S]*?^```/gm, "");
    const titles = [...prose.matchAll(/^## (.+)$/gm)].map(([, title = ""]) => `${name}: ${title}`);
    return titles.filter((title, index) => titles.indexOf(title) !== index);
  });
  expect(twice).toEqual([]);
});

test("the words of the glossary are in order", () => {
  const words = firstCells(read("docs/architecture.md"), "## Glossary");
  expect(words).toEqual(words.toSorted());
  expect(words).not.toEqual([]);
});

test("each type of the glossary is exported by exactly one file of the domain, the decisions, the use cases or the answers", () => {
  const [, glossary = ""] = read("docs/architecture.md").split("\n## Glossary\n");
  const types = [...glossary.matchAll(/\| `(\w+)` \|$/gm)].map(([, name = ""]) => name);
  const folders = ["src/domain", "src/decide", "src/app", "src/wire/api"];
  const sources = folders.flatMap((folder) =>
    readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => read(`${folder}/${name}`)),
  );
  const count = (type: string): number =>
    sources.filter((text) => new RegExp(`^export (?:type|interface) ${type}\\b`, "m").test(text)).length;
  expect(types.filter((type) => count(type) !== 1)).toEqual([]);
  expect(types.length).toBe(firstCells(read("docs/architecture.md"), "## Glossary").length);
});

test("docs/http.md has every route with its methods", () => {
  const page = read("docs/http.md").split("\n## ")[0] ?? "";
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  const missing = ROUTES.filter(({ route, methods }) => {
    const path = route.replace("{cluster}", "{c}").replace("{set}", "{s}");
    return !rows.some(
      (row) =>
        (row.includes(`/api/${path}\``) ||
          row.includes(`/api/${path}?`) ||
          row.includes(`...${path.replace("clusters/{c}", "")}\``)) &&
        methods.every((method) => row.includes(method)),
    );
  });
  expect(missing.map(({ name }) => name)).toEqual([]);
});

const NEW_NODE = new ClusterBuckets([], { configured: [], own: [], catalogue: { sizes: new Map() } }).at(
  arrayName("execute"),
  machineType("F4"),
  undefined,
).view;
const NOTHING_SHARED = { left: new Map<string, number>(), values: new Map<string, string>() };

test("docs/demand.md lists the properties of a node that a constraint may name, and docs/scalelib.md counts them", () => {
  const [, section = ""] = read("docs/demand.md").split("\n### Constraints\n");
  const rows = (section.split("\n### ")[0] ?? "").split("\n").filter((line) => line.startsWith("| "));
  const namesIn = (row: string) => [...row.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
  const listed = rows.flatMap(namesIn);
  expect(listed.toSorted()).toEqual([...NODE_PROPERTIES].toSorted());
  // "not known" and "changes": no new node is made for a condition on them that could be met or not.
  const open = rows.filter((row) => /^\| (?:not known|changes)/.test(row));
  const before = open.flatMap(namesIn);
  const isOpen = (property: NodeProperty): boolean =>
    [[null], ["Ready"], [true]].some((choices) => {
      const judged = compile({ kind: "property-choice", property, choices })(NEW_NODE, NOTHING_SHARED);
      return judged.kind === "refused" && judged.unsure === true;
    });
  expect(before.toSorted()).toEqual(NODE_PROPERTIES.filter(isOpen).toSorted());
  const [, count = ""] = /^A node has (\d+) properties/m.exec(read("docs/scalelib.md")) ?? [];
  expect(Number(count)).toBe(NODE_PROPERTIES.length);
});

/** The entries of docs/decisions.md: the title, and the labelled lines below it. */
const entries = read("docs/decisions.md")
  .split(/^###? /m)
  .flatMap((part) => {
    const [title = "", ...lines] = part.trim().split("\n");
    return lines[0]?.startsWith("- ") === true ? [{ title, lines }] : [];
  });

test("each entry of docs/decisions.md has a context, a decision, a consequence and its files, and no entry is there twice", () => {
  const labels = ({ lines }: (typeof entries)[number]) =>
    lines.flatMap((line) => (line.startsWith("  ") ? [] : [/^- \*\*(\w+):\*\* \S/.exec(line)?.[1]]));
  const expected = ["Context", "Decision", "Consequence", "Where"];
  expect(entries.filter((entry) => labels(entry).join() !== expected.join())).toEqual([]);
  const titles = entries.map(({ title }) => title);
  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  expect(titles).not.toEqual([]);
});

test.each(entries)(
  "docs/decisions.md, $title: a comment in each of its files names it",
  ({ title, lines }) => {
    const files = [...(lines.at(-1) ?? "").matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file);
    const citation = `docs/decisions.md, "${title}"`;
    const isNamed = (file: string) =>
      existsSync(`${ROOT}/${file}`) &&
      read(file)
        .replaceAll(/\n\s*(?:\*|\/\/) /g, " ")
        .includes(citation);
    expect(files.filter((file) => !isNamed(file))).toEqual([]);
    expect(files).not.toEqual([]);
  },
);

test("docs/decisions.md has at most 400 lines", () => {
  expect(read("docs/decisions.md").split("\n").length - 1).toBeLessThanOrEqual(400);
});
