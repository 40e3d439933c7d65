import { Option } from "commander";
import type { Cluster, Comparison } from "../client/answers.ts";
import { showText } from "../client/readable.ts";
import { isWholeState, readHistory } from "../client/readers.ts";
import type { Seconds } from "../domain/units.ts";
import type { Costs } from "../page/words.ts";
import { ARRAY_FIGURES, figuresOf, momentText, sentenceOf, wouldBeText } from "../page/words.ts";
import type { ApiOptions, Register } from "./options.ts";
import { appOf, cluster, key, readPositive, url, wrapped } from "./options.ts";
import { causeText } from "./render-status.ts";
import type { Shot } from "./state-commands.ts";
import { codeOf, isFinal, watch } from "./state-commands.ts";
import { COLUMNS, fold, renderTable } from "./table.ts";
import { tell, UNREADABLE } from "./tell.ts";
import type { Terminal } from "./terminal.ts";

type TopOptions = ApiOptions & { readonly cluster: string; readonly interval: Seconds };

const INTERVAL_SECONDS: Seconds = 5;
/** Ends it. */
const END_KEY = "q";

/** The view Now of the page (docs/page.md) in a terminal, in the same words. */
export function registerTop({ program, terminal, run }: Register): void {
  program
    .command("top")
    .description("show what the page shows first, refreshed in place until q or Ctrl-C")
    .addHelpText(
      "after",
      wrapped(
        "Shows the view Now of the page. Where standard output is not a terminal, it is printed once. The exit code is then that of status.",
      ),
    )
    .addOption(cluster().makeOptionMandatory())
    .addOption(url().makeOptionMandatory())
    .addOption(key().makeOptionMandatory())
    .addOption(
      new Option("--interval <seconds>", "refresh after this time")
        .argParser(readPositive)
        .default(INTERVAL_SECONDS),
    )
    .action((options: TopOptions) =>
      run(async () => {
        if (terminal.columns === undefined) return (await shoot(terminal, options)).code;
        return watch(terminal, options.interval, (to) => shoot(to, options), END_KEY);
      }),
    );
}

/** Asks, and shows one picture or why there is none. */
async function shoot(terminal: Terminal, options: TopOptions): Promise<Shot> {
  const api = appOf(options);
  const [state, history] = await Promise.all([
    api.state(options.cluster),
    api.history(options.cluster, { limit: 1 }),
  ]);
  const row = history.kind === "answered" ? readHistory(history.body)?.rows[0] : undefined;
  const whole = state.kind === "answered" && isWholeState(state.body) ? state.body : undefined;
  const comparison =
    whole?.observing === undefined
      ? undefined
      : await api.comparison(options.cluster, { since: whole.now.slice(0, 10) });
  const missing = [state, history, comparison].find((one) => one !== undefined && one.kind !== "answered");
  const code = tell(terminal, missing ?? state, false, () => {
    if (whole === undefined) return { text: UNREADABLE };
    const observing = comparison?.kind === "answered" ? comparison.body.observing : undefined;
    const picture = pictureOf(whole, row, observing, terminal.columns ?? COLUMNS);
    return { text: fitted(picture, whole.now, options, terminal), code: codeOf([whole.health]) };
  });
  return { code, refused: isFinal(missing ?? state) };
}

/** Figures stand beside each other where there is room for this much. */
const FIGURE = 32;

/** The lines of a picture. Texts of others are shown in lines of ours. */
function pictureOf(
  state: Cluster,
  row: Costs | undefined,
  observing: Comparison["observing"] | undefined,
  width: number,
): readonly string[] {
  const figures = figuresOf(state, row, state.now).map(([name, value]) => `${name}: ${value}`.padEnd(FIGURE));
  const beside = Math.max(1, Math.floor(width / FIGURE));
  const grid = figures.flatMap((_, at) =>
    at % beside === 0 ? [figures.slice(at, at + beside).join("")] : [],
  );
  const columns = ARRAY_FIGURES.map(([head, cell]) => [head.toUpperCase(), cell] as const);
  const { reasons, remedies } = state.waiting;
  return [
    ...fold(showText(sentenceOf(state)), width),
    "",
    ...grid.map((line) => line.trimEnd()),
    "",
    ...renderTable(columns, state.nodearrays, "None are known: no observation yet.", width).split("\n"),
    ...listed("Observed only", observing === undefined ? [] : [wouldBeText(observing)], width),
    ...listed("Why demand waits", reasons.map(causeText), width),
    ...listed("What would help", remedies.map(causeText), width),
    ...listed(
      "Troubles",
      state.troubles.map(({ text, kind }) => `${text} (${kind})`),
      width,
    ),
  ];
}

function listed(title: string, texts: readonly string[], width: number): readonly string[] {
  const lines = (text: string) =>
    fold(showText(text), width - 2).map((line, at) => `${at === 0 ? "- " : "  "}${line}`);
  return texts.length === 0 ? [] : ["", title, ...texts.flatMap(lines)];
}

/** As much of the picture as the terminal has room for, with what ends it. */
function fitted(
  picture: readonly string[],
  now: string,
  { interval }: TopOptions,
  { columns, rows = Infinity }: Terminal,
): string {
  if (columns === undefined) return picture.join("\n");
  const foot = `as of ${momentText(now, "")} UTC, every ${interval} s; ${END_KEY} ends`;
  // Below the last line there is one for the cursor.
  const room = Math.max(1, rows - 3);
  const cut =
    picture.length > room
      ? [...picture.slice(0, room - 1), `and ${picture.length - room + 1} more lines`]
      : picture;
  const lines = [...cut, "", foot];
  return lines.map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line)).join("\n");
}
