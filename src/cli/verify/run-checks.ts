import type { Terminal } from "../terminal.ts";
import type { Check, Checked, CheckName, Verdict } from "./check.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";

/** Interval of progress lines while nothing changes. */
const PROGRESS_MS: Milliseconds = 60_000;

export interface Run {
  readonly terminal: Terminal;
  /** No check waits longer than this. Undefined: each has its own limit. */
  readonly deadline: number | undefined;
  /** Called with each check as it ends. */
  readonly ended: (checked: Checked) => void;
}

/**
 * Runs the checks one after the other. A check whose prerequisites are missing becomes "not-tried". After Ctrl-C the others are not tried.
 */
export async function runChecks(checks: readonly Check[], run: Run): Promise<readonly Checked[]> {
  const all: Checked[] = [];
  const good = new Set<CheckName>();
  let interrupted = false;
  for (const check of checks) {
    const missing = check.needs.find((name) => !good.has(name));
    const why = interrupted ? "stopped by Ctrl-C" : missing && `${missing} comes first`;
    const ended: Ended =
      why === undefined
        ? await runCheck(check, run.terminal, run.deadline)
        : { checked: untried(check, why), interrupted };
    interrupted = ended.interrupted;
    if (ended.checked.state === "ok" || ended.checked.state === "not-applicable") good.add(check.name);
    all.push(ended.checked);
    run.ended(ended.checked);
  }
  return all;
}

/** The result of a check that was not begun, with the reason. */
export function untried({ name, waitsFor }: Check, found: string): Checked {
  return { check: name, state: "not-tried", found, waitsFor, waitedSeconds: 0 };
}

interface Ended {
  readonly checked: Checked;
  readonly interrupted: boolean;
}

async function runCheck(check: Check, terminal: Terminal, latest = Number.POSITIVE_INFINITY): Promise<Ended> {
  const begun = terminal.now();
  const own = begun + check.seconds * 1000;
  const deadline = Math.min(latest, own);
  const progress = progressOf(check, terminal, deadline);
  for (;;) {
    const verdict = await check.run();
    const now = terminal.now();
    const waitedSeconds = Math.round((now - begun) / 1000);
    if (verdict.kind !== "not-yet" || now >= deadline) {
      const checked = conclude(check, verdict, waitedSeconds);
      const isCut = verdict.kind === "not-yet" && now < own;
      return { checked: isCut ? { ...checked, cutShort: true } : checked, interrupted: false };
    }
    progress(verdict.found);
    if (!(await terminal.sleep(Math.min(check.everySeconds * 1000, deadline - now))))
      return { checked: conclude(check, verdict, waitedSeconds), interrupted: true };
  }
}

/** Writes to standard error what it waits for, each change of the result, and a line for each minute of waiting. */
function progressOf({ name, waitsFor }: Check, terminal: Terminal, deadline: number) {
  let said: { readonly found: string; readonly at: number } | undefined;
  return (found: string): void => {
    const at = terminal.now();
    if (said?.found === found && at - said.at < PROGRESS_MS) return;
    const left = Math.ceil((deadline - at) / 1000);
    const begin = said === undefined ? `waiting for ${waitsFor}; ` : "";
    terminal.complain(`${name}: ${begin}${found}; ${left} s left`);
    said = { found, at };
  };
}

function conclude({ name, waitsFor }: Check, verdict: Verdict, waitedSeconds: Seconds): Checked {
  const { found } = verdict;
  const waited = { waitsFor, waitedSeconds };
  switch (verdict.kind) {
    case "holds":
      return { check: name, state: "ok", found, ...waited };
    case "not-applicable":
      return { check: name, state: "not-applicable", found, ...waited };
    default:
      return { check: name, state: "failed", found, whatToDo: verdict.whatToDo, ...waited };
  }
}
