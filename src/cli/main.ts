#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import packageJson from "../../package.json" with { type: "json" };
import { alone } from "./alone.ts";
import { runCommandLine } from "./command-line.ts";
import { useProxy, openAddress } from "./environment.ts";
import { EXIT } from "./exit-code.ts";
import { signIn } from "./sign-in.ts";
import type { Milliseconds } from "../domain/units.ts";

/** The reader of standard output may stop reading, as `head` does. That is not a failure. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  throw error;
});

/** After the first sleep has begun, Ctrl-C ends this sleep or the next one instead of the process. A second Ctrl-C ends the process. */
const interrupted = Promise.withResolvers<false>();
let isHandled = false;

async function sleepUntilInterrupted(milliseconds: Milliseconds, endKey?: string): Promise<boolean> {
  if (!isHandled) {
    process.once("SIGINT", () => interrupted.resolve(false));
    if (endKey !== undefined) endOn(endKey);
  }
  isHandled = true;
  const ended = new AbortController();
  const slept = setTimeout(milliseconds, true, { signal: ended.signal }).catch(() => false);
  const result = await Promise.race([slept, interrupted.promise]);
  ended.abort();
  return result;
}

const CTRL_C = "\u0003";

/** A key that is typed ends the sleep, as Ctrl-C does. While keys are read one by one, Ctrl-C is a key, too. Node restores the terminal at the end. */
function endOn(key: string): void {
  const { stdin } = process;
  if (!stdin.isTTY) return;
  let isEnding = false;
  stdin.setRawMode(true);
  stdin.setEncoding("utf8").on("data", (typed: string) => {
    if (!typed.includes(key) && !typed.includes(CTRL_C)) return;
    if (isEnding) process.exit(EXIT.done);
    isEnding = true;
    interrupted.resolve(false);
  });
  stdin.unref();
}

/** A terminal that does not say how large it is says 0. */
function sizeOf(said: number, usual: number): number | undefined {
  if (!process.stdout.isTTY) return undefined;
  return said > 0 ? said : usual;
}

const wrong = useProxy(process.env);
if (wrong !== undefined) process.stderr.write(`warning: ${wrong}\n`);

void runCommandLine(process.argv.slice(2), {
  say: (line) => void process.stdout.write(`${line}\n`),
  complain: (line) => void process.stderr.write(`${line}\n`),
  clear: () => void process.stdout.write("\u001B[H\u001B[J"),
  read: (file) => (file === "-" ? text(process.stdin) : readFile(file, "utf8")),
  now: () => Date.now(),
  sleep: sleepUntilInterrupted,
  open: openAddress,
  alone,
  signIn,
  columns: sizeOf(process.stdout.columns, 80),
  rows: sizeOf(process.stdout.rows, 24),
  environment: process.env,
  release: packageJson.version,
}).then((code) => {
  process.exitCode = code;
});
