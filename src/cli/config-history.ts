import type { ConfigDifferences } from "../client/receipts.ts";
import { readConfigHistory } from "../client/receipts.ts";
import { weighConfig } from "../client/compare-configs.ts";
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
    return [`version ${number}, ${at}, by ${by}`, ...differenceLines(change)].join("\n");
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
  const weighed =
    answer.body.unreadable === undefined ? weighConfig(answer.body, read.policy, {}) : undefined;
  if (weighed === undefined) {
    terminal.complain("the configuration in force cannot be read; config get shows it");
    return EXIT.no;
  }
  const { differences, more } = weighed;
  if (options.json === true) terminal.say(jsonText({ differences, more }));
  else terminal.say(differences.length === 0 ? "no differences" : differenceLines(weighed).join("\n"));
  return EXIT.done;
}

/** One line for each value that differs. */
export function differenceLines({ differences, more }: ConfigDifferences): readonly string[] {
  const lines = differences.map(
    ({ path, before = "nothing", after = "nothing" }) => `  ${path}: ${before} -> ${after}`,
  );
  return more === 0 ? lines : [...lines, `  and ${more} more`];
}

/** Version 0: the defaults. */
export const versionText = (number: number): string => (number === 0 ? "the defaults" : `version ${number}`);
