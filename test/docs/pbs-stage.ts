import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ROOT } from "../support/run-main.ts";
import { printedFiles } from "./printed.ts";

/** Another Python than that of the path: test/deep/python.deep.ts names it. */
const PYTHON = process.env["STAGE_PYTHON"] ?? "python3";

type Command = readonly [string, readonly string[], { readonly env: NodeJS.ProcessEnv }];

/**
 * Fake commands that behave as the documentation of the real ones says. Each reads and writes files of the stage. They are functions of the
 * shell, in a subshell each: the tests call thousands, and a process for each would cost half as much again.
 */
const COMMANDS: Readonly<Record<string, string>> = {
  // The real jetpack is a Python program: it prints True, not true.
  jetpack: `case $2 in
  *.stop_enabled) show "$STAGE/stop_enabled" ;;
  *.idle_time_after_jobs) echo 300 ;;
  *.stop_callback) show "$STAGE/url" ;;
  cyclecloud.instance.id) echo vm-1 ;;
esac`,
  pbsnodes: `[ -e "$STAGE/pbs_away" ] && { echo "pbsnodes: cannot connect to server" >&2; exit 1; }
case $1 in
  -o) : >"$STAGE/offline"; [ -e "$STAGE/job_when_closed" ] && cp "$STAGE/job_when_closed" "$STAGE/jobs" ;;
  -r) rm -f "$STAGE/offline" ;;
  -v) echo "$2"; echo "     Mom = $2"
      if [ -e "$STAGE/offline" ]; then echo "     state = offline"; else echo "     state = free"; fi
      [ -e "$STAGE/jobs" ] && echo "     jobs = $(show "$STAGE/jobs")"
      echo "     resources_available.ncpus = 4" ;;
esac
exit 0`,
  qstat: `[ -e "$STAGE/pbs_away" ] && exit 1; exec cat "$STAGE/qstat"`,
  hostname: "echo node-1",
  cat: `case $1 in /proc/*) show "$STAGE/boot" ;; *) command cat "$@" ;; esac`,
  date: `case $1 in +%s%3N) echo "$(show "$STAGE/clock")000" ;; *) show "$STAGE/clock" ;; esac`,
  sleep: `echo $(($(show "$STAGE/clock") + $1)) >"$STAGE/clock"`,
  // Enterprise Linux 8 has curl 7.61: later options are an error there, or are ignored.
  curl: `for word; do case $word in --fail-with-body|--json|--retry-all-errors) echo "curl: option $word: is unknown" >&2; exit 2 ;; esac; done
while read -r line; do case $line in *fail-with-body*) exit 2 ;; esac; done <./autoscaler.curl
command curl "$@"`,
};

/** What bash reads before a script: the fakes, and `show`, which prints the first line of a file. */
const FUNCTIONS = [
  'show() { local line; read -r line <"$1"; echo "$line"; }',
  ...Object.entries(COMMANDS).map(([name, text]) => `${name}() (\n${text}\n)`),
].join("\n");

/** The same commands for a program that is no shell, and a clock of Python that is that of the stage. */
const EXECUTABLE = (name: string): string => `#!/bin/bash\n. "$STAGE/../functions"\n${name} "$@"\n`;
const PYTHON_CLOCK = `import os, time
def _clock(): return os.path.join(os.environ["STAGE"], "clock")
def _time():
    with open(_clock()) as file: return float(file.read())
def _sleep(seconds):
    now = _time()
    with open(_clock(), "w") as file: file.write("%d" % (now + seconds))
time.time, time.sleep = _time, _sleep
import builtins
_open = builtins.open
def _opens(path, *more, **named):
    boots = path == "/proc/sys/kernel/random/boot_id"
    return _open(os.path.join(os.environ["STAGE"], "boot") if boots else path, *more, **named)
builtins.open = _opens
`;

/** The requests to the app, and its answers: a status, and `body` if given. */
export interface Answer {
  readonly status: number;
  readonly body?: string;
}

export interface Stage {
  /** Runs a printed script, or one for Python of src/client/python, as cron does. */
  run(
    script: string,
    ...words: readonly string[]
  ): Promise<{ readonly code: number; readonly stderr: string }>;
  /** Sets or removes a file that the fake commands read. */
  set(file: string, text: string | undefined): void;
  has(file: string): boolean;
  pass(seconds: number): void;
  /** Sets the app's answers from now on, in their order. The last one repeats. */
  answer(...answers: readonly Answer[]): void;
  readonly seen: readonly {
    readonly url: string;
    readonly body: string;
    readonly key: unknown;
    readonly headers: IncomingHttpHeaders;
  }[];
}

/** The printed scripts in a folder of their own, with fakes of the commands that they call, and a server in place of the app. */
export async function setStage(page: string): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "pbs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const stage = join(folder, "stage");
  mkdirSync(stage);
  const functions = join(folder, "functions");
  writeFileSync(functions, FUNCTIONS);
  const { url, seen, answer } = await startApp();
  for (const [name, text] of printedFiles(page)) {
    const filled = text.replace("https://NAME.azurewebsites.net/api/clusters/CLUSTER", url);
    writeFileSync(join(folder, name), filled);
  }
  const set = (file: string, text: string | undefined): void => {
    if (text === undefined) rmSync(join(stage, file), { force: true });
    else writeFileSync(join(stage, file), text);
  };
  set("clock", "1000000");
  set("boot", "boot-1\n");
  set("stop_enabled", "True\n");
  set("url", `${url}/autostop\n`);
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const name of ["jetpack", "pbsnodes"])
    writeFileSync(join(bin, name), EXECUTABLE(name), { mode: 0o755 });
  writeFileSync(join(bin, "sitecustomize.py"), PYTHON_CLOCK);
  const env = { ...process.env, STAGE: stage, BASH_ENV: functions };
  const python = { ...env, PATH: `${bin}:/usr/bin:/bin`, PYTHONPATH: bin, PYTHONDONTWRITEBYTECODE: "1" };
  const commandOf = (script: string, words: readonly string[]): Command =>
    script.endsWith(".py")
      ? [PYTHON, [`${ROOT}src/client/python/${script}`, "--folder", folder, ...words], { env: python }]
      : ["bash", [join(folder, script)], { env }];
  return {
    run: (script, ...words) =>
      new Promise((resolve) => {
        execFile(...commandOf(script, words), (error, _, stderr) =>
          resolve({ code: typeof error?.code === "number" ? error.code : 0, stderr }),
        );
      }),
    set,
    has: (file) => existsSync(join(stage, file)),
    pass: (seconds) => set("clock", String(Number(readFileSync(join(stage, "clock"), "utf8")) + seconds)),
    answer,
    seen,
  };
}

async function startApp(): Promise<Pick<Stage, "seen" | "answer"> & { readonly url: string }> {
  let answers: readonly Answer[] = [{ status: 200, body: '{"stop":true}' }];
  const seen: { url: string; body: string; key: unknown; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const { headers } = request;
      seen.push({ url: request.url ?? "", body, key: headers["x-functions-key"], headers });
      const [now, ...later] = answers;
      if (later.length > 0) answers = later;
      response.writeHead(now?.status ?? 500, { connection: "close" }).end(now?.body ?? "{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, seen, answer: (...given) => (answers = given) };
}
