import type { CheckRequest, ClusterCheck } from "../compose.ts";
import { validateConfig } from "../client/index.ts";
import { showText, withoutAbsent } from "../client/readable.ts";
import { readState } from "../client/readers.ts";
import type { Register } from "./options.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { nameOf, readJson } from "./read-json.ts";
import { renderBuckets, renderLimits } from "./render-status.ts";
import { countsText, renderTable } from "./table.ts";
import { complainOfProblems, jsonText } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import { wrapped } from "./options.ts";

interface CheckOptions {
  readonly cluster?: string;
  readonly settings?: string;
  readonly config?: string;
  readonly json?: true;
}

/** The first check against a real CycleCloud, before the app is deployed. */
export function registerCheck({ program, terminal, run }: Register): void {
  program
    .command("check")
    .description("read CycleCloud itself, before there is an app; changes nothing")
    .addHelpText(
      "after",
      wrapped(
        "A first check against CycleCloud itself, before there is an app. Signs in, reads every cluster of AUTOSCALER_CLUSTERS once, and shows node arrays, buckets and limits under the configuration. Changes nothing.",
      ),
    )
    .option("-c, --cluster <name>", "only this cluster")
    .option(
      "--settings <file>",
      "app settings in the form of local.settings.json (default: the environment, with AUTOSCALER_CLUSTERS and the password settings that it names)",
    )
    .option("--config <file>", "a configuration document as for config put (default: the defaults)")
    .option("--json", "everything as JSON")
    .action((options: CheckOptions) => run(() => checkFrom(terminal, options)));
}

async function checkFrom(terminal: Terminal, options: CheckOptions): Promise<ExitCode> {
  const settings = await readSettings(terminal, options.settings);
  if ("code" in settings) return settings.code;
  const config = await readConfig(terminal, options.config);
  if ("code" in config) return config.code;
  // Loaded only here: the adapters are most of the program, and no other command needs them.
  const { check, checkableClusters, ConfigError } = await import("../compose.ts");
  const { cluster } = options;
  try {
    const checks = await check({ ...settings, ...config, ...withoutAbsent({ cluster }) });
    return tellChecks(terminal, checks, options, checkableClusters(settings));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    complainOfProblems(terminal, nameOf(options.settings ?? "the environment"), error.problems);
    return EXIT.usage;
  }
}

/** The content of a file, or the exit of the command. */
type Given<T> = T | { readonly code: ExitCode };

/** Without a file nothing, so that the environment is used. */
async function readSettings(
  terminal: Terminal,
  file: string | undefined,
): Promise<Given<Pick<CheckRequest, "settings">>> {
  if (file === undefined) return {};
  const read = await readJson(terminal, file);
  if ("code" in read) return read;
  const { value } = read;
  const values = typeof value === "object" && value !== null && "Values" in value ? value.Values : undefined;
  if (typeof values === "object" && values !== null) {
    const texts = Object.entries(values).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    );
    return { settings: Object.fromEntries(texts) };
  }
  const expected = "an object with the app settings, as in local.settings.json";
  complainOfProblems(terminal, nameOf(file), [{ path: "Values", found: "nothing", expected }]);
  return { code: EXIT.usage };
}

async function readConfig(
  terminal: Terminal,
  file: string | undefined,
): Promise<Given<Pick<CheckRequest, "policy">>> {
  const input = file === undefined ? { text: "{}" } : await readJson(terminal, file);
  if ("code" in input) return input;
  const read = validateConfig(input.text);
  if (read.kind === "valid") return { policy: read.policy };
  complainOfProblems(terminal, nameOf(file ?? "the defaults"), read.problems);
  return { code: EXIT.usage };
}

function tellChecks(
  terminal: Terminal,
  checks: readonly ClusterCheck[],
  options: CheckOptions,
  known: readonly string[],
): ExitCode {
  if (options.json === true) terminal.say(jsonText({ clusters: checks }));
  else if (checks.length > 0) terminal.say(checks.map(renderCheck).join("\n\n"));
  if (checks.length === 0) {
    terminal.complain(
      options.cluster === undefined
        ? "AUTOSCALER_CLUSTERS names no cluster"
        : `AUTOSCALER_CLUSTERS names no cluster "${options.cluster}" (known: ${known.join(", ") || "none"})`,
    );
    return EXIT.usage;
  }
  if (checks.some(({ kind }) => kind === "unreachable" || kind === "throttled")) return EXIT.unreachable;
  return checks.every(({ kind }) => kind === "read") ? EXIT.done : EXIT.no;
}

const FAILURES: Readonly<Record<Exclude<ClusterCheck["kind"], "read">, string>> = {
  unreachable: "not reached",
  throttled: "CycleCloud asks to wait",
  denied: "reached, but CycleCloud refuses the credentials",
  unexpected: "the answer is not from CycleCloud: is this the right address?",
  "other-state": "written by another release",
  "not-found": "reached and signed in, but there is no such cluster",
  "no-words":
    "HTTP 404 that does not name the cluster: is this CycleCloud's address? If it is, it has no such cluster",
  "not-tried": "not tried",
};

function renderCheck(check: ClusterCheck): string {
  if (check.kind !== "read") return showText(`${check.cluster}: ${FAILURES[check.kind]}: ${check.message}`);
  // In the form of the app's own answer, so that the same readers and tables work.
  const { buckets = [] } = readState(check) ?? {};
  const arrays = renderTable(
    [
      ["NODEARRAY", ({ nodearray }) => nodearray],
      ["OURS", ({ managed }) => managed],
      ["PRIORITY", ({ priority }) => priority],
      ["REGION", ({ region }) => region],
      ["SPOT", ({ spot }) => (spot ? "spot" : undefined)],
      ["WHY NOT", ({ why }) => why],
    ],
    check.nodearrays,
    "no node arrays",
  );
  const told = [
    `${check.cluster}: reached, signed in and read; ${check.state} (target ${check.targetState}); nodes: ${countsText(check.nodes, "none")}`,
    ...check.notes.map((note) => `  note: ${note}`),
  ];
  return [
    ...told.map(showText),
    "",
    arrays,
    "",
    renderBuckets({ buckets }),
    "",
    renderLimits({ buckets }),
  ].join("\n");
}
