import { Option } from "commander";
import { readComparison } from "../client/comparison.ts";
import type { Register } from "./register.ts";
import type { ClusterOptions } from "./options.ts";
import { appOf, readTime, withCluster } from "./options.ts";
import { csvOfComparison, renderComparison } from "./render-comparison.ts";
import type { Telling } from "./tell.ts";
import { tell, UNREADABLE } from "./tell.ts";
import { wrapped } from "./wrapped.ts";

type CompareOptions = ClusterOptions & {
  readonly since?: string;
  readonly until?: string;
  readonly csv?: true;
};

/** Registers `compare`: the nodes of observed arrays beside those that the autoscaler would have had. */
export function registerCompareCommand({ program, terminal, run }: Register): void {
  withCluster(program.command("compare"))
    .description("in observe mode: compare the real nodes with those that the autoscaler would have run")
    .addHelpText(
      "after",
      wrapped(
        "Shows, for each day and node array in mode observe, nodes, node-hours, idle node-hours, boots and cost of the real nodes and of those that the autoscaler would have run, how long jobs waited, and the largest differences with their reasons. Days are in UTC and kept for 90 days.",
      ),
    )
    .addOption(new Option("--since <day>", "the first day, as 2026-01-31").argParser(readTime))
    .addOption(new Option("--until <day>", "the last day").argParser(readTime))
    .addOption(new Option("--csv", "as CSV, without the reasons").conflicts("json"))
    .action((options: CompareOptions) =>
      run(async () => {
        const { since, until } = options;
        const query = {
          ...(since === undefined ? {} : { since }),
          ...(until === undefined ? {} : { until }),
        };
        const answer = await appOf(options).comparison(options.cluster, query);
        return tell(terminal, answer, options.json === true, options.csv === true ? tellCsv : tellComparison);
      }),
    );
}

const tellComparison: Telling = (body) => {
  const answer = readComparison(body);
  return { text: answer === undefined ? UNREADABLE : renderComparison(answer) };
};

const tellCsv: Telling = (body) => {
  const answer = readComparison(body);
  return { text: answer === undefined ? UNREADABLE : csvOfComparison(answer) };
};
