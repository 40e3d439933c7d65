import { readRestored, readTick } from "../client/receipts.ts";
import type { Register } from "./register.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { ClusterOptions } from "./options.ts";
import { appOf, withCluster } from "./options.ts";
import type { Telling } from "./tell.ts";
import { tell } from "./tell.ts";
import { wrapped } from "./wrapped.ts";

/** Commands that trigger something now: an observation by hand, and a restore. */
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
    .description("storage was restored from a backup")
    .addHelpText(
      "after",
      wrapped(
        "Says that the autoscaler's table was restored from a backup. What the record says may be old then, so a new epoch begins: scale-down rests for five minutes, and creates wait for one, if the cluster has nodes. Demand stays as it was at the backup until it is pushed again.",
      ),
    )
    .action((options: ClusterOptions) =>
      run(async () =>
        tell(terminal, await appOf(options).restored(options.cluster), options.json === true, tellRestored),
      ),
    );
}

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
