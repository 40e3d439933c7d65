import { Option } from "commander";
import type { ExplainQuery } from "../client/index.ts";
import { readDryRun, readExplanation, readHistory, readNodeHistory } from "../client/readers.ts";
import type { Register, ClusterOptions } from "./options.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { appOf, readCount, readTime, requestSet, withCluster, wrapped } from "./options.ts";
import { withPoolFiles } from "./pool-files.ts";
import { readJson } from "./read-json.ts";
import type { Telling } from "./tell.ts";
import { tell, UNREADABLE } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import type { HistoryAnswer, DryRunAnswer, NodeHistoryAnswer } from "../client/readers.ts";
import { countsText, moneyText, renderTable } from "./table.ts";
import { modeText } from "./render-status.ts";
import { withoutAbsent } from "../client/readable.ts";

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
      '{ "config"?, "requestSets"?, "limits"?, ... }; or a demand message as push takes it, or node arrays as update takes them; "-" reads standard input',
    )
    .action((options: ClusterOptions & { readonly file?: string }) => run(() => planFor(terminal, options)));
}

type HistoryOptions = ClusterOptions & {
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
  readonly points?: number;
  readonly nodes?: true;
};

function registerHistory({ program, terminal, run }: Register): void {
  withCluster(program.command("history"))
    .description("list counts per tick, newest first, or the nodes that were there")
    .addHelpText(
      "after",
      wrapped(
        "Lists the cluster's counts per tick, newest first. With --nodes, lists each node from the plan that asked for it until it went, with what it cost: those that are there, and then those that have gone, the last first. Both are kept for 30 days.",
      ),
    )
    .option("--nodes", "list nodes instead of ticks")
    .addOption(new Option("--from <time>", "ISO-8601").argParser(readTime))
    .addOption(new Option("--to <time>", "ISO-8601").argParser(readTime))
    .addOption(new Option("--limit <rows>", "maximum number of rows").argParser(readCount).default(20))
    .addOption(
      new Option(
        "--points <n>",
        "in place of --limit: cut the time into so many equal steps, and show the last row of each; 2000 at most",
      ).argParser(readCount),
    )
    .action(({ from, to, limit, points, nodes, ...options }: HistoryOptions) =>
      run(async () => {
        const query = {
          ...(points === undefined ? { limit } : { points }),
          ...withoutAbsent({ from, to }),
        };
        const app = appOf(options);
        if (nodes === true) {
          const lives = await app.wholeNodeHistory(options.cluster, query);
          return tell(terminal, lives, options.json === true, tellNodeHistory);
        }
        const answer = await app.wholeHistory(options.cluster, query);
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
    ...withoutAbsent({ plan }),
  };
  const answer = await appOf(options).explain(options.cluster, query);
  return tell(terminal, answer, options.json === true, (body) => ({
    text: readExplanation(body) ?? UNREADABLE,
  }));
}

async function planFor(
  terminal: Terminal,
  options: ClusterOptions & { readonly file?: string },
): Promise<ExitCode> {
  const read = options.file === undefined ? { value: {} } : await readJson(terminal, options.file);
  if ("code" in read) return read.code;
  const filled = await withPoolFiles(terminal, options.file ?? "", read.value);
  if ("code" in filled) return filled.code;
  const answer = await appOf(options).plan(options.cluster, asDryRun(filled.value));
  return tell(terminal, answer, options.json === true, tellPlan({ hasChanges: options.file !== undefined }));
}

/** What a message says besides its demand. A dry run is of one cluster, and newer than what is in force. */
const ENVELOPE: ReadonlySet<string> = new Set(["version", "cluster", "revision"]);
const DEFAULT_SET = "standard";

/** A demand message, as push takes it, or node arrays, as update takes them, are a dry run in which their request set asks for that. */
function asDryRun(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value) || "Name" in value)
    return { requestSets: { [DEFAULT_SET]: { nodearrays: value } } };
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

/** Maximum number of plans that are listed below the history. */
const KEPT_SHOWN = 20;

const tellHistory: Telling = (body) => {
  const answer = readHistory(body);
  return { text: answer === undefined ? UNREADABLE : renderHistory(answer) };
};

function renderHistory({ rows, keptPlans, planCounts }: HistoryAnswer): string {
  const table = renderTable(
    [
      ["AT", ({ at }) => at],
      ["PLAN", ({ plan }) => plan],
      ["NODES", ({ nodes }) => countsText(nodes, "none")],
      ["IDLE", ({ idle }) => idle],
      [
        "COST/H",
        ({ pricePerHour, currency }) =>
          pricePerHour === undefined ? undefined : moneyText(pricePerHour, currency),
      ],
      ["IN FLIGHT", ({ inFlight }) => inFlight],
      ["SETS", ({ liveSets }) => liveSets],
      ["UNMET", ({ unmet }) => unmet],
      ["CREATED", ({ created }) => created],
      ["STOPPED", ({ terminated }) => terminated],
      ["SECONDS/CALL", ({ callSeconds }) => secondsText(callSeconds)],
      ["MODE", ({ mode }) => mode],
      ["WITHHELD", ({ withheld }) => (withheld === undefined ? undefined : countsText(withheld, "nothing"))],
    ],
    rows,
    "no history in that time",
  );
  const kept = keptPlans.slice(0, KEPT_SHOWN).join(", ");
  const bounds = planCounts.flatMap(({ plan = "?", bound }) =>
    bound?.text === undefined ? [] : [`plan ${plan}: ${bound.text}`],
  );
  return [
    table,
    ...sumText(rows),
    ...(kept === "" ? [] : [`plans that explain --plan can show: ${kept}`]),
    ...bounds.slice(-KEPT_SHOWN),
  ].join("\n");
}

/** "status 22, create 24". */
function secondsText(seconds: HistoryAnswer["rows"][number]["callSeconds"]): string | undefined {
  if (seconds === undefined) return undefined;
  return Object.entries(seconds)
    .map(([endpoint, each]) => `${endpoint} ${each}`)
    .join(", ");
}

/** A row is valid until the next one, if that comes soon: the timer writes one a minute while it runs. */
const LONGEST_HOLD_HOURS = 0.25;

/** The cost of the nodes in the period shown, and their idle time. */
function sumText(rows: HistoryAnswer["rows"]): readonly string[] {
  let [idleHours, cost, idleCost, unpriced] = [0, 0, 0, 0];
  let currency: string | undefined;
  // Newest first: each row's time ends with the row before it in the list.
  for (const [index, row] of rows.entries()) {
    const hours = hoursBetween(row.at, rows[index - 1]?.at);
    if (!(hours > 0 && hours <= LONGEST_HOLD_HOURS)) continue;
    idleHours += (row.idle ?? 0) * hours;
    cost += (row.pricePerHour ?? 0) * hours;
    idleCost += (row.idlePricePerHour ?? 0) * hours;
    unpriced = Math.max(unpriced, row.unpricedNodes ?? 0);
    currency ??= row.currency;
  }
  if (rows.every(({ idle }) => idle === undefined)) return [];
  const idle = `in the time shown: ${idleHours.toFixed(1)} idle node-hours`;
  if (currency === undefined) return [idle];
  const missing = unpriced === 0 ? "" : ` (up to ${unpriced} nodes have no known price)`;
  return [`${idle} for ${moneyText(idleCost, currency)}, all nodes ${moneyText(cost, currency)}${missing}`];
}

/** NaN if one of the times is unknown. */
function hoursBetween(from: string | undefined, to: string | undefined): number {
  if (from === undefined || to === undefined) return Number.NaN;
  return (Date.parse(to) - Date.parse(from)) / 3_600_000;
}

/** The planned actions, the unmet demands with their reasons, and the effect of the changes, if there are any. */
function renderDryRun(
  { acting, currency, mode, observed, plan, difference, rejectedJobs }: DryRunAnswer,
  { hasChanges }: { readonly hasChanges: boolean },
): string {
  const price =
    plan.pricePerHour === undefined
      ? []
      : [`new nodes cost ${withCurrency(String(plan.pricePerHour), currency)} an hour`];
  const bound = plan.bound?.text === undefined ? [] : [plan.bound.text];
  const deeds = [
    ...plan.creates.map(
      ({ count = 0, nodearray = "?", machineType = "?", placementGroup }) =>
        `create ${count} x ${[nodearray, machineType, placementGroup].filter((part) => part !== undefined).join("/")}`,
    ),
    ...plan.starts.map((name) => `start ${name}`),
    ...plan.terminates.map((name) => `stop ${name}`),
  ];
  const short = plan.outcomes.filter(({ asked = 0, placed = 0 }) => placed < asked);
  const leftOut = rejectedJobs.flatMap(({ requestSet = "?", jobs }) =>
    jobs.map(({ name = "?" }) => `left out because it cannot be read: ${requestSet}/${name}`),
  );
  const held = acting === false;
  return [
    ...(mode === undefined ? [] : [`mode: ${modeText({ mode, observed })}`]),
    ...(held && deeds.length === 0
      ? ["the mode is observe, or the cluster is not started: none of this would be done"]
      : []),
    ...(deeds.length === 0 ? ["nothing to do"] : held ? deeds.map(withheld) : deeds),
    ...price,
    ...bound,
    ...renderUnmet(short, plan.unmet ?? short.length),
    ...leftOut,
    ...renderDifference(difference, currency, { hasChanges }),
  ].join("\n");
}

const withheld = (deed: string): string => `would ${deed}, but the mode is observe`;

/** Unmet demands that are listed. Of thousands of jobs, the others have the same reasons. --json lists all. */
const SHOWN = 20;

function renderUnmet(unmet: DryRunAnswer["plan"]["outcomes"], count: number): readonly string[] {
  const shown = unmet.slice(0, SHOWN);
  const lines = shown.flatMap(({ requestSet, id, asked = 0, placed = 0, unit, reasons, binding }) => [
    `unmet: ${requestSet ?? "?"}/${id ?? "?"} has ${placed} of ${asked}${unit === undefined ? "" : ` ${unit}`}`,
    ...reasons.map((reason) => `  ${reason}`),
    ...(binding === undefined ? [] : [`  ${binding}`]),
  ]);
  return count > shown.length ? [...lines, `and ${count - shown.length} more`] : lines;
}

function renderDifference(
  { nodesCreated = 0, pricePerHour, demands }: DryRunAnswer["difference"],
  currency: string | undefined,
  { hasChanges }: { readonly hasChanges: boolean },
): readonly string[] {
  const price = pricePerHour === undefined ? "" : `, ${withCurrency(signed(pricePerHour), currency)} an hour`;
  const changed = demands.map(
    ({
      requestSet = "?",
      id = "?",
      unit = "?",
      asked = 0,
      placed = 0,
      askedWithout = 0,
      placedWithout = 0,
    }) =>
      `  ${requestSet}/${id}: ${placed} of ${asked} ${unit} instead of ${placedWithout} of ${askedWithout}`,
  );
  if (nodesCreated === 0 && changed.length === 0) return hasChanges ? ["the changes change nothing"] : [];
  return [`compared with no changes: ${signed(nodesCreated)} new nodes${price}`, ...changed];
}

function signed(amount: number): string {
  return amount > 0 ? `+${amount}` : String(amount);
}

function withCurrency(amount: string, currency: string | undefined): string {
  return currency === undefined ? amount : `${amount} ${currency}`;
}

type NodeRow = NodeHistoryAnswer["rows"][number];

/** The nodes of a time, a row each, and what they cost together. */
const tellNodeHistory: Telling = (body) => {
  const answer = readNodeHistory(body);
  return { text: answer === undefined ? UNREADABLE : renderNodes(answer) };
};

function renderNodes({ rows, next }: NodeHistoryAnswer): string {
  const table = renderTable<NodeRow>(
    [
      ["NODE", ({ name }) => name],
      ["SIZE", ({ machineType, spot }) => (spot === true ? `${machineType} (spot)` : machineType)],
      ["PHASE", ({ phase }) => phase],
      ["PLAN", ({ askedByPlan }) => askedByPlan],
      ["FOR", ({ requestSets }) => requestSets.join(", ")],
      ["ASKED", ({ askedAt }) => secondOf(askedAt)],
      ["SEEN", ({ firstSeenAt }) => secondOf(firstSeenAt)],
      ["READY", ({ firstReadyAt }) => secondOf(firstReadyAt)],
      ["NEEDED", ({ firstNeededAt }) => secondOf(firstNeededAt)],
      ["LAST NEEDED", ({ lastNeededAt }) => secondOf(lastNeededAt)],
      ["TOLD TO STOP", ({ drainingSince }) => secondOf(drainingSince)],
      ["GONE", ({ goneAt }) => secondOf(goneAt)],
      ["HOURS", ({ hours }) => hours?.toFixed(2)],
      ["COST", ({ cost, currency }) => (cost === undefined ? undefined : moneyText(cost, currency))],
      ["WHY", ({ why }) => why],
    ],
    rows,
    "no nodes in that time",
  );
  const more = next === undefined ? [] : ["there are more: --limit, or --from and --to"];
  return [table, ...(rows.length === 0 ? [] : [nodesSumText(rows)]), ...more].join("\n");
}

/** "2026-01-31T12:00:00Z". */
const secondOf = (time: string | undefined): string | undefined => time?.replace(/\.\d+Z$/, "Z");

const counted = (nodes: number): string => (nodes === 1 ? "1 node" : `${nodes} nodes`);

/** What all of them cost. Of two currencies, which a change of the configuration makes, each has a sum. */
function nodesSumText(rows: readonly NodeRow[]): string {
  const hours = rows.reduce((sum, row) => sum + (row.hours ?? 0), 0);
  const sums = new Map<string, number>();
  for (const { cost, currency } of rows)
    if (cost !== undefined && currency !== undefined) sums.set(currency, (sums.get(currency) ?? 0) + cost);
  const unpriced = rows.filter(({ cost }) => cost === undefined).length;
  const there = `${counted(rows.length)}, ${hours.toFixed(2)} node-hours`;
  if (sums.size === 0) return there;
  const cost = [...sums].map(([currency, sum]) => moneyText(sum, currency)).join(" and ");
  return `${there} for ${cost}${unpriced === 0 ? "" : ` (without ${counted(unpriced)} whose price is not known)`}`;
}
