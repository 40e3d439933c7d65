import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "../support/run-main.ts";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

/** What the shell is offered: files where a file is meant, names that the app knows where a name is meant. */

const STATE = {
  cluster: "prod",
  demand: [{ requestSet: "pbs" }, { requestSet: "standard" }],
  nodearrays: [{ name: "execute" }, { name: "gpu" }],
  nodes: { count: 2, byPhase: {}, list: [{ name: "execute-1" }, { name: "gpu-1" }] },
  outcomes: [
    { requestSet: "pbs", id: "101", kind: "job" },
    { requestSet: "pbs", id: "$(touch owned)", kind: "job" },
  ],
};
const CLUSTERS = { clusters: [{ cluster: "prod" }, { cluster: "test" }] };

async function complete(words: readonly string[]) {
  const { url, seen } = await stagedServer((request) => ({
    body: request === "GET /api/clusters" ? CLUSTERS : STATE,
  }));
  const environment = { AUTOSCALER_URL: url, AUTOSCALER_KEY: "k", AUTOSCALER_CLUSTER: "prod" };
  const ended = await runCommand(["complete", "--", ...words], {}, { environment });
  expect(ended).toMatchObject({ code: 0, err: "" });
  return { offered: ended.out.split("\n"), seen };
}

test.each([
  { words: ["push", "jo"] },
  { words: ["config", "put", ""] },
  { words: ["plan", "--file", ""] },
  { words: ["set", "-c", "prod", "--file", "a"] },
  { words: ["check", "--settings", ""] },
])("files: $words", async ({ words }) => {
  const { offered, seen } = await complete(words);
  expect(offered).toEqual([":0"]);
  expect(seen).toEqual([]);
});

test.each([
  { words: ["status", "-c", ""], names: ["prod", "test"] },
  { words: ["demand", "-s", "p"], names: ["pbs"] },
  { words: ["delete", ""], names: ["pbs", "standard"] },
  { words: ["set", "--name", ""], names: ["execute", "gpu"] },
  { words: ["nodes", "--nodearray", "g"], names: ["gpu"] },
  { words: ["explain", "node", "e"], names: ["execute-1"] },
  // Shells expand what they are offered.
  { words: ["explain", "job", ""], names: ["101"] },
])("names that the app knows: $words", async ({ words, names }) => {
  expect((await complete(words)).offered).toEqual([...names, ":4"]);
});

test("the cluster that was typed is asked for", async () => {
  const { seen } = await complete(["explain", "node", "--cluster", "test", ""]);
  expect(seen).toEqual(["GET /api/clusters/test"]);
});

test.each([
  { name: "no address", environment: {} },
  {
    name: "nobody there",
    environment: { AUTOSCALER_URL: "http://127.0.0.1:2", AUTOSCALER_KEY: "k", AUTOSCALER_CLUSTER: "prod" },
  },
])("$name: nothing is offered, and nothing is said", async ({ environment }) => {
  expect(await runCommand(["complete", "--", "explain", "node", ""], {}, { environment })).toEqual({
    code: 0,
    out: ":4",
    err: "",
  });
});

test("bash: the script may be read twice, push completes files, and words are completed through the command", async () => {
  const session = [
    'cyclecloud-autoscaler() { "$NODE" src/cli/main.ts "$@"; }',
    "compopt() { :; }",
    '_get_comp_words_by_ref() { cur="${COMP_WORDS[COMP_CWORD]}"; words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }',
    "script=$(cyclecloud-autoscaler completion bash)",
    'source <(printf "%s" "$script"); source <(printf "%s" "$script")',
    "complete -p cyclecloud-autoscaler",
    "COMP_WORDS=(cyclecloud-autoscaler push pack) COMP_CWORD=2",
    "__cyclecloud_autoscaler_complete",
    'echo "${#COMPREPLY[@]} offered"',
    "COMP_WORDS=(cyclecloud-autoscaler explain no) COMP_CWORD=2",
    "__cyclecloud_autoscaler_complete",
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join("\n");
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", session], {
    cwd: ROOT,
    env: { ...process.env, NODE: process.execPath },
  });
  // With -o default bash itself completes files where nothing is offered.
  expect({ stdout, stderr }).toEqual({
    stdout:
      "complete -o default -F __cyclecloud_autoscaler_complete cyclecloud-autoscaler\n0 offered\nnode\n",
    stderr: "",
  });
});
