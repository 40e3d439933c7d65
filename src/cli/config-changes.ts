import { validateConfig } from "../client/index.ts";
import type { Answer } from "../client/answer.ts";
import { isConfigPath, weighConfig } from "../client/compare-configs.ts";
import { readConfigWritten, readConfigHistory } from "../client/readers.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { ClusterOptions } from "./options.ts";
import { appOf } from "./options.ts";
import { nameOf, readJson } from "./read-json.ts";
import type { Column } from "./table.ts";
import { renderTable } from "./table.ts";
import { complainOfProblems, tell, jsonText, UNREADABLE } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import { problemText } from "../client/error.ts";
import type { Telling } from "./tell.ts";
import type { ConfigRead } from "../client/index.ts";

/** The commands that change a cluster's configuration, and what they print of the change. */

export type PutOptions = ClusterOptions & { readonly replace?: true };

/**
 * Puts a document, made for the version that is in force now. Without `--replace` only if no key in force disappears. With it, the document
 * is sent as it is, and the app alone reads it.
 */
export async function putConfig(terminal: Terminal, file: string, options: PutOptions): Promise<ExitCode> {
  const input = await readJson(terminal, file);
  if ("code" in input) return input.code;
  const app = appOf(options);
  const held = await app.config(options.cluster);
  if (held.kind !== "answered") return tell(terminal, held, options.json === true, () => ({ text: "" }));
  if (options.replace !== true) {
    const refusal = refuseLoss(terminal, file, input, held.body);
    if (refusal !== undefined) return refusal;
  }
  const answer = await app.putConfig(options.cluster, input.text, held.body.version);
  return tellWritten(terminal, options, answer, "put");
}

/** Says what putting a document would take away. Undefined: nothing, so it may be put. */
function refuseLoss(
  terminal: Terminal,
  file: string,
  { text, value }: { readonly text: string; readonly value: unknown },
  held: object,
): ExitCode | undefined {
  const read = validateConfig(text);
  if (read.kind === "problems") {
    complainOfProblems(terminal, nameOf(file), read.problems);
    return EXIT.usage;
  }
  const given = typeof value === "object" && value !== null ? value : {};
  const weighed = "unreadable" in held ? undefined : weighConfig(held, read.policy, given);
  if (weighed !== undefined && weighed.lost === undefined) return undefined;
  if (weighed === undefined)
    terminal.complain("the configuration in force cannot be read, so it is not known what this takes away");
  else {
    terminal.complain(
      `${nameOf(file)} would take away what is in force: ${weighed.lost}. All that it changes:`,
    );
    for (const line of differenceLines(weighed)) terminal.complain(line);
  }
  terminal.complain(
    "nothing was put. Change single keys with config set, or replace the whole document with --replace",
  );
  return EXIT.usage;
}

/** Sets single keys. A value is JSON if it can be read as JSON, else text. */
export async function setConfig(
  terminal: Terminal,
  assignments: readonly string[],
  options: ClusterOptions,
): Promise<ExitCode> {
  const set = new Map<string, unknown>();
  for (const text of assignments) {
    const { key, value } = ASSIGNMENT.exec(text)?.groups ?? {};
    if (key === undefined || value === undefined || !isConfigPath(key)) {
      terminal.complain(`found ${JSON.stringify(text)}, expected KEY=VALUE, as in mode=observe`);
      return EXIT.usage;
    }
    if (set.has(key)) {
      terminal.complain(`found ${key} twice, expected one value for it`);
      return EXIT.usage;
    }
    set.set(key, jsonOrText(value));
  }
  const answer = await appOf(options).patchConfig(options.cluster, { set: Object.fromEntries(set) });
  return tellWritten(terminal, options, answer, "set");
}

