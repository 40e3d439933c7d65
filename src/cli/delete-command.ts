import { readAccepted } from "../client/receipts.ts";
import type { Register } from "./register.ts";
import type { ExitCode } from "./exit-code.ts";
import type { ClusterOptions } from "./options.ts";
import { appOf, readName, withCluster } from "./options.ts";
import { tell } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import { wrapped } from "./wrapped.ts";

/** Ends the demand of a request set. */
export function registerDelete({ program, terminal, run }: Register): void {
  withCluster(program.command("delete"))
    .description("empty a request set: it asks for nothing any more")
    .addHelpText(
      "after",
      wrapped(
        "Empties a request set at once, where it would else expire. Its nodes stay until they are idle. A sender that pushes the set again fills it again.",
      ),
    )
    .argument("<set>", "the request set", readName)
    .action((set: string, options: ClusterOptions) => run(() => deleteSet(terminal, set, options)));
}

async function deleteSet(terminal: Terminal, set: string, options: ClusterOptions): Promise<ExitCode> {
  const api = appOf(options);
  // An unknown name is a mistake, and emptying an unknown set would create it.
  const held = await api.requestSet(options.cluster, set);
  if (held.kind !== "answered") return tell(terminal, held, options.json === true, () => ({ text: "" }));
  const answer = await api.emptyRequestSet(options.cluster, set);
  return tell(terminal, answer, options.json === true, (body) => ({
    text:
      readAccepted(body)?.changed === false
        ? `request set ${set} asked for nothing already`
        : `request set ${set} asks for nothing any more; its nodes stay until they are idle`,
  }));
}
