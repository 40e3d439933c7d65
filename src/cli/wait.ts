import type { AnsweringApi, Answer } from "../client/index.ts";
import { readRequestSetAnswer, readState } from "../client/readers.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { jsonText, tell, UNREADABLE } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import type { Milliseconds, Seconds } from "../domain/units.ts";
import type { RequestSetAnswer } from "../client/readers.ts";

/** The condition to wait for, and the limits. */
interface Wait {
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

/** The state of a request set's demand. */
type Progress =
  | { readonly kind: "waiting"; readonly text: string }
  /** All of it is placed on nodes that are up. */
  | { readonly kind: "met"; readonly text: string }
  /** Some of it cannot be placed now. One line for each reason. */
  | { readonly kind: "unmet"; readonly text: string; readonly reasons: readonly string[] }
  /** The set now has another demand, or none. */
  | { readonly kind: "gone"; readonly text: string };

/** Judges the app's answer about a request set by the revision that was sent. */
function judgeProgress(set: RequestSetAnswer, revision: number | undefined): Progress {
  const name = set.requestSet ?? "?";
  if (revision !== undefined && set.revision !== undefined && set.revision !== revision)
    return set.revision > revision
      ? { kind: "gone", text: `request set ${name} was replaced by a later message` }
      : { kind: "waiting", text: "the message has not been read yet" };
  if (set.state === "lapsed") return { kind: "gone", text: `request set ${name} has expired` };
  if (set.observed !== true) return { kind: "waiting", text: "no plan has seen the demand yet" };
  const { outcomes } = set;
  const short = outcomes.filter(({ asked = 0, placed = 0 }) => placed < asked);
  const text = countsOf(outcomes);
  if (short.length > 0)
    return { kind: "unmet", text, reasons: short.slice(0, SHOWN).map(reasonOf).concat(moreOf(short.length)) };
  if (outcomes.every(({ pending = 0 }) => pending === 0)) return { kind: "met", text };
  const left = timeLeft(set);
  return { kind: "waiting", text: left === undefined ? text : `${text}, ${left}` };
}

/** Demands that are listed. Of thousands of jobs, the others have the same reasons. */
const SHOWN = 20;

function moreOf(count: number): readonly string[] {
  return count > SHOWN ? [`and ${count - SHOWN} more`] : [];
}

type Outcome = RequestSetAnswer["outcomes"][number];

function reasonOf({ id = "?", asked = 0, placed = 0, unit, reasons }: Outcome): string {
  const [why = "no reason is known"] = reasons;
  return `${id} has ${placed} of ${asked}${unit === undefined ? "" : ` ${unit}`}: ${why}`;
}

/** "2 of 4 nodes ready, 2 booting", for each unit in the demand. */
function countsOf(outcomes: readonly Outcome[]): string {
  const units = new Map<string, { asked: number; ready: number; pending: number }>();
  for (const { unit = "?", asked = 0, placed = 0, pending = 0 } of outcomes) {
    const sum = units.get(unit) ?? { asked: 0, ready: 0, pending: 0 };
    units.set(unit, {
      asked: sum.asked + asked,
      ready: sum.ready + placed - pending,
      pending: sum.pending + pending,
    });
  }
  const parts = [...units].map(([unit, { asked, ready, pending }]) => {
    const coming = pending === 0 ? "" : `, ${pending} ${unit === "nodes" ? "booting" : "waiting for nodes"}`;
    return `${ready} of ${asked} ${unit} ready${coming}`;
  });
  return parts.length === 0 ? "nothing is asked for" : parts.join("; ");
}

/** By the app's clock, which may differ from this machine's: the answer has the expiry of the set and the time left until then. */
function timeLeft({ expectedReadyAt, expiresAt, expiresInSeconds }: RequestSetAnswer): string | undefined {
  if (expectedReadyAt === undefined || expiresAt === undefined || expiresInSeconds === undefined)
    return undefined;
  const now = Date.parse(expiresAt) / 1000 - expiresInSeconds;
  return durationText(Date.parse(expectedReadyAt) / 1000 - now);
}

function durationText(seconds: Seconds): string {
  if (seconds <= 0) return "longer than usual";
  if (seconds < 90) return `about ${Math.ceil(seconds / 10) * 10} s left`;
  return `about ${Math.round(seconds / 60)} min left`;
}
