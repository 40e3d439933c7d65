import { Option } from "commander";
import type { StateAnswer } from "../client/state.ts";
import { readState } from "../client/state.ts";
import type { Register } from "./register.ts";
import type { ClusterOptions } from "./options.ts";
import { appOf, requestSet, withCluster } from "./options.ts";
import type { JobChoice } from "./render-demand.ts";
import { JOB_ORDERS, renderJobs } from "./render-demand.ts";
import type { NodeChoice } from "./render-nodes.ts";
import { NODE_ORDERS, renderNodes } from "./render-nodes.ts";
import { tell, UNREADABLE } from "./tell.ts";

/** Commands that list many items, filtered and sorted. */
export function registerListCommands({ program, terminal, run }: Register): void {
  const list = (options: ClusterOptions, render: (state: StateAnswer) => string) =>
    run(async () =>
      tell(terminal, await appOf(options).wholeState(options.cluster), options.json === true, (body) => {
        const state = readState(body);
        return { text: state === undefined ? UNREADABLE : render(state) };
      }),
    );

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
      list(options, (state) => renderNodes(state, options, terminal.columns)),
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
      list(options, (state) => renderJobs(state, options, terminal.columns)),
    );
}
