import { Option } from "commander";
import type { StateAnswer } from "../client/state.ts";
import { readState } from "../client/state.ts";
import type { Register } from "./register.ts";
import type { ClusterOptions } from "./options.ts";
import { appOf, requestSet, withCluster } from "./options.ts";
import type { JobChoice } from "./render-demand.ts";
import { isChosenJob, JOB_ORDERS, renderJobs } from "./render-demand.ts";
import type { NodeChoice } from "./render-nodes.ts";
import { isChosen, NODE_ORDERS, renderNodes } from "./render-nodes.ts";
import { tell, UNREADABLE } from "./tell.ts";

/** Commands that list many items, filtered and sorted. */
export function registerListCommands({ program, terminal, run }: Register): void {
  const list = lister(terminal, run);

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

/** The object with one member changed; anything else as it is. */
export function withMember(body: unknown, key: string, change: (value: unknown) => unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const members = Object.entries(body);
  return Object.fromEntries(members.map(([name, value]) => [name, name === key ? change(value) : value]));
}

/** The items of an answer for which this is true of what this release reads of them. All, if it cannot read them. */
function itemsWhere<T>(all: unknown, read: readonly T[], isWanted: (one: T) => boolean): unknown {
  if (!Array.isArray(all) || all.length !== read.length) return all;
  const kept = new Set(read.flatMap((one, at) => (isWanted(one) ? [at] : [])));
  return all.filter((_, at) => kept.has(at));
}
