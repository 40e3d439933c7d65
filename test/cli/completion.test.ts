import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "../support/run-main.ts";
import { runCommand } from "./run-command.ts";

/** What a shell is offered: commands and options. */

test.each([
  { name: "commands by their beginning", words: ["li"], offers: ["limits"] },
  {
    name: "commands below a command",
    words: ["config", ""],
    offers: ["get", "put", "set", "unset", "history", "rollback", "diff", "schema", "validate", "help"],
  },
  { name: "options of a command", words: ["set", "--ins"], offers: ["--instancecount"] },
  {
    name: "options of a command below a command, behind the value of another one",
    words: ["config", "put", "-c", "prod", "--re"],
    offers: ["--replace"],
  },
  { name: "nothing where a file is meant", words: ["push", "jo"], offers: [] },
])("completion offers $name", async ({ words, offers }) => {
  const ended = await runCommand(["complete", "--", ...words]);
  expect(ended).toEqual({ code: 0, out: offers.join("\n"), err: "" });
});

test("bash: the script may be read twice, push completes files, and words are completed through the command", async () => {
  const session = [
    'cyclecloud-autoscaler() { "$NODE" src/cli/main.ts "$@"; }',
    "script=$(cyclecloud-autoscaler completion bash)",
    'source <(printf "%s" "$script"); source <(printf "%s" "$script")',
    "complete -p cyclecloud-autoscaler",
    "COMP_WORDS=(cyclecloud-autoscaler push pack) COMP_CWORD=2",
    "_cyclecloud_autoscaler",
    'echo "${#COMPREPLY[@]} offered"',
    "COMP_WORDS=(cyclecloud-autoscaler explain no) COMP_CWORD=2",
    "_cyclecloud_autoscaler",
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join("\n");
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", session], {
    cwd: ROOT,
    env: { ...process.env, NODE: process.execPath },
  });
  // With -o default bash itself completes files where nothing is offered.
  expect({ stdout, stderr }).toEqual({
    stdout: "complete -o default -F _cyclecloud_autoscaler cyclecloud-autoscaler\n0 offered\nnode\n",
    stderr: "",
  });
});
