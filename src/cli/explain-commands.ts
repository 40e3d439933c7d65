import { Option } from "commander";
import type { ExplainQuery } from "../client/index.ts";
import { readDryRun, readExplanation } from "../client/plans.ts";
import type { Register } from "./register.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { ClusterOptions } from "./options.ts";
import { appOf, readCount, readTime, requestSet, withCluster } from "./options.ts";
import { readJson } from "./read-json.ts";
import { tellHistory } from "./render-history.ts";
import { renderDryRun } from "./render-dry-run.ts";
import type { Telling } from "./tell.ts";
import { tell, UNREADABLE } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import { wrapped } from "./wrapped.ts";

/** Commands for explanations, dry runs and history. */
export function registerExplainCommands(register: Register): void {
  registerExplain(register);
  registerPlan(register);
  registerHistory(register);
}

function registerExplain({ program, terminal, run }: Register): void {
  const explain = program
    .command("explain")
    .description("explain why a job is placed or not, or why a node stays or is stopped");
  withCluster(explain.command("job"))
    .description("explain why a job or target is placed or not, and what would have to change")
    .argument("<name>", "the job, or the target as status names it")
    .addOption(requestSet())
    .addOption(pastPlan())
    .action((job: string, options: ExplainOptions) =>
      run(() => explainTo(terminal, options, { job, set: options.requestSet })),
    );
  withCluster(explain.command("node"))
    .description("explain why a node stays or is stopped, and what runs on it")
    .argument("<name>", "its name, host name or NodeId")
    .addOption(pastPlan())
    .action((node: string, options: ExplainOptions) => run(() => explainTo(terminal, options, { node })));
}

function registerPlan({ program, terminal, run }: Register): void {
  withCluster(program.command("plan"))
    .description("dry run: show the plan for other demand, limits or configuration")
    .addHelpText(
      "after",
      wrapped(
        "Shows what the autoscaler would do with the changes in a JSON file, by the same code. Changes nothing. Without a file, it plans for the present inputs. Exits with 1 if demand would be left unmet.",
      ),
    )
    .option(
      "--file <file>",
      '{ "config"?, "requestSets"?, "limits"?, ... }; or a demand message as push takes it; "-" reads standard input',
    )
    .action((options: ClusterOptions & { readonly file?: string }) => run(() => planFor(terminal, options)));
}

type HistoryOptions = ClusterOptions & {
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
};

function registerHistory({ program, terminal, run }: Register): void {
  withCluster(program.command("history"))
    .description("list counts per tick, newest first")
    .addHelpText(
      "after",
      wrapped("Lists the cluster's counts per tick, newest first. They are kept for 30 days."),
    )
    .addOption(new Option("--from <time>", "ISO-8601").argParser(readTime))
    .addOption(new Option("--to <time>", "ISO-8601").argParser(readTime))
    .addOption(new Option("--limit <rows>", "maximum number of rows").argParser(readCount).default(20))
    .action(({ from, to, limit, ...options }: HistoryOptions) =>
      run(async () => {
        const query = {
          limit,
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
        };
        const answer = await appOf(options).wholeHistory(options.cluster, query);
        return tell(terminal, answer, options.json === true, tellHistory);
      }),
    );
}

type ExplainOptions = ClusterOptions & { readonly requestSet?: string; readonly plan?: number };

function pastPlan(): Option {
  return new Option("--plan <number>", "use a past plan, as history numbers them").argParser(readCount);
}

type Asked = { readonly job: string; readonly set: string | undefined } | { readonly node: string };

async function explainTo(terminal: Terminal, options: ExplainOptions, asked: Asked): Promise<ExitCode> {
  const { plan } = options;
  const query: ExplainQuery = {
    ...("node" in asked ? { node: asked.node } : { job: asked.job }),
    ...("set" in asked && asked.set !== undefined ? { set: asked.set } : {}),
    ...(plan === undefined ? {} : { plan }),
  };
  const answer = await appOf(options).explain(options.cluster, query);
  return tell(terminal, answer, options.json === true, (body) => ({
    text: readExplanation(body)?.text ?? UNREADABLE,
  }));
}

async function planFor(
  terminal: Terminal,
  options: ClusterOptions & { readonly file?: string },
): Promise<ExitCode> {
  const read = options.file === undefined ? { value: {} } : await readJson(terminal, options.file);
  if ("code" in read) return read.code;
  const answer = await appOf(options).plan(options.cluster, asDryRun(read.value));
  return tell(terminal, answer, options.json === true, tellPlan({ hasChanges: options.file !== undefined }));
}

/** What a message says besides its demand. A dry run is of one cluster, and newer than what is in force. */
const ENVELOPE: ReadonlySet<string> = new Set(["version", "cluster", "revision"]);
const DEFAULT_SET = "standard";

/** A demand message, as push takes it, is a dry run in which its request set asks for that. */
function asDryRun(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (!["nodearrays", "jobs", "schedulerNodes", "pools"].some((key) => key in value)) return value;
  const { requestSet, ...others } = { requestSet: DEFAULT_SET, ...value };
  const demand = Object.entries(others).filter(([key]) => !ENVELOPE.has(key));
  return { requestSets: { [requestSet]: Object.fromEntries(demand) } };
}

const tellPlan =
  (request: { readonly hasChanges: boolean }): Telling =>
  (body) => {
    const answer = readDryRun(body);
    if (answer === undefined) return { text: UNREADABLE };
    const unmet = (answer.plan.unmet ?? 0) > 0;
    return { text: renderDryRun(answer, request), code: unmet ? EXIT.no : EXIT.done };
  };
