import { expect, test } from "vitest";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

/** Exit codes as docs/cli.md has them: 0 done, 1 the answer is no, 2 arguments or a file make no sense, 3 no answer or cannot tell. */

const FILES = { "good.json": {}, "list.json": [] };
/** Every command that asks the app, with arguments that make sense. */
const ASKING = [
  "set --name execute --instancecount 1",
  "set --name execute --instancecount 1 --wait --timeout 10",
  "update --file list.json",
  "push good.json",
  "push good.json --wait --timeout 10",
  "delete pbs",
  "status",
  "nodes",
  "nodearrays",
  "hosts",
  "jobs",
  "buckets",
  "limits",
  "demand",
  "demand -s pbs",
  "rejected",
  "explain job 101",
  "explain node execute-1",
  "plan",
  "plan --file good.json",
  "history",
  "history --nodes",
  "compare",
  "compare --since 2026-01-31 --csv",
  "config get",
  "config put good.json",
  "tick",
  "restored",
  "end-down hpc",
];

async function codeOf(
  command: string,
  status: number,
  body: unknown,
  files: object = FILES,
): Promise<number> {
  const { url } = await stagedServer(() => ({ status, body }));
  const reach = command.startsWith("autostop")
    ? ["--callback", url, "--instance", "vm"]
    : ["-c", "prod", "--url", url, "--key", "k"];
  return (await runCommand([...command.split(" "), ...reach], { ...files })).code;
}

test.each(
  ASKING.flatMap((command) =>
    [
      [400, 2],
      [401, 1],
      [403, 1],
      [404, 1],
      [409, 1],
      [413, 2],
      [429, 3],
      [500, 3],
      [503, 3],
    ].map(([status = 0, code = 0]) => ({ command, status, code })),
  ),
)("$command, answered $status: $code", async ({ command, status, code }) => {
  expect(await codeOf(command, status, { title: "No" })).toBe(code);
});

test.each([
  [200, 0],
  [403, 1],
  [404, 1],
  [409, 1],
  [503, 3],
])("autostop, answered %i: %i", async (status, code) => {
  expect(await codeOf("autostop", status, {})).toBe(code);
});

test.each([...ASKING.filter((command) => !command.includes("--wait")), "autostop"])(
  "%s, and nobody answers: 3",
  async (command) => {
    const reach =
      command === "autostop"
        ? ["--callback", "http://127.0.0.1:2", "--instance", "vm"]
        : ["-c", "prod", "--url", "http://127.0.0.1:2", "--key", "k"];
    expect((await runCommand([...command.split(" "), ...reach], FILES)).code).toBe(3);
  },
);

test.each([
  { command: "status", body: { health: { ok: false } }, code: 1 },
  { command: "status", body: { health: { ok: true } }, code: 0 },
  { command: "push good.json", body: { changed: true, notes: ["a note"] }, code: 0 },
  { command: "push good.json", body: { rejectedJobs: [{ name: "a", problems: [] }] }, code: 1 },
  { command: "plan", body: { plan: { unmet: 1 } }, code: 1 },
  { command: "plan", body: { plan: { unmet: 0 } }, code: 0 },
  { command: "tick", body: { outcome: "planned" }, code: 0 },
  { command: "tick", body: { outcome: "overtaken" }, code: 3 },
  { command: "tick", body: { outcome: "troubled" }, code: 3 },
  { command: "jobs --unmet", body: {}, code: 0 },
  { command: "rejected", body: { clusters: [] }, code: 0 },
  { command: "status", body: "a text", code: 1 },
  { command: "nodes --json", body: "a text", code: 1 },
])("$command of $body: $code", async ({ command, body, code }) => {
  expect(await codeOf(command, 200, body)).toBe(code);
});

test.each([...ASKING, "check", "config validate good.json"])("%s --nosuch: 2", async (command) => {
  expect((await runCommand([...command.split(" "), "--nosuch"], FILES)).code).toBe(2);
});

test.each(["push", "update --file", "set --file", "plan --file", "config put", "config validate"])(
  "%s of a file that is not there: 2",
  async (command) => {
    const reach = command.endsWith("validate")
      ? []
      : ["-c", "prod", "--url", "http://127.0.0.1:2", "--key", "k"];
    expect((await runCommand([...command.split(" "), "gone.json", ...reach])).code).toBe(2);
  },
);
