import type { AnsweringApi } from "../client/index.ts";
import { readAccepted } from "../client/receipts.ts";
import type { NodeAnswer } from "../client/state.ts";
import { readState } from "../client/state.ts";
import type { Register } from "./register.ts";
import type { ExitCode } from "./exit-code.ts";
import type { ClusterOptions } from "./options.ts";
import { appOf, readName, withCluster } from "./options.ts";
import { isStaying, stayingText } from "./staying.ts";
import { tell } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import { wrapped } from "./wrapped.ts";

/** Ends the demand of a request set. */
export function registerDelete({ program, terminal, run }: Register): void {
  withCluster(program.command("delete"))
    .description("empty a request set, so that it asks for nothing")
    .addHelpText(
      "after",
      wrapped(
        "Empties a request set at once; otherwise it would expire. Its nodes stay until they are idle: by a report of a scheduler or by their own callback (autostop). Nodes of which neither has come yet are named. The next message of a sender fills the set again.",
      ),
    )
    .argument("<set>", "the request set", readName)
    .action((set: string, options: ClusterOptions) => run(() => deleteSet(terminal, set, options)));
}

async function deleteSet(terminal: Terminal, set: string, options: ClusterOptions): Promise<ExitCode> {
  const api = appOf(options);
  // Emptying an unknown set would create it. An unknown name is a mistake.
  const held = await api.requestSet(options.cluster, set);
  if (held.kind !== "answered") return tell(terminal, held, options.json === true, () => ({ text: "" }));
  // Read before, because the next plan forgets whose nodes they were.
  const staying = options.json === true ? [] : await stayingOf(api, options.cluster, set);
  const answer = await api.emptyRequestSet(options.cluster, set);
  return tell(terminal, answer, options.json === true, (body) => ({
    text:
      readAccepted(body)?.changed === false
        ? `request set ${set} asked for nothing already`
        : [
            `request set ${set} asks for nothing any more; its nodes stay until they are idle`,
            ...(staying.length === 0 ? [] : [stayingText(staying)]),
          ].join("\n"),
  }));
}

/** The nodes that the set needs and that do not go by themselves. None if the state cannot be read: what the command is for does not depend on it. */
async function stayingOf(api: AnsweringApi, cluster: string, set: string): Promise<readonly NodeAnswer[]> {
  const answer = await api.wholeState(cluster);
  const state = answer.kind === "answered" ? readState(answer.body) : undefined;
  return (state?.nodes.list ?? []).filter(
    (node) => isStaying(node) && node.verdict === "needed" && node.why?.includes(` ${set}/`) === true,
  );
}
