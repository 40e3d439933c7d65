import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { ROOT } from "../support/run-main.ts";

/** The folder that a user puts on the path of one program. */
export const PYTHON_FOLDER = `${ROOT}src/client/python`;

/** A pause of these scripts takes no time, and is printed: the tests count the tries by it. Python itself waits for programs in shorter ones. */
const NO_PAUSES = `import sys, time
time.sleep = lambda seconds: sys.stderr.write("paused %g s\\n" % seconds) if seconds > 0.05 else None
`;

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder that ends with the test, with these files. Those in bin/ can be run. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "python-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    if (name.startsWith("bin/")) chmodSync(file, 0o755);
  }
  return folder;
}

/**
 * Runs Python with nothing of this machine's settings: no home, no variables but the given ones. `path`: folders of modules after that of
 * the pauses.
 */
export function runPython(
  python: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  path: readonly string[] = [PYTHON_FOLDER],
): Promise<Ran> {
  const home = folderWith({ "pauses/sitecustomize.py": NO_PAUSES });
  const all = {
    HOME: home,
    PATH: "/usr/bin:/bin",
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONPATH: [join(home, "pauses"), ...path].join(":"),
    ...env,
  };
  return new Promise((resolve, reject) => {
    const child = execFile(
      python,
      ["-W", "error", ...words],
      { cwd: home, env: all },
      (error, stdout, stderr) => {
        if (error !== null && typeof error.code !== "number") reject(error);
        else resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
      },
    );
    child.stdin?.end();
  });
}
