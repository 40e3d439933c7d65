import tab from "@bomb.sh/tab/commander";
import type { Command, Option } from "commander";
import { callApi } from "../client/call.ts";
import { pathOf } from "../client/requests.ts";
import { isName } from "../client/index.ts";
import { readClusters, readState } from "../client/readers.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";
import type { Seconds } from "../domain/units.ts";

/** The last line of an answer: whether the shell completes file names, or only the offered words. */
const FILES = ":0";
const NO_FILES = ":4";

/** The kind of word at a place of the command line, if it is neither a command nor an option. */
type Place = "file" | "cluster" | "set" | "nodearray" | "node" | "job";

/** By the long name of an option. */
const OPTIONS: ReadonlyMap<string, Place> = new Map([
  ["--file", "file"],
  ["--settings", "file"],
  ["--config", "file"],
  ["--day", "file"],
  ["--prices", "file"],
  ["--cluster", "cluster"],
  ["--request-set", "set"],
  ["--name", "nodearray"],
  ["--nodearray", "nodearray"],
]);

/** The first argument of a command. */
const ARGUMENTS: ReadonlyMap<string, Place> = new Map([
  ["push", "file"],
  ["config put", "file"],
  ["config validate", "file"],
  ["delete", "set"],
  ["explain job", "job"],
  ["explain node", "node"],
]);

/** Adds the command that prints a shell's script, and the one that the script calls. */
export function registerCompletion(program: Command): void {
  tab(program, { completionCommandName: "completion" });
  program.commands
    .find((command) => command.name() === "completion")
    ?.description("print the completion script of a shell");
}

/**
 * Answers a shell's question: files if a file is expected, or names from the app if a name is expected. Undefined if neither is expected, so
 * that the library offers its commands and options. Prints no names if the app does not answer at once.
 */
export async function completeNames(
  program: Command,
  words: readonly string[],
  terminal: Terminal,
): Promise<ExitCode | undefined> {
  const asked = placeOf(program, words);
  if (asked === undefined) return undefined;
  if (asked.place === "file") {
    terminal.say(FILES);
    return EXIT.done;
  }
  const current = words.at(-1);
  const begins = (name: string) => current === undefined || name.startsWith(current);
  const names = await namesFor(asked.place, asked.given, terminal);
  for (const name of new Set(names)) if (isPlain(name) && begins(name)) terminal.say(name);
  terminal.say(NO_FILES);
  return EXIT.done;
}

/**
 * Other senders chose the names, and a shell expands the words that it is offered. So only names without special characters are offered.
 */
function isPlain(name: string): boolean {
  return /^[\w.@%+,/-]+$/.test(name);
}

/** Option values typed so far, by long name. */
type Given = ReadonlyMap<string, string>;

function placeOf(
  program: Command,
  words: readonly string[],
): { readonly place: Place; readonly given: Given } | undefined {
  if (words.at(-1)?.startsWith("-") === true) return undefined;
  const given = new Map<string, string>();
  let command = program;
  const path: string[] = [];
  let positions = 0;
  let open: Option | undefined;
  for (const word of words.slice(0, -1)) {
    if (open !== undefined) {
      if (open.long !== undefined) given.set(open.long, word);
      open = undefined;
    } else if (word.startsWith("-")) {
      const option = command.options.find((one) => one.short === word || one.long === word);
      open = option?.required === true ? option : undefined;
    } else {
      const below = command.commands.find((one) => one.name() === word);
      if (below === undefined) positions += 1;
      else {
        command = below;
        path.push(word);
      }
    }
  }
  const place = open === undefined ? argumentAt(path, positions) : optionOf(open);
  return place === undefined ? undefined : { place, given };
}

function argumentAt(path: readonly string[], position: number): Place | undefined {
  return position === 0 ? ARGUMENTS.get(path.join(" ")) : undefined;
}

function optionOf({ long }: Option): Place | undefined {
  return long === undefined ? undefined : OPTIONS.get(long);
}

/** Short, because the shell is blocked during this time. */
const LONGEST_SECONDS: Seconds = 2;

async function namesFor(
  place: Exclude<Place, "file">,
  given: Given,
  { environment }: Terminal,
): Promise<readonly string[]> {
  const url = given.get("--url") ?? environment["AUTOSCALER_URL"];
  const key = given.get("--key") ?? environment["AUTOSCALER_KEY"];
  const cluster = given.get("--cluster") ?? environment["AUTOSCALER_CLUSTER"];
  if (url === undefined || key === undefined || !URL.canParse(url)) return [];
  const ask = async (path: string): Promise<unknown> => {
    const answer = await callApi({ url, key }, { method: "GET", path, seconds: LONGEST_SECONDS });
    return answer.kind === "answered" ? answer.body : undefined;
  };
  if (place === "cluster") {
    const { clusters = [] } = readClusters(await ask("/api/clusters")) ?? {};
    return defined(clusters.map(({ cluster: name }) => name));
  }
  if (cluster === undefined || !isName(cluster)) return [];
  const state = readState(await ask(pathOf(cluster)));
  if (state === undefined) return [];
  switch (place) {
    case "set":
      return defined(state.demand.map(({ requestSet }) => requestSet));
    case "nodearray":
      return defined(state.nodearrays.map(({ name }) => name));
    case "node":
      return defined(state.nodes.list.map(({ name }) => name));
    case "job":
      return defined(state.outcomes.map(({ id }) => id));
  }
}

function defined(names: readonly (string | undefined)[]): readonly string[] {
  return names.filter((name) => name !== undefined);
}

/**
 * The script of the library with two corrections: it may be read twice in one shell, which read-only constants would prevent, and bash
 * completes files unless the answer forbids it.
 */
export function mendScript(script: string): string {
  return script
    .replaceAll(/^readonly (?=ShellComp)/gm, "")
    .replaceAll(/^complete -F /gm, "complete -o default -F ");
}

/** Runs a function that prints by console.log, as the library does, and returns the printed text. */
export async function capture(work: () => Promise<unknown>): Promise<string> {
  const lines: string[] = [];
  const { log } = console;
  console.log = (line: string) => void lines.push(line);
  try {
    await work();
  } finally {
    console.log = log;
  }
  return lines.join("\n");
}
