import { validateConfig } from "../client/index.ts";
import type { ConfigDifferenceAnswer } from "../client/receipts.ts";
import { readConfigHistory } from "../client/receipts.ts";
import { compareConfigs } from "../client/compare-configs.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { ClusterOptions } from "./options.ts";
import { appOf } from "./options.ts";
import { readConfigFile } from "./read-config.ts";
import type { Telling } from "./tell.ts";
import { jsonText, tell, UNREADABLE } from "./tell.ts";
import type { Terminal } from "./terminal.ts";

/** The changes of a configuration as text: past ones, and those that a file would make. */

export const tellConfigHistory: Telling = (body) => {
  const read = readConfigHistory(body);
  if (read === undefined) return { text: UNREADABLE };
  const texts = read.changes.map(({ number, at = "before changes were recorded", ...change }) => {
    const { rollbackTo, who } = change;
    const by = rollbackTo === undefined ? who : `${who}, back to ${versionText(rollbackTo)}`;
    const lines = differenceLines(change.differences, change.more);
    return [`version ${number}, ${at}, by ${by}`, ...lines].join("\n");
  });
  return { text: texts.length === 0 ? "no changes" : texts.join("\n") };
};

/** Shows what this file would change. The exit code is 0 whether there are differences or not. */
export async function diffConfig(
  terminal: Terminal,
  file: string,
  options: ClusterOptions,
): Promise<ExitCode> {
  const read = await readConfigFile(terminal, file);
  if (read.kind === "failed") return read.code;
  const answer = await appOf(options).config(options.cluster);
  if (answer.kind !== "answered") return tell(terminal, answer, options.json === true, () => ({ text: "" }));
  const held = validateConfig(JSON.stringify(answer.body));
  if (held.kind === "problems" || answer.body.unreadable !== undefined) {
    terminal.complain("the configuration in force cannot be read; config get shows it");
    return EXIT.no;
  }
  const { differences, more } = compareConfigs(held.document, read.document);
  if (options.json === true) terminal.say(jsonText({ differences, more }));
  else
    terminal.say(differences.length === 0 ? "no differences" : differenceLines(differences, more).join("\n"));
  return EXIT.done;
}

function differenceLines(differences: readonly ConfigDifferenceAnswer[], more: number): readonly string[] {
  const lines = differences.map(
    ({ path, before = "nothing", after = "nothing" }) => `  ${path}: ${before} -> ${after}`,
  );
  return more === 0 ? lines : [...lines, `  and ${more} more`];
}

/** Version 0: the defaults. */
export const versionText = (number: number): string => (number === 0 ? "the defaults" : `version ${number}`);
