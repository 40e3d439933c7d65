import { InvalidArgumentError, Option } from "commander";
import { withoutSlashesAtEnd } from "../../client/call.ts";
import type { ManagementApi } from "../../client/index.ts";
import { isPlainHttp, openManagement } from "../../client/index.ts";
import type { ExitCode } from "../exit-code.ts";
import { EXIT } from "../exit-code.ts";
import { appOf, cluster, key, readAddress, readCount, url } from "../options.ts";
import type { Register } from "../register.ts";
import { jsonText } from "../tell.ts";
import type { Terminal } from "../terminal.ts";
import { wrapped } from "../wrapped.ts";
import { addressCheck, keyChecks } from "./address-checks.ts";
import { appChecks } from "./app-checks.ts";
import type { Check, Checked } from "./check.ts";
import { cyclecloudCheck } from "./cyclecloud-check.ts";
import type { Deployment } from "./deployment.ts";
import { functionsCheck } from "./functions-check.ts";
import { hostKeyCheck } from "./host-key-check.ts";
import { renderChecked, renderSummary } from "./render.ts";
import { runChecks, untried } from "./run-checks.ts";
import { triggerChecks } from "./trigger-checks.ts";

interface VerifyOptions {
  readonly url: string;
  readonly key?: string;
  readonly cluster?: string;
  readonly resourceId?: string;
  readonly managementUrl: string;
  readonly masterKey?: string;
  readonly wait?: number;
  readonly json?: true;
}

const HELP =
  "Checks a deployed app from outside: address, functions that Azure lists, keys, storage, release, clock, timer, queue, CycleCloud. On standard error it shows what it waits for. For each check it shows what it found and what to do. It needs an operator's key or a host key; without --key it reads the host key from Azure. If all checks pass, it takes two minutes, because it waits for two ticks of the timer. With --resource-id it asks Azure's management API, as the signed-in user (az login), which functions Azure lists, and syncs the triggers while some are missing. It sends one wake message and asks for one tick of each cluster, as the timer does each minute.";

/** Checks after a deployment that the app is there and works. */
export function registerVerify({ program, terminal, run }: Register): void {
  program
    .command("verify")
    .description("check a deployed app from outside")
    .addHelpText("after", wrapped(HELP))
    .addOption(url().makeOptionMandatory())
    .addOption(key())
    .addOption(cluster())
    .addOption(
      new Option("--resource-id <id>", "the function app's resource id in Azure")
        .env("AUTOSCALER_RESOURCE_ID")
        .argParser(readResourceId),
    )
    .addOption(
      new Option("--management-url <address>", "Azure's management API, in other clouds")
        .env("AUTOSCALER_MANAGEMENT_URL")
        .argParser(readManagementUrl)
        .default("https://management.azure.com"),
    )
    .addOption(
      new Option("--master-key <key>", "to read a local host's own list of functions").env(
        "AUTOSCALER_MASTER_KEY",
      ),
    )
    .addOption(
      new Option(
        "--wait <seconds>",
        "wait at most this long in all; 0 tries each check once (default: each check has its own bound)",
      ).argParser(readCount),
    )
    .option("--json", "the checks as JSON")
    .action((options: VerifyOptions) => run(() => verify(terminal, options)));
}

async function verify(terminal: Terminal, options: VerifyOptions): Promise<ExitCode> {
  const { key, wait, json } = options;
  const management = managementOf(terminal, options);
  if (key === undefined && management === undefined) {
    terminal.complain(
      "found neither --key (AUTOSCALER_KEY) nor --resource-id (AUTOSCALER_RESOURCE_ID), expected one",
    );
    return EXIT.usage;
  }
  const begun = terminal.now();
  const show = (one: Checked): void => {
    if (json !== true) terminal.say(renderChecked(one));
  };
  const deadline = wait === undefined ? undefined : begun + wait * 1000;
  const runAll = (checks: readonly Check[]) => runChecks(checks, { terminal, deadline, ended: show });
  let found = key;
  const asked =
    key === undefined && management !== undefined
      ? await runAll([hostKeyCheck(management, (read) => (found = read))])
      : [];
  const rest = checksOf(terminal, options, found ?? NOT_SENT, management);
  const checked = found === undefined ? leaveOut(rest, asked, show) : [...asked, ...(await runAll(rest))];
  const ok = checked.every(({ state }) => state === "ok" || state === "not-applicable");
  terminal.say(json === true ? jsonText({ ok, checks: checked }) : renderSummary(checked));
  return ok ? EXIT.done : codeOf(checked);
}

/** Replaces a missing key. No check that needs a key begins then. */
const NOT_SENT = "no key";

/** The checks that are not tried without a key. */
function leaveOut(
  checks: readonly Check[],
  asked: readonly Checked[],
  show: (one: Checked) => void,
): readonly Checked[] {
  const left = checks.map((check) => untried(check, "host key comes first"));
  left.forEach(show);
  return [...asked, ...left];
}

/** A missing answer may come later. Everything else is a "no". */
function codeOf(checked: readonly Checked[]): ExitCode {
  const [first] = checked.filter(({ state }) => state === "failed");
  return first?.check === "address" && first.found.startsWith("no answer") ? EXIT.unreachable : EXIT.no;
}

function managementOf(
  terminal: Terminal,
  { resourceId, managementUrl }: VerifyOptions,
): ManagementApi | undefined {
  if (resourceId === undefined) return undefined;
  const scope = `${withoutSlashesAtEnd(managementUrl)}/.default`;
  return openManagement(managementUrl, resourceId, () => terminal.signIn(scope));
}

/** In an order in which one failure causes the next. */
function checksOf(
  terminal: Terminal,
  { url, cluster: named, masterKey }: VerifyOptions,
  key: string,
  management: ManagementApi | undefined,
): readonly Check[] {
  const deployment: Deployment = {
    terminal,
    url,
    api: appOf({ url, key }),
    cluster: named,
    management,
    masterKey,
  };
  return [
    addressCheck(deployment),
    functionsCheck(deployment),
    ...keyChecks(deployment),
    ...appChecks(deployment),
    ...triggerChecks(deployment),
    cyclecloudCheck(deployment),
  ];
}

const RESOURCE_ID =
  /^\/subscriptions\/[\w-]+\/resourceGroups\/[\w.()-]+\/providers\/Microsoft\.Web\/sites\/[\w-]+$/i;

function readResourceId(text: string): string {
  const id = withoutSlashesAtEnd(text);
  if (RESOURCE_ID.test(id)) return id;
  throw new InvalidArgumentError(
    "Expected /subscriptions/.../resourceGroups/.../providers/Microsoft.Web/sites/NAME.",
  );
}

/** A token is sent there: no plain http to another machine. */
function readManagementUrl(text: string): string {
  const address = readAddress(text);
  if (!isPlainHttp(address)) return address;
  throw new InvalidArgumentError("Expected an https address.");
}
