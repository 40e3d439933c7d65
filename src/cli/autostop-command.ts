import { randomBytes } from "node:crypto";
import { Option } from "commander";
import type { Answer } from "../client/answer.ts";
import { askToStop } from "../client/index.ts";
import { readProblemAnswer } from "../client/readers.ts";
import type { StopAnswer, StopWord } from "../client/stop-series.ts";
import {
  isOver,
  mayBegin,
  readSeries,
  withAnswer,
  withQuestion,
  wordOf,
  writeSeries,
} from "../client/stop-series.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { Register } from "./options.ts";
import { tell } from "./tell.ts";
import type { Keep, Terminal } from "./terminal.ts";
import { wrapped } from "./options.ts";
import { withoutAbsent } from "../client/readable.ts";

const HELP = `Asks once, on a node that its scheduler has closed, whether it may stop. Run it every half minute until it exits with 0 or 1, and then
once a minute until the node is gone. 0: the node is being stopped; keep it closed. 1: it is not being stopped; open it in the scheduler.
3: no verdict now; keep it closed and ask again. The command keeps the time of the last question in the home directory, and exits with 1 when
180 s have passed without a verdict, and without an answer that a stop is under way (20 minutes at most). With --unhealthy it never does that.`;

/** `autostop`: one question of a series, by the same rules as the printed scripts. */
export function registerAutostop({ program, terminal, run }: Register): void {
  program
    .command("autostop")
    .description("on a node: ask whether it may stop")
    .addHelpText("after", wrapped(HELP.replaceAll("\n", " ")))
    .addOption(
      new Option("--callback <address>", "jetpack config cyclecloud.cluster.autoscale.stop_callback")
        .env("AUTOSCALER_STOP_CALLBACK")
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--instance <id>", "jetpack config cyclecloud.instance.id")
        .env("AUTOSCALER_INSTANCE")
        .makeOptionMandatory(),
    )
    .option(
      "--unhealthy",
      "the node is broken: it is stopped once no job is on it, and replaced if it is needed; only a few nodes are stopped this way within an hour",
    )
    .option(
      "--own-token",
      "send a token that is made once and kept in the home directory; from then on the app answers only calls with it",
    )
    .option("--json", "the app's answer as JSON")
    .action((options: AutostopOptions) =>
      run(async () => {
        const code = await terminal.alone(
          `autostop ${options.callback} ${options.instance}`,
          async (kept, keep) => {
            const own = options.ownToken === true ? await ownToken(terminal, options.instance) : {};
            return own === "busy" ? own : askOnce(terminal, options, { kept, keep }, own.ownToken);
          },
        );
        if (code !== "busy") return code;
        terminal.complain("another run of this command is asking for this node");
        return EXIT.unreachable;
      }),
    );
}

interface AutostopOptions {
  readonly callback: string;
  readonly instance: string;
  readonly unhealthy?: true;
  readonly ownToken?: true;
  readonly json?: true;
}

/** Too long to be guessed. */
const TOKEN_BYTES = 24;

/** The token of this node for this VM. The first call makes it. It is kept after the series of questions. */
async function ownToken(
  terminal: Terminal,
  instance: string,
): Promise<{ readonly ownToken?: string } | "busy"> {
  return terminal.alone(`node token ${instance}`, async (kept, keep) => {
    const known = kept?.trim();
    if (known !== undefined && known !== "") return { ownToken: known };
    const made = randomBytes(TOKEN_BYTES).toString("base64url");
    await keep(`${made}\n`);
    return { ownToken: made };
  });
}

async function askOnce(
  terminal: Terminal,
  { callback, instance, unhealthy, json }: AutostopOptions,
  { kept, keep }: { readonly kept: string | undefined; readonly keep: Keep },
  token: string | undefined,
): Promise<ExitCode> {
  const series = kept === undefined ? undefined : readSeries(kept);
  const asked = terminal.now();
  if (series !== undefined && unhealthy !== true && isOver(series, asked)) {
    await keep(undefined);
    terminal.complain("no verdict for 180 s: open the node in the scheduler, and ask again later");
    return EXIT.no;
  }
  // An unhealthy node never opens by itself, so each of its questions may begin its stop.
  const begin = unhealthy === true || mayBegin(series, asked);
  const next = withQuestion(series, { begins: begin, now: asked });
  // Written before the question: its answer may never come.
  await keep(writeSeries(next));
  const answer = await askToStop(callback, instance, unhealthy === true ? "unhealthy" : undefined, {
    asked,
    begin,
    ...withoutAbsent({ ownToken: token }),
  });
  const word = wordIn(answer, { isFirst: series === undefined });
  if (word === "stop") await keep(writeSeries({ ...next, granted: true }));
  if (word === "open") await keep(undefined);
  if (word === "closed") await keep(writeSeries(withAnswer(next, problemIn(answer))));
  const code = tell(terminal, answer, json === true, () => ({ text: `${instance} will be stopped` }));
  return code === EXIT.usage ? code : CODES[word];
}

const CODES: Readonly<Record<StopWord, ExitCode>> = {
  stop: EXIT.done,
  open: EXIT.no,
  closed: EXIT.unreachable,
};

function wordIn(answer: Answer, { isFirst }: Pick<StopAnswer, "isFirst">): StopWord {
  if (answer.kind === "answered") return "stop";
  if (answer.kind !== "refused") return "closed";
  return wordOf({ status: answer.status, undrain: problemIn(answer).undrain, isFirst });
}

/** What a refusal says of the node's stop. */
function problemIn(answer: Answer): {
  readonly undrain: boolean | undefined;
  readonly stopUnderWay: boolean | undefined;
} {
  const problem = answer.kind === "refused" ? readProblemAnswer(answer.body) : undefined;
  return { undrain: problem?.undrain, stopUnderWay: problem?.stopUnderWay };
}
