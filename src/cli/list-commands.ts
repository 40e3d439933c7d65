import { Option } from "commander";
import type { StateAnswer, NodeAnswer } from "../client/readers.ts";
import { readState } from "../client/readers.ts";
import type { Register, ClusterOptions } from "./options.ts";
import { appOf, requestSet, withCluster } from "./options.ts";
import type { JobChoice } from "./render-demand.ts";
import { isChosenJob, JOB_ORDERS, renderJobs } from "./render-demand.ts";
import { tell, UNREADABLE } from "./tell.ts";
import type { Column } from "./table.ts";
import { ageBetween, compareNaturally, renderTable, someOf } from "./table.ts";
import { itemsWhere, withMember } from "./choose.ts";
import { chooseArrays, renderArrays } from "./render-arrays.ts";
import { groupAlike, isNotOurs } from "./staying.ts";

/** Commands that list many items, filtered and sorted. */
export function registerListCommands({ program, terminal, run }: Register): void {
  const list = lister(terminal, run);
  registerArrays({ program, terminal, run }, list);
  registerHosts({ program, terminal, run }, list);

  withCluster(program.command("nodes"))
    .description("list nodes, and why each stays or is stopped")
    .option("--nodearray <name>", "only nodes of this node array")
    .option(
      "--phase <phase>",
      "only nodes in this phase: coming, ready, failed, going, off, deallocated, down, missing, unknown",
    )
    .option("--unneeded", "only nodes that are up and that no demand needs")
    .option("--why <text>", "only nodes with this text in the column WHY")
    .addOption(
      new Option("--sort <column>", "sort by this column; age: the oldest first").choices(NODE_ORDERS),
    )
    .action((options: ClusterOptions & NodeChoice) =>
      list(
        options,
        (state) => renderNodes(state, options, terminal.columns),
        (body, state) => chooseNodes(body, state, options),
      ),
    );

  withCluster(program.command("jobs"))
    .description("list what each job asks for, and how much of it is placed")
    .addOption(requestSet())
    .option("--unmet", "only jobs with unmet demand")
    .option("--user <name>", "only jobs of this user")
    .addOption(
      new Option("--sort <column>", "sort by this column; numbers: the largest first").choices(JOB_ORDERS),
    )
    .action((options: ClusterOptions & JobChoice) =>
      list(
        options,
        (state) => renderJobs(state, options, terminal.columns),
        (body, state) => chooseJobs(body, state, options),
      ),
    );
}

/** One array by its name, with its groups, or all: those of the template, dynamic ones, and grouped ones such as "execute:64". */
function registerArrays({ program }: Register, list: Lister): void {
  withCluster(program.command("nodearrays"))
    .description("list the node arrays, also dynamic and grouped ones, with what is asked of each")
    .argument("[name]", "only this one, with its groups, such as execute or execute:64")
    .action((name: string | undefined, options: ClusterOptions) =>
      list(
        options,
        (state) => renderArrays(state, name),
        (body, state) => chooseArrays(body, state, name),
      ),
    );
}

/** What the library of azpbs and azslurm lists as scheduler_nodes, without those that are nodes. */
function registerHosts({ program, terminal }: Register, list: Lister): void {
  withCluster(program.command("hosts"))
    .description("list hosts that schedulers report and that are no nodes, and whether each takes jobs")
    .action((options: ClusterOptions) =>
      list(
        options,
        ({ schedulerHosts }) =>
          renderTable(HOSTS, schedulerHosts.list, "no hosts beside the nodes", terminal.columns),
        (body) => body,
      ),
    );
}

type Lister = ReturnType<typeof lister>;

/** Shows the chosen part of a cluster's whole state. */
function lister(terminal: Register["terminal"], run: Register["run"]) {
  return (
    options: ClusterOptions,
    render: (state: StateAnswer) => string,
    choose: (body: unknown, state: StateAnswer) => unknown,
  ) =>
    run(async () => {
      const answer = await appOf(options).wholeState(options.cluster);
      const state = answer.kind === "answered" ? readState(answer.body) : undefined;
      const chosen =
        answer.kind === "answered" && state !== undefined
          ? { ...answer, body: choose(answer.body, state) }
          : answer;
      return tell(terminal, chosen, options.json === true, () => ({
        text: state === undefined ? UNREADABLE : render(state),
      }));
    });
}

const HOSTS: readonly Column<StateAnswer["schedulerHosts"]["list"][number]>[] = [
  ["HOST", ({ hostname }) => hostname],
  ["SETS", ({ requestSets }) => someOf(requestSets)],
  ["RESOURCES", ({ resources }) => amountsText(resources)],
  ["AVAILABLE", ({ available }) => amountsText(available)],
  ["JOBS", ({ jobs, moreJobs = 0 }) => jobs.length + moreJobs],
  ["WHY", ({ why }) => why],
];

