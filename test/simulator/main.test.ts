import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readArguments } from "../../src/simulator/arguments.ts";
import { defaultOptions } from "../../src/simulator/default-options.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { defaultQuirks } from "../../src/simulator/options.ts";
import { parseOptions } from "../../src/simulator/options-file.ts";
import { start } from "./fixture.ts";
import { PATIENCE_MS } from "../support/patience.ts";

describe("the configuration file", () => {
  test("takes what the default options say", () => {
    const parsed = parseOptions(JSON.stringify(defaultOptions));
    expect(parsed).toEqual({ kind: "options", options: defaultOptions });
  });

  test("takes every quirk that the simulator has", () => {
    const parsed = parseOptions(JSON.stringify({ ...defaultOptions, quirks: defaultQuirks }));
    expect(parsed).toEqual({ kind: "options", options: { ...defaultOptions, quirks: defaultQuirks } });
  });

  test("a wrong one is told every problem with its place", () => {
    const parsed = parseOptions(
      '{"clusters": [{"name": "demo", "arrays": [{"name": 1}]}], "machinetypes": {}}',
    );
    expect(parsed.kind).toBe("invalid");
    const problems = parsed.kind === "invalid" ? parsed.problems : "";
    expect(problems).toContain("clusters[0].arrays[0].name");
    expect(problems).toContain("clusters[0].arrays[0].region");
    expect(problems).toContain("machinetypes");
  });

  test("that is not JSON says so", () => {
    expect(parseOptions("{")).toMatchObject({
      kind: "invalid",
      problems: expect.stringMatching(/^not JSON/),
    });
  });

  test("a machine type that is not defined is named with those that are", () => {
    const clusters = [{ name: "demo", arrays: [{ name: "htc", region: "r", machineTypes: ["X"] }] }];
    expect(() => new Simulator({ ...defaultOptions, clusters }, { now: () => start })).toThrow(
      "array htc: machine type X is not defined; defined are: Standard_F2s_v2,",
    );
  });
});

describe("the command line", () => {
  const defaults = {
    port: 8080,
    host: "127.0.0.1",
    speed: 60,
    username: "cc_admin",
    password: "Simulated-1",
  };

  test.each([
    { name: "nothing: the defaults", argv: [], result: { kind: "run", args: defaults } },
    {
      name: "values",
      argv: ["--port", "0", "--speed=1.5", "--seed", "7"],
      result: { kind: "run", args: { ...defaults, port: 0, speed: 1.5, seed: 7 } },
    },
    { name: "help", argv: ["--help"], result: { kind: "help" } },
    {
      name: "a port that is none",
      argv: ["--port", "x"],
      result: { kind: "invalid", problem: '--port: found "x", expected a whole number from 0 to 65535' },
    },
    {
      name: "a speed of 0",
      argv: ["--speed", "0"],
      result: { kind: "invalid", problem: '--speed: found "0", expected a number above 0' },
    },
    {
      name: "a seed that is no number",
      argv: ["--seed", "a"],
      result: { kind: "invalid", problem: '--seed: found "a", expected a whole number' },
    },
    {
      name: "an unknown option",
      argv: ["--nope"],
      result: { kind: "invalid", problem: expect.stringContaining("--nope") },
    },
  ])("$name", ({ argv, result }) => {
    expect(readArguments(argv)).toMatchObject(result);
  });

  test("a wrong configuration file ends it with 2 and the reason", async () => {
    const folder = await mkdtemp(join(tmpdir(), "simulator-"));
    const config = join(folder, "options.json");
    await writeFile(config, '{"clusters": []}');
    const { code, text } = await runMain(["--config", config], undefined);
    await rm(folder, { recursive: true });
    expect(code).toBe(2);
    expect(text).toContain("machineTypes");
  });

  test("it prints where it is and with whom, and ends on Ctrl-C", async () => {
    const { code, text } = await runMain(["--port", "0"], "SIGINT");
    expect(text).toMatch(/CycleCloud simulator at http:\/\/127\.0\.0\.1:\d+, 60 times/);
    expect(text).toContain("user cc_admin, password Simulated-1");
    expect(code).toBe(0);
  });
});

/** Runs the simulator as a process of its own; with a signal, sends it once the process has said where it is. */
function runMain(
  args: readonly string[],
  signal: NodeJS.Signals | undefined,
): Promise<{ code: number | null; text: string }> {
  const main = new URL("../../src/simulator/main.ts", import.meta.url).pathname;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], { timeout: PATIENCE_MS });
    let text = "";
    let sent = false;
    const hear = (chunk: Buffer): void => {
      text += chunk.toString();
      if (sent || signal === undefined || !text.includes("log: ")) return;
      sent = true;
      child.kill(signal);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", reject);
    child.on("exit", (code) => resolve({ code, text }));
  });
}
