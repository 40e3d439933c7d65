import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { ROOT } from "../support/run-main.ts";
import { runCommand } from "./run-command.ts";

test("--help of the program names every command and every exit code, and the options say their variables", async () => {
  const { code, out } = await runCommand(["--help"]);
  expect(code).toBe(0);
  const commands = [...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
  expect(commands.join(" ")).toBe(
    "set update push delete status buckets limits demand page top nodearrays hosts nodes jobs rejected explain plan history compare config validate tick restored autostop agent check keys verify removal completion help",
  );
  expect(out).toMatch(/Exit codes:\n {2}0 .*\n {2}1 .*\n {2}2 .*\n {2}3 /);
  const help = (await runCommand(["set", "--help"])).out;
  for (const word of [
    "--name",
    "--corecount",
    "--instancecount",
    "--file",
    "AUTOSCALER_QUEUE",
    "AUTOSCALER_KEY",
  ])
    expect(help).toContain(word);
});

test("each command has an example, and each example has only options that its command knows", async () => {
  const read = async (words: readonly string[]) => (await runCommand([...words, "--help"])).out;
  const namesIn = (help: string) =>
    [...help.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name = ""]) => name).filter((name) => name !== "help");
  const top = namesIn(await read([]));
  const paths = await Promise.all(
    top.map(async (name) => {
      const below = ["config", "explain", "validate"].includes(name) ? namesIn(await read([name])) : [];
      return below.length === 0 ? [[name]] : below.map((inner) => [name, inner]);
    }),
  );
  for (const path of paths.flat()) {
    const help = await read(path);
    const examples = [...help.matchAll(/^ {2}cyclecloud-autoscaler (.*)$/gm)].map(([, line = ""]) => line);
    expect(examples.length, path.join(" ")).toBeGreaterThan(0);
    for (const example of examples) {
      expect(example.startsWith(path.join(" "))).toBe(true);
      const [options = ""] = help.split("Examples:");
      for (const [option] of example.matchAll(/(?<= )--?[a-z][a-z-]*/g)) expect(options).toContain(option);
    }
  }
});

test("--version says which release it is", async () => {
  expect(await runCommand(["--version"])).toEqual({ code: 0, out: "1.2.3", err: "" });
});

test("docs/cli.md names every command and every exit code", async () => {
  const documented = await readFile(`${ROOT}/docs/cli.md`, "utf8");
  const { out } = await runCommand(["--help"]);
  const commands = [...out.matchAll(/^ {2}([a-z]+) /gm)]
    .map(([, name]) => name ?? "")
    .filter((name) => name !== "help");
  expect(commands.filter((name) => !new RegExp(`\`${name}[ \`]`).test(documented))).toEqual([]);
  expect([...documented.matchAll(/^\| (\d) \| /gm)].map(([, code]) => code)).toEqual(["0", "1", "2", "3"]);
});