const amountsText = (amounts: Readonly<Record<string, unknown>>): string =>
  someOf(Object.entries(amounts).map(([name, value]) => `${name} ${String(value)}`));

function chooseNodes(body: unknown, { nodes }: StateAnswer, choice: NodeChoice): unknown {
  return withMember(body, "nodes", (part) =>
    withMember(part, "list", (all) => itemsWhere(all, nodes.list, (one) => isChosen(one, choice))),
  );
}

function chooseJobs(body: unknown, { outcomes }: StateAnswer, choice: JobChoice): unknown {
  return withMember(body, "outcomes", (all) =>
    itemsWhere(all, outcomes, (one) => one.kind === "job" && isChosenJob(one, choice)),
  );
}

/** The nodes that are shown, and their order. Absent: all, in the app's order. */
interface NodeChoice {
  readonly nodearray?: string;
  readonly phase?: string;
  /** Only nodes that are up and that no demand needs. */
  readonly unneeded?: true;
  /** Only nodes whose WHY contains this text, ignoring case. */
  readonly why?: string;
  readonly sort?: NodeOrder;
}

const NODE_ORDERS = ["name", "nodearray", "size", "phase", "age"] as const;
type NodeOrder = (typeof NODE_ORDERS)[number];

/** Every selected node, with the reason why it stays or is stopped. No line is longer than `columns`. */
function renderNodes({ nodes, now }: StateAnswer, choice: NodeChoice = {}, columns?: number): string {
  const chosen = nodes.list.filter((node) => isChosen(node, choice));
  const rows = inOrder(chosen, choice.sort);
  const hasOthers = chosen.some(isNotOurs);
  const table = renderTable(
    [
      ["NODE", ({ name }) => name],
      ["NODEARRAY", countedFor],
      ["SIZE", ({ machineType }) => machineType],
      ["GROUP", ({ placementGroup }) => placementGroup],
      ["PHASE", ({ phase }) => phase],
      ["AGE", ({ firstSeenAt }) => ageBetween(firstSeenAt, now)],
      ["READY IN", ({ expectedReadyAt }) => readyIn(now, expectedReadyAt)],
      ["HOST", ({ hostname }) => hostname],
      ["BUSY", ({ busyness }) => busyness],
      ["WHOSE", (node) => (hasOthers ? whose(node) : undefined)],
      ["WHY", ({ why }) => why],
    ],
    choice.unneeded === true ? groupAlike(rows) : rows,
    nodes.list.length === 0 ? "no nodes" : "no such nodes",
    columns,
  );
  const more = (nodes.count ?? nodes.list.length) - nodes.list.length;
  return more > 0 ? `${table}\nand ${more} more` : table;
}

/** A dynamic or grouped array has its nodes in another one. */
const countedFor = ({ array, countsFor }: NodeAnswer): string | undefined => countsFor ?? array;

const whose = (node: NodeAnswer): string => (isNotOurs(node) ? "not ours: made by another tool" : "ours");

function isChosen(node: NodeAnswer, { nodearray, phase, unneeded, why }: NodeChoice): boolean {
  if (nodearray !== undefined && node.array !== nodearray && node.countsFor !== nodearray) return false;
  if (phase !== undefined && node.phase !== phase) return false;
  if (unneeded === true && (node.phase !== "ready" || NEEDED.has(node.verdict))) return false;
  return why === undefined || node.why?.toLowerCase().includes(why.toLowerCase()) === true;
}

/** Verdicts on nodes that are in use, or whose state is unknown. */
const NEEDED: ReadonlySet<string | undefined> = new Set([
  "needed",
  "busy",
  "coming",
  "not-judged",
  "not-managed",
  undefined,
]);

function inOrder(nodes: readonly NodeAnswer[], sort: NodeOrder | undefined): readonly NodeAnswer[] {
  if (sort === undefined) return nodes;
  const key = KEYS[sort];
  return nodes.toSorted((a, b) => compareNaturally(key(a), key(b)));
}

/** By age: the oldest first. */
const KEYS: Readonly<Record<NodeOrder, (node: NodeAnswer) => string | undefined>> = {
  name: ({ name }) => name,
  nodearray: countedFor,
  size: ({ machineType }) => machineType,
  phase: ({ phase }) => phase,
  age: ({ firstSeenAt }) => firstSeenAt,
};

function readyIn(now: string | undefined, expected: string | undefined): string | undefined {
  if (now === undefined || expected === undefined) return undefined;
  return Date.parse(expected) <= Date.parse(now) ? "overdue" : ageBetween(now, expected);
}
