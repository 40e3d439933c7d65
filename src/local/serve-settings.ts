import { withoutSlashesAtEnd } from "../domain/text.ts";
import type { Arguments } from "./arguments.ts";
import { heedInterrupts } from "./interruption.ts";
import { areAllFree, portsFrom } from "./ports.ts";
import type { LocalSettings } from "./read-settings.ts";
import { readSettings, settingsProblemText } from "./read-settings.ts";
import { hostLines, serveUntilInterrupted } from "./serve.ts";
import { commandLine, exportLine } from "./shell-lines.ts";
import type { Trial } from "./trial.ts";
import { startTrial } from "./trial.ts";

type SettingsArguments = Pick<Arguments, "act" | "verbose" | "port"> & { readonly settings: string };

/**
 * Runs the app against the clusters of a local.settings.json, without a simulator, until Ctrl-C. Without `act` it changes nothing there.
 * Prints its address and the stop URL that nodes would get. Leaves no process behind. Returns the exit code: 2 for invalid settings.
 */
export async function serveSettings({
  settings: file,
  act,
  verbose,
  port,
}: SettingsArguments): Promise<number> {
  const read = readSettings(file);
  if (read.kind === "problems") {
    for (const problem of read.problems) process.stderr.write(`${file}: ${settingsProblemText(problem)}\n`);
    return 2;
  }
  const ports = port === undefined ? undefined : portsFrom(port);
  if (ports !== undefined && !(await areAllFree(ports))) return 2;
  process.stdout.write(
    `Starting a storage emulator and the function app on this machine (Node ${process.versions.node}).\n`,
  );
  const interruption = heedInterrupts();
  const { settings } = read;
  const trial = await startTrial({
    values: settings.values,
    act,
    onHostLine: hostLines(verbose),
    ...(ports === undefined ? {} : { ports }),
  });
  process.stdout.write(`${describe(settings, trial, act).join("\n")}\n`);
  await serveUntilInterrupted(trial, interruption, { start: () => trial.startHost(), first: trial.host });
  return 0;
}

function describe({ clusters, publicUrl }: LocalSettings, trial: Trial, act: boolean): readonly string[] {
  const [first] = clusters;
  return [
    ...clusters.map(({ name, url, username, ca, insecure }) => {
      const certificates = ca === undefined ? "" : `; ca: ${ca.found}`;
      return `cluster ${name}: ${url} as ${username ?? "the signed-in identity"}${certificates}${insecure ? "; certificates are not checked" : ""}`;
    }),
    `page for people      ${trial.url}/api/page    (sign in with the function key)`,
    `function app         ${trial.url}/api/health`,
    `function key         ${trial.keys.host}    (header x-functions-key)`,
    `connection string    ${trial.connectionString}    (emulator: its data is lost at the end)`,
    act
      ? "changes              yes (--act): nodes are created and stopped; only nodes that this run has created are stopped"
      : "changes              none: the mode is observe, whatever the stored configuration says; with --act it creates nodes, and stops those",
    publicUrl === undefined
      ? "stop URL             none: without AUTOSCALER_PUBLIC_URL, nodes get no stop URL"
      : `stop URL             nodes would get ${withoutSlashesAtEnd(publicUrl)}/api/autostop/... (this app listens only at ${trial.url})`,
    "",
    "For the command line, in another terminal (bash):",
    exportLine({
      AUTOSCALER_URL: trial.url,
      AUTOSCALER_KEY: trial.keys.host,
      ...(first === undefined ? {} : { AUTOSCALER_CLUSTER: first.name }),
      AUTOSCALER_MASTER_KEY: trial.keys.master,
    }),
    "unset AUTOSCALER_SIMULATED_CLOCK",
    commandLine(),
    "",
    "Ctrl-C stops everything.",
  ];
}