/** Up to the first "=" that stands in no brackets. */
const ASSIGNMENT = /^(?<key>(?:[^="[]|\["(?:[^"\\]|\\.)*"\]|\[[^\]"]*\])+)=(?<value>[\s\S]*)$/;

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Takes single keys away. */
export async function unsetConfig(
  terminal: Terminal,
  keys: readonly string[],
  options: ClusterOptions,
): Promise<ExitCode> {
  const wrong = keys.find((key) => !isConfigPath(key));
  if (wrong !== undefined) {
    terminal.complain(`found ${JSON.stringify(wrong)}, expected a key, as in caps.users`);
    return EXIT.usage;
  }
  const answer = await appOf(options).patchConfig(options.cluster, { unset: [...new Set(keys)] });
  return tellWritten(terminal, options, answer, "unset");
}

/** What a change has done: each value that differs, and what the app says of the document. */
export function tellWritten(
  terminal: Terminal,
  options: ClusterOptions,
  answer: Answer,
  done: string,
): ExitCode {
  return tell(terminal, answer, options.json === true, (body) => {
    const changes = readConfigWritten(body);
    if (changes === undefined) return { text: UNREADABLE };
    const lines = [...differenceLines(changes)];
    // An older app does not say what changed.
    if (changes.more === 0 && changes.differences.length === 0) lines.push("  no differences");
    const left = changes.underWay.map(
      ({ effect = "?", nodes = 0, nodearrays, until = "?" }) =>
        `under way from before: ${effect} of ${nodes} nodes in ${nodearrays.join(", ")}, not sent after ${until}`,
    );
    return { text: [`${done}; in force`, ...lines, ...left, ...notesOf(body)].join("\n") };
  });
}

interface KeyRow {
  readonly key: string | undefined;
  readonly becomes: string;
}

const KEY_COLUMNS: readonly Column<KeyRow>[] = [
  ["KEY", ({ key }) => key],
  ["RESULT", ({ becomes }) => becomes],
];

/** What the app, or `config validate`, says of a document. Members that an answer does not have are empty. */
export function notesOf(answer: unknown): readonly string[] {
  const read = readConfigWritten(answer);
  if (read === undefined) return [];
  const { used, ignored, doubts, unknownNodearrays, losses, notes } = read;
  const rows = [
    ...used.map(({ key, as }) => ({ key, becomes: key === as ? "used" : `used as ${as ?? "?"}` })),
    ...ignored.map(({ key, why }) => ({ key, becomes: `ignored: ${why ?? "?"}` })),
  ];
  // A document with only the app's own keys needs no report.
  const isPlain = ignored.length === 0 && used.every(({ key, as }) => key === as);
  return [
    ...(isPlain ? [] : [renderTable(KEY_COLUMNS, rows, "")]),
    ...notes.map((note) => `note: ${note}`),
    ...(unknownNodearrays.length === 0
      ? []
      : [`warning: node arrays that the cluster does not have: ${unknownNodearrays.join(", ")}`]),
    ...losses.flatMap(({ requestSet = "?", loses }) =>
      loses.map((loss) => `warning: request set ${requestSet} loses: ${loss}`),
    ),
    ...doubts.map((doubt) => `warning: doubtful: ${problemText(doubt)}`),
  ];
}

// The changes of a configuration as text: past ones, and those that a file would make.

export const tellConfigHistory: Telling = (body) => {
  const read = readConfigHistory(body);
  if (read === undefined) return { text: UNREADABLE };
  const texts = read.changes.map(({ number = 0, at = "before changes were recorded", ...change }) => {
    const { rollbackTo, who = "unknown" } = change;
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

type Changes = Pick<NonNullable<ReturnType<typeof readConfigWritten>>, "differences" | "more">;

/** One line for each value that differs. */
function differenceLines({ differences, more = 0 }: Changes): readonly string[] {
  const lines = differences.map(
    ({ path = "?", before = "nothing", after = "nothing" }) => `  ${path}: ${before} -> ${after}`,
  );
  return more === 0 ? lines : [...lines, `  and ${more} more`];
}

/** Version 0: the defaults. */
export const versionText = (number: number): string => (number === 0 ? "the defaults" : `version ${number}`);

/** Reads a configuration document from a file and checks it without the app. `code`: it cannot be used, and the terminal says why. */
export async function readConfigFile(
  terminal: Terminal,
  file: string,
): Promise<Exclude<ConfigRead, { kind: "problems" }> | { readonly kind: "failed"; readonly code: ExitCode }> {
  const input = await readJson(terminal, file);
  if ("code" in input) return { kind: "failed", code: input.code };
  const read = validateConfig(input.text);
  if (read.kind !== "problems") return read;
  complainOfProblems(terminal, nameOf(file), read.problems);
  return { kind: "failed", code: EXIT.usage };
}
