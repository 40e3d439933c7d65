import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/run-main.ts";
import { runCommand } from "./run-command.ts";

test.each([
  { words: ["--url", "https://a.example"], said: "https://a.example/api/page" },
  { words: ["--url", "https://a.example/", "-c", "prod"], said: "https://a.example/api/page#/prod/now" },
  {
    words: ["--url", "https://a.example", "-c", "my cluster"],
    said: "https://a.example/api/page#/my%20cluster/now",
  },
])("page prints the address: $said", async ({ words, said }) => {
  expect(await runCommand(["page", ...words])).toMatchObject({ code: 0, out: said });
});

test("page takes no key, so it prints none", async () => {
  const { code, out, err } = await runCommand([
    "page",
    "--url",
    "https://a.example",
    "--key",
    "secret-of-mine",
  ]);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain("unknown option '--key'");
  expect(err).not.toContain("secret-of-mine");
});

/** Runs `page --open` as a process, on a machine with this program to open addresses, or with none. */
async function openPage(program?: string) {
  const folder = mkdtempSync(join(tmpdir(), "open-"));
  const opened = join(folder, "opened");
  if (program !== undefined) {
    writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\nprintf %s "$1" > '${opened}'\n${program}\n`);
    chmodSync(join(folder, "xdg-open"), 0o755);
  }
  const words = ["src/cli/main.ts", "page", "--url", "https://a.example", "-c", "my cluster", "--open"];
  const ended = await new Promise<object>((resolve) => {
    execFile(process.execPath, words, { cwd: ROOT, env: { PATH: folder } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : error.code, out, err }),
    );
  });
  return { ended, opened: program === undefined ? undefined : readFileSync(opened, "utf8") };
}

const ADDRESS = "https://a.example/api/page#/my%20cluster/now";

test.runIf(process.platform === "linux").each([
  { name: "a browser", program: "exit 0", code: 0, err: "" },
  {
    name: "no browser",
    program: "exit 3",
    code: 1,
    err: "no browser can be opened here: xdg-open failed (exit code 3)\n",
  },
  { name: "nothing", code: 1, err: "no browser can be opened here: xdg-open is not installed\n" },
])("page --open prints the address, and opens it: $name", async ({ program, code, err }) => {
  const { ended, opened } = await openPage(program);
  expect(ended).toEqual({ code, out: `${ADDRESS}\n`, err });
  expect(opened).toBe(program === undefined ? undefined : ADDRESS);
});
