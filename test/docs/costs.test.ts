import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { runCommand } from "../cli/run-command.ts";
import { ROOT } from "../support/run-main.ts";

test.each([
  { words: "cost", from: 0 },
  { words: "cost --busy 1", from: 2 },
  { words: "cost --clusters 100", from: 2 },
  { words: "cost --clusters 100 --busy 20", from: 3 },
  { words: "cost --list-prices", from: 1 },
])("docs/costs.md has what $words prints", async ({ words, from }) => {
  const page = await readFile(`${ROOT}/docs/costs.md`, "utf8");
  const { out } = await runCommand(words.split(" "));
  const lines = out.split("\n").slice(from);
  // The page shows the first bill in full, and of the others the lines with costs.
  const last = words === "cost" ? lines.length : lines.findIndex((line) => line.startsWith("= all")) + 1;
  for (const line of lines.slice(0, last === 0 ? lines.length : last))
    if (line !== "") expect(page).toContain(`\n    ${line}\n`);
});
