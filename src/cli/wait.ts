import type { AnsweringApi, Answer } from "../client/index.ts";
import { readRequestSetAnswer, readState } from "../client/state.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { Progress } from "./progress.ts";
import { judgeProgress } from "./progress.ts";
import { jsonText, tell, UNREADABLE } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import type { Milliseconds, Seconds } from "../domain/units.ts";

/** The condition to wait for, and the limits. */
export interface Wait {
  readonly cluster: string;
  readonly set: string;
  /** The revision of the message that was sent. Undefined: any revision. */
  readonly revision: number | undefined;
  readonly timeoutSeconds: Seconds;
  readonly json: boolean;
}

/** Interval of the questions to the app: a node takes minutes. */
const POLL_MS: Milliseconds = 5000;

/**
 * Asks until the demand of a set is met (0), until a plan shows that some of it cannot be placed (1, with the reasons: a script learns
 * nothing by waiting for a quota), or until the time is over (3). Progress goes to standard error, one line for each change. The result
 * goes to standard output.
 */
export async function waitUntilMet(terminal: Terminal, api: AnsweringApi, wait: Wait): Promise<ExitCode> {
  const deadline = terminal.now() + wait.timeoutSeconds * 1000;
  let said: string | undefined;
  const progressed = (text: string) => {
    if (text !== said) terminal.complain(text);
    said = text;
  };
  while (terminal.now() < deadline) {
    const answer = await api.wholeRequestSet(wait.cluster, wait.set);
    const now = read(answer, wait);
    if (now === "refused") return tell(terminal, answer, wait.json, () => ({ text: UNREADABLE }));
    if (now.kind !== "waiting") return tellEnd(terminal, now, answer, wait.json);
    if (said === undefined) await tellObstacles(terminal, api, wait.cluster);
    progressed(now.text);
    if (!(await terminal.sleep(Math.min(POLL_MS, deadline - terminal.now())))) {
      terminal.complain("no longer waiting; the demand remains");
      return EXIT.unreachable;
    }
  }
  const last = said === undefined ? "" : `: ${said}`;
  terminal.complain(`not met within ${wait.timeoutSeconds} s${last}; the demand remains`);
  return EXIT.unreachable;
}

/** The conditions that prevent the app from acting at all, such as observe mode. Users must see them at once, not when the time is over. */
async function tellObstacles(terminal: Terminal, api: AnsweringApi, cluster: string): Promise<void> {
  const answer = await api.state(cluster);
  const state = answer.kind === "answered" ? readState(answer.body) : undefined;
  for (const note of state?.health.notes ?? []) terminal.complain(`${cluster}: ${note}`);
}

function read(answer: Answer, { revision }: Wait): Progress | "refused" {
  if (answer.kind === "answered") {
    const set = readRequestSetAnswer(answer.body);
    return set === undefined ? "refused" : judgeProgress(set, revision);
  }
  if (answer.kind === "unreachable") return { kind: "waiting", text: answer.message };
  if (answer.kind !== "refused") return "refused";
  // A message in the queue creates its set when it is read.
  if (answer.status === 404 && answer.problem?.title === "Unknown request set")
    return { kind: "waiting", text: "the message has not been read yet" };
  if (answer.status >= 500 || answer.status === 429)
    return { kind: "waiting", text: `${answer.status}: the app cannot answer now` };
  return "refused";
}

function tellEnd(
  terminal: Terminal,
  end: Exclude<Progress, { kind: "waiting" }>,
  answer: Answer,
  json: boolean,
): ExitCode {
  if (json && answer.kind === "answered") terminal.say(jsonText(answer.body));
  const say = json ? terminal.complain : terminal.say;
  switch (end.kind) {
    case "met":
      say(`met: ${end.text}`);
      return EXIT.done;
    case "unmet":
      say(`unmet: ${end.text}`);
      for (const reason of end.reasons) say(`  ${reason}`);
      return EXIT.no;
    case "gone":
      say(end.text);
      return EXIT.no;
  }
}
