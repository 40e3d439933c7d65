import { readEndDown, readRestored, readTick } from "../client/readers.ts";
import type { Register, ClusterOptions } from "./options.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { appOf, readName, withCluster, wrapped } from "./options.ts";
import type { Telling } from "./tell.ts";
import { tell } from "./tell.ts";

/** Commands that trigger something now: an observation by hand, a restore, and the end of nodes that are down. */
export function registerTick({ program, terminal, run }: Register): void {
  withCluster(program.command("tick"))
    .description("observe and plan now, as the timer does")
    .addHelpText(
      "after",
      wrapped("Does at once what the timer does every minute: observes the cluster, plans, and acts."),
    )
    .action((options: ClusterOptions) =>
      run(async () =>
        tell(terminal, await appOf(options).tick(options.cluster), options.json === true, tellTick),
      ),
    );

  withCluster(program.command("restored"))
    .description("report that storage was restored from a backup")
    .addHelpText(
      "after",
      wrapped(
        "Reports that the autoscaler's table was restored from a backup. The record may then be old, so a new epoch begins: nothing is stopped for five minutes and, if the cluster has nodes, nothing is created for one minute. Demand stays as in the backup until it is sent again.",
      ),
    )
    .action((options: ClusterOptions) =>
      run(async () =>
        tell(terminal, await appOf(options).restored(options.cluster), options.json === true, tellRestored),
      ),
    );
}

/** An operator's order to end the nodes of an array that are down. */
export function registerEndDown({ program, terminal, run }: Register): void {
  withCluster(program.command("end-down"))
    .description("terminate the nodes of a node array that are shut down now")
    .addHelpText(
      "after",
      wrapped(
        "Ends the nodes of a node array that the last observation shows as Off or Terminated, also where downTimeout is never or many are down at once: at most 10 % of the array in ten minutes. The order holds for an hour. A node that is busy, that asks, or that KeepAlive keeps, is not ended. The disk of a stopped VM goes with it.",
      ),
    )
    .argument("<nodearray>", "the node array", readName)
    .action((nodearray: string, options: ClusterOptions) =>
      run(async () =>
        tell(
          terminal,
          await appOf(options).endDown(options.cluster, nodearray),
          options.json === true,
          tellEndDown,
        ),
      ),
    );
}

const tellEndDown: Telling = (body) => {
  const { nodearray, count = 0, nodes = [], until } = readEndDown(body) ?? {};
  if (count === 0) return { text: `no node of ${nodearray ?? "the node array"} is shut down` };
  const more = count > NAMED ? ` and ${count - NAMED} more` : "";
  const named = `${nodes.slice(0, NAMED).join(", ")}${more}`;
  return {
    text: `${count === 1 ? "this node ends" : `these ${count} nodes end`}, at most 10 % of the node array in ten minutes, until ${until ?? "?"}: ${named}`,
  };
};

/** Maximum number of names in the text. */
const NAMED = 20;

const tellRestored: Telling = (body) => {
  const { cluster, restingUntil, createsFrom } = readRestored(body) ?? {};
  const lines = [
    `${cluster ?? "the cluster"} begins a new epoch`,
    `scale-down rests until ${restingUntil ?? "?"}`,
    `if the cluster has nodes, nothing is created before ${createsFrom ?? "?"}`,
  ];
  return { text: lines.join("\n") };
};

/** A tick that could not observe, or that other instances overtook, should be tried again. */
const tellTick: Telling = (body) => {
  const { outcome, plan, until, message, trouble } = readTick(body) ?? {};
  const detail = trouble?.message ?? message;
  switch (outcome) {
    case "planned":
      return { text: `planned: plan ${plan ?? "?"}` };
    case "covered":
      return { text: "nothing to do: the last plan covers all demand" };
    case "waiting":
      return again(`not yet: the next observation is possible from ${until ?? "?"} on`);
    case "overtaken":
      return again("another instance planned at the same time");
    default:
      return again(`${outcome ?? "no outcome"}${detail === undefined ? "" : `: ${detail}`}`);
  }
};

function again(text: string): { readonly text: string; readonly code: ExitCode } {
  return { text, code: EXIT.unreachable };
}
