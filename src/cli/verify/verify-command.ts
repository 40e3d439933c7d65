import { InvalidArgumentError, Option } from "commander";
import { withoutSlashesAtEnd } from "../../client/call.ts";
import type { ManagementApi } from "../../client/index.ts";
import { isPlainHttp, openManagement } from "../../client/index.ts";
import type { ExitCode } from "../exit-code.ts";
import { EXIT } from "../exit-code.ts";
import { appOf, cluster, key, readAddress, readCount, url, wrapped } from "../options.ts";
import type { Register } from "../options.ts";
import { jsonText } from "../tell.ts";
import type { Terminal } from "../terminal.ts";
import { addressCheck, keyChecks } from "./address-checks.ts";
import { appChecks } from "./app-checks.ts";
import type { Check, Checked, CheckName, Verdict } from "./check.ts";
import { cyclecloudCheck } from "./cyclecloud-check.ts";
import type { Deployment } from "./deployment.ts";
import { functionsCheck, hostKeyCheck } from "./functions-check.ts";
import { triggerChecks } from "./trigger-checks.ts";
import { showText } from "../../client/readable.ts";
import { COLUMNS, fold } from "../table.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";

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

const STATES: Readonly<Record<Checked["state"], string>> = {
  ok: "ok",
  failed: "FAILED",
  "not-applicable": "not applicable",
  "not-tried": "not tried",
};

const INDENT = " ".repeat(27);

/** A completed check as a line, with the remedy below it if it failed. */
function renderChecked({ check, state, waitsFor, waitedSeconds, found, whatToDo }: Checked): string {
  const begin = `${STATES[state].padEnd(15)} ${check.padEnd(10)} `;
  const waited = state === "failed" ? `waited ${waitedSeconds} s for ${waitsFor}. Found: ` : "";
  const lines = fold(showText(`${waited}${found}`), COLUMNS - INDENT.length);
  const todo = whatToDo === undefined ? [] : fold(`What to do: ${whatToDo}`, COLUMNS - INDENT.length);
  return [...lines, ...todo].map((line, index) => `${index === 0 ? begin : INDENT}${line}`).join("\n");
}

function renderSummary(checks: readonly Checked[]): string {
  const count = (state: Checked["state"]) => checks.filter((one) => one.state === state).length;
  const failed = checks.filter(({ state }) => state === "failed").map(({ check }) => check);
  const rest = (["not-applicable", "not-tried"] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${STATES[state]}`);
  const tail = rest.length === 0 ? "" : `, ${rest.join(", ")}`;
  const cut = checks.filter(({ cutShort }) => cutShort === true).map(({ check }) => check);
  const again =
    cut.length === 0
      ? ""
      : `\n--wait ended before the time of these checks was over, and they may hold later: ${cut.join(", ")}. Run verify again without --wait.`;
  return failed.length === 0
    ? `${count("ok")} checks passed${tail}`
    : `${count("ok")} checks passed, ${failed.length} failed (${failed.join(", ")})${tail}${again}`;
}

/** Interval of progress lines while nothing changes. */
const PROGRESS_MS: Milliseconds = 60_000;

interface Run {
  readonly terminal: Terminal;
  /** No check waits longer than this. Undefined: each has its own limit. */
  readonly deadline: number | undefined;
  /** Called with each check as it ends. */
  readonly ended: (checked: Checked) => void;
}

/**
 * Runs the checks one after the other. A check whose prerequisites are missing becomes "not-tried". After Ctrl-C the others are not tried.
 */
async function runChecks(checks: readonly Check[], run: Run): Promise<readonly Checked[]> {
  const all: Checked[] = [];
  const good = new Set<CheckName>();
  let interrupted = false;
  for (const check of checks) {
    const missing = check.needs.find((name) => !good.has(name));
    const why = interrupted ? "stopped by Ctrl-C" : missing && `${missing} comes first`;
    const ended: Ended =
      why === undefined
        ? await runCheck(check, run.terminal, run.deadline)
        : { checked: untried(check, why), interrupted };
    interrupted = ended.interrupted;
    if (ended.checked.state === "ok" || ended.checked.state === "not-applicable") good.add(check.name);
    all.push(ended.checked);
    run.ended(ended.checked);
  }
  return all;
}

/** The result of a check that was not begun, with the reason. */
function untried({ name, waitsFor }: Check, found: string): Checked {
  return { check: name, state: "not-tried", found, waitsFor, waitedSeconds: 0 };
}

interface Ended {
  readonly checked: Checked;
  readonly interrupted: boolean;
}

async function runCheck(check: Check, terminal: Terminal, latest = Number.POSITIVE_INFINITY): Promise<Ended> {
  const begun = terminal.now();
  const own = begun + check.seconds * 1000;
  const deadline = Math.min(latest, own);
  const progress = progressOf(check, terminal, deadline);
  for (;;) {
    const verdict = await check.run();
    const now = terminal.now();
    const waitedSeconds = Math.round((now - begun) / 1000);
    if (verdict.kind !== "not-yet" || now >= deadline) {
      const checked = conclude(check, verdict, waitedSeconds);
      const isCut = verdict.kind === "not-yet" && now < own;
      return { checked: isCut ? { ...checked, cutShort: true } : checked, interrupted: false };
    }
    progress(verdict.found);
    if (!(await terminal.sleep(Math.min(check.everySeconds * 1000, deadline - now))))
      return { checked: conclude(check, verdict, waitedSeconds), interrupted: true };
  }
}

/** Writes to standard error what it waits for, each change of the result, and a line for each minute of waiting. */
function progressOf({ name, waitsFor }: Check, terminal: Terminal, deadline: number) {
  let said: { readonly found: string; readonly at: number } | undefined;
  return (found: string): void => {
    const at = terminal.now();
    if (said?.found === found && at - said.at < PROGRESS_MS) return;
    const left = Math.ceil((deadline - at) / 1000);
    const begin = said === undefined ? `waiting for ${waitsFor}; ` : "";
    terminal.complain(`${name}: ${begin}${found}; ${left} s left`);
    said = { found, at };
  };
}

function conclude({ name, waitsFor }: Check, verdict: Verdict, waitedSeconds: Seconds): Checked {
  const { found } = verdict;
  const waited = { waitsFor, waitedSeconds };
  switch (verdict.kind) {
    case "holds":
      return { check: name, state: "ok", found, ...waited };
    case "not-applicable":
      return { check: name, state: "not-applicable", found, ...waited };
    default:
      return { check: name, state: "failed", found, whatToDo: verdict.whatToDo, ...waited };
  }
}
