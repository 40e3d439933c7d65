import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TIMEOUT_MS } from "../support/patience.ts";
import { ROOT } from "../support/run-main.ts";

/** A command of a page's ```console blocks, and the output that the page prints below it, with [CODE] if the exit code is not 0. */
export interface Step {
  readonly command: string;
  readonly output: readonly string[];
}

const BLOCK = /^```console\n(.*?)^```$/gms;

/** The steps of a page, in order. "$ " begins a command, "> " continues it. */
export function readSteps(page: string): readonly Step[] {
  const text = readFileSync(`${ROOT}/${page}`, "utf8");
  return [...text.matchAll(BLOCK)].flatMap(([, body = ""]) => stepsOf(body));
}

function stepsOf(body: string): readonly Step[] {
  const steps: { command: string; output: string[] }[] = [];
  for (const line of body.replace(/\n$/, "").split("\n")) {
    const last = steps.at(-1);
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), output: [] });
    else if (last === undefined) throw new Error(`"${line}" stands before the first command`);
    else if (line.startsWith("> ") && last.output.length === 0) last.command += `\n${line.slice(2)}`;
    else last.output.push(line);
  }
  return steps;
}

/** The page with the outputs of these steps. */
export function writeSteps(page: string, steps: readonly Step[]): void {
  const left = [...steps];
  const text = readFileSync(`${ROOT}/${page}`, "utf8").replaceAll(BLOCK, (_, body: string) => {
    const own = left.splice(0, stepsOf(body).length);
    const lines = own.flatMap(({ command, output }) => [`$ ${command.replaceAll("\n", "\n> ")}`, ...output]);
    return `\`\`\`console\n${lines.join("\n")}\n\`\`\``;
  });
  writeFileSync(`${ROOT}/${page}`, text);
}

/** A person needs longer between two commands: meanwhile the app plans, and what it prints depends on that. */
const SECONDS_BETWEEN = 0.7;

/** Runs the commands one after the other in one bash, in an empty folder, after the lines of `before`. */
export async function runSteps(before: string, steps: readonly Step[]): Promise<readonly Step[]> {
  const mark = "@@@ end of a step @@@";
  const folder = mkdtempSync(join(tmpdir(), "session-"));
  const script = steps.map(
    ({ command }) => `{ ${command}\n} 2>&1\nprintf '\\n%s %s\\n' '${mark}' $?\nsleep ${SECONDS_BETWEEN}\n`,
  );
  try {
    const said = await runBash(`${before}\nexec </dev/null\n${script.join("")}`, folder);
    const parts = said.split(new RegExp(`\n${mark} (\\d+)\n`));
    return steps.map(({ command }, index) => {
      const code = parts[2 * index + 1] ?? "it did not end";
      const text = (parts[2 * index] ?? "").replace(/\n$/, "");
      const lines = text === "" ? [] : text.split("\n");
      return { command, output: code === "0" ? lines : [...lines, `[${code}]`] };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The commands are killed if they do not end, so that the test names its step. */
const LONGEST_MS = 0.6 * TIMEOUT_MS;

function runBash(script: string, folder: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", script], { cwd: folder, detached: true });
    let said = "";
    child.stdin.end();
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.stderr.pipe(process.stderr);
    const timer = setTimeout(
      () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"),
      LONGEST_MS,
    );
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(timer);
      resolve(said);
    });
  });
}

/** Parts of an output that differ from run to run: times, ids and addresses. Each is replaced by a fixed one of the same width. */
const DIFFERING: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-01-01T00:00:00.000Z"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "2026-01-01T00:00:00Z"],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "00000000-0000-4000-8000-000000000000"],
  [/\bip-[0-9A-F]{8}\b/g, "ip-0A000000"],
  [/"revision":\d+/g, '"revision":0'],
  [/\b\d+ s ago/g, "0 s ago"],
  // Ages of nodes, before their hosts.
  [/ \d+[smh] +(?=ip-)/g, " 0m "],
  // Plan numbers grow, also by plans without a change.
  [/^(plan +)\d+ at/g, "$10 at"],
  // So do the numbers of the history of a node.
  [/^(lowprio-1 .* ready) +\d+ /, "$1 0 "],
  [/ +[\d.]+ +[\d.]+ USD$/, " 0.00 0.00 USD"],
  [/^(2026-01-01T00:00:00.000Z) +\d+ /g, "$1     0 "],
];

/** A step in the form in which it is compared. */
export function comparable({ command, output }: Step): Step {
  const same = (line: string) =>
    DIFFERING.reduce((text, [pattern, instead]) => text.replace(pattern, instead), line);
  return { command, output: output.map(same) };
}
