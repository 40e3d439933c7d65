import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT, startMain } from "../support/run-main.ts";
import { serveCommands } from "./command-server.ts";
import { printedFiles } from "./printed.ts";
import { comparable, readSteps, runSteps, writeSteps } from "./session.ts";

const PAGE = "docs/quickstart.md";

/**
 * The printed autostart script, curl without a revision, and the command line write one request set minutes after the start. The script
 * takes the revision from the shell's time, and the app's clock is ahead of it. The command is a process here, as the printed lines say.
 */
const PBS_STEPS = ["curl 202", "script 0", "curl 202", "command 0", "script 0"];

async function runPbsScript(lines: string): Promise<readonly string[]> {
  const address = "$AUTOSCALER_URL/api/clusters/$AUTOSCALER_CLUSTER";
  const files = [...printedFiles("docs/pbs.md")].map(
    ([name, text]) => `cat >${name} <<'END OF FILE'\n${text}END OF FILE\n`,
  );
  const fill = `sed -i "s|KEY|$AUTOSCALER_KEY|" autoscaler.curl
sed -i "s|https://NAME.azurewebsites.net/api/clusters/CLUSTER|${address}|" autoscaler.env
qstat() { :; }
export -f qstat`;
  const curl = `curl -s -o answer -w 'curl %{http_code}\\n' -X PUT -H "x-functions-key: $AUTOSCALER_KEY" -d '{"version":1,"jobs":[]}' "${address}/request-sets/pbs"`;
  const script = "bash autostart.sh; echo script $?";
  const command =
    "cyclecloud-autoscaler set --name htc --instancecount 0 -s pbs >answer 2>&1; echo command $?";
  const ran = await runSteps(
    `${lines}\n${files.join("")}${fill}`,
    [curl, script, curl, command, script].map((text) => ({ command: text, output: [] })),
  );
  return ran.flatMap(({ output }) => output);
}

/** The lines for a shell in which this process runs the commands: fifty processes of them would cost as much as all the rest. */
async function commandsOfThisProcess(lines: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "commands-"));
  const commands = await serveCommands(folder);
  onTestFinished(() => {
    commands.close();
    rmSync(folder, { recursive: true });
  });
  return `${lines}\n${commands.shellLine}`;
}

/** The arguments that the page passes to `npm start`. */
function startArguments(): readonly string[] {
  const page = readFileSync(`${ROOT}/${PAGE}`, "utf8");
  return /^npm ci && npm start -- (.*)$/m.exec(page)?.[1]?.split(" ") ?? [];
}

/** UPDATE=1 writes the outputs of one run into the page if any differs by more than times, ids and addresses: then its times agree. */
const UPDATE = process.env["UPDATE"] === "1";

// In real time at thirty times the speed: a machine that stalls for seconds has a second try.
test("every command of the quickstart, word for word, prints what the page says", { retry: 1 }, async () => {
  const serving = startMain(startArguments());
  try {
    await expect.poll(() => serving.said()).toContain("Ctrl-C stops everything.");
    const lines = /paste this into another terminal \(bash\):\n(.*?)\n\n/s.exec(serving.said())?.[1] ?? "";
    const printed = readSteps(PAGE);
    const ran = await runSteps(await commandsOfThisProcess(lines), printed);
    if (UPDATE) {
      const isSame = JSON.stringify(printed.map(comparable)) === JSON.stringify(ran.map(comparable));
      if (!isSame) writeSteps(PAGE, ran);
    }
    expect(await runPbsScript(lines)).toEqual(PBS_STEPS);
    expect(ran.map(comparable)).toEqual((UPDATE ? readSteps(PAGE) : printed).map(comparable));
    serving.signal("SIGINT");
    expect((await serving.ended).code).toBe(0);
  } finally {
    if (serving.anyLeft()) serving.signal("SIGKILL");
  }
});
