import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { clusterAnswer } from "../../src/wire/api/cluster-answer.ts";
import { runCommand } from "../cli/run-command.ts";
import { ROOT } from "../support/run-main.ts";

/** The commands, options, settings and log events that the pages name exist. */

const read = (path: string): string => readFileSync(`${ROOT}/${path}`, "utf8");
const pages = [
  "README.md",
  "infra/cli-readme.md",
  ...readdirSync(`${ROOT}/docs`).map((name) => `docs/${name}`),
]
  .filter((path) => path.endsWith(".md"))
  // Decisions name options that were rejected, and the quickstart is tested as a whole (quickstart.test.ts).
  .filter((path) => path !== "docs/decisions.md" && path !== "docs/quickstart.md")
  .map((path) => ({ path, text: read(path) }));
const sources = ["src", "functions", "infra"]
  .flatMap((folder) =>
    readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:ts|py|bicep|bicepparam|json|kql|mjs)$/.test(name))
      .map((name) => read(`${folder}/${name}`)),
  )
  .join("\n");

/** Command lines in code: `cyclecloud-autoscaler WORDS`, and the cells of the table of commands in cli.md. */
function linesOf(path: string, text: string): readonly string[] {
  const lines = [...text.matchAll(/\bcyclecloud-autoscaler ((?:[a-z]+|--)[^`\n|]*)/g)].map(
    ([, line = ""]) => line,
  );
  if (path !== "docs/cli.md") return lines;
  const [, table = ""] = text.split("\n## Commands\n");
  const rows = (table.split("\n## ")[0] ?? "").split("\n").filter((row) => row.startsWith("| `"));
  const cells = rows.flatMap((row) => [...(row.split(/(?<!\\)\|/)[1] ?? "").matchAll(/`([^`]+)`/g)]);
  return [...lines, ...cells.map(([, cell = ""]) => cell.replaceAll(String.raw`\|`, "|"))];
}

/** The name of a command line's command, and the names of its options. */
function namesIn(line: string): { readonly command: string; readonly options: readonly string[] } {
  const [command = "", second = ""] =
    line
      .split(/\s{2,}#/)[0]
      ?.trim()
      .split(/[\s|;]+/) ?? [];
  const isGroup = command === "config" || command === "explain";
  return {
    command: isGroup && /^[a-z]+$/.test(second) ? `${command} ${second}` : command,
    options: [...line.matchAll(/(?<![\w-])(--[a-z][a-z-]*|-[a-zA-Z])(?![\w-])/g)].map(
      ([, option = ""]) => option,
    ),
  };
}

const used = pages.flatMap(({ path, text }) =>
  linesOf(path, text).map((line) => ({ path, ...namesIn(line) })),
);

test("each command line on a page has a command and options that there are", async () => {
  expect(used.length).toBeGreaterThan(60);
  const helps = new Map<string, string>();
  for (const command of new Set(used.map((one) => one.command)))
    helps.set(
      command,
      (await runCommand([...command.split(" "), "--help"].filter((word) => word !== ""))).out,
    );
  const wrong = used.flatMap(({ path, command, options }) => {
    const help = helps.get(command) ?? "";
    const [first = ""] = help.split("\n");
    if (!command.startsWith("--") && !first.startsWith(`Usage: cyclecloud-autoscaler ${command} `))
      return [`${path}: no command ${command}`];
    const isThere = (option: string) => new RegExp(`(?:^|[ ,])${option}(?:[ ,]|$)`, "m").test(help);
    return options
      .filter((option) => !isThere(option))
      .map((option) => `${path}: ${command} has no ${option}`);
  });
  expect(wrong).toEqual([]);
});

test("each setting and variable that a page names is in the code", () => {
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\bAUTOSCALER_[A-Z_]*[A-Z]\b/g)].map(([name]) => ({ path, name })),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ name }) => !new RegExp(`\\b${name}(?![A-Z])`).test(sources))).toEqual([]);
});

test("each trouble that a page names is one", () => {
  const troubles = new Set<string>(clusterAnswer.shape.troubles.element.shape.kind.options);
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/trouble(?: and warning)?,? `([a-z-]+)`/g)].map(([, name = ""]) => ({ path, name })),
  );
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter(({ name }) => !troubles.has(name))).toEqual([]);
});

test("each npm script that a page names is in package.json", () => {
  const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(read("package.json"));
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\bnpm run (?:-s )?([a-z][a-z:]*)/g)].map(([, name = ""]) => ({ path, name })),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ name }) => !(name in scripts))).toEqual([]);
});

test("each file that a page names between backticks is there", () => {
  const all = ["docs", "."].flatMap((folder) =>
    readdirSync(`${ROOT}/${folder}`)
      .filter((name) => name.endsWith(".md"))
      .map((name) => (folder === "." ? name : `${folder}/${name}`)),
  );
  const named = all.flatMap((path) =>
    [...read(path).matchAll(/`((?:src|functions|infra|test|docs|\.github)\/[\w./-]*\w)`/g)].map(
      ([, file = ""]) => ({
        path,
        file,
      }),
    ),
  );
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter(({ file }) => !existsSync(`${ROOT}/${file}`))).toEqual([]);
});
