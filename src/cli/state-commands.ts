import { Option } from "commander";
import type { Answer } from "../client/index.ts";
import type { StateAnswer } from "../client/state.ts";
import { readClusters, readState } from "../client/state.ts";
import type { Register } from "./register.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { ApiOptions, ClusterOptions } from "./options.ts";
import { appOf, readPositive, requestSet, withAnyCluster, withCluster } from "./options.ts";
import { renderBuckets, renderLimits } from "./render-buckets.ts";
import { renderRequestSet, renderSets } from "./render-demand.ts";
import { renderClusters, renderStatus } from "./render-status.ts";
import type { Telling } from "./tell.ts";
import { tell, UNREADABLE } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import { watch } from "./watch.ts";
import { wrapped } from "./wrapped.ts";
import type { Seconds } from "../domain/units.ts";

/** Commands that show what the app knows. */
export function registerStateCommands({ program, terminal, run }: Register): void {
  const show = (options: ApiOptions, answer: Promise<Answer>, telling: Telling) =>
    run(async () => tell(terminal, await answer, options.json === true, telling));

  withAnyCluster(program.command("status"))
    .description("health, demand, plan and nodes in short")
    .addHelpText(
      "after",
      wrapped(
        "Health, demand, plan and nodes of a cluster in short, with what is missing and why; without --cluster, the health of all. Ends with 1 if a cluster is unhealthy; a warning alone leaves it 0.",
      ),
    )
    .addOption(
      new Option("--watch [seconds]", "refresh after each interval, until Ctrl-C")
        .argParser(readPositive)
        .preset(String(WATCH_SECONDS)),
    )
    .action((options: StatusOptions) => run(() => showStatus(terminal, options)));

  const views: readonly (readonly [name: string, summary: string, render: (state: StateAnswer) => string])[] =
    [
      ["buckets", "where nodes can be created, how many more, and what limits that", renderBuckets],
      ["limits", "every limit and quota, and what is left of it", renderLimits],
    ];
  for (const [name, summary, render] of views) {
    withCluster(program.command(name).description(summary)).action((options: ClusterOptions) =>
      show(options, appOf(options).wholeState(options.cluster), telling(render)),
    );
  }

  withCluster(program.command("demand"))
    .description("the request sets, and what became of their targets")
    .addHelpText(
      "after",
      wrapped(
        "Shows the request sets, and what became of their targets; with --request-set, all of one set.",
      ),
    )
    .addOption(requestSet())
    .action((options: ClusterOptions & { readonly requestSet?: string }) => {
      const api = appOf(options);
      return options.requestSet === undefined
        ? show(options, api.wholeState(options.cluster), telling(renderSets))
        : show(options, api.wholeRequestSet(options.cluster, options.requestSet), (body) => ({
            text: renderRequestSet(body),
          }));
    });
}

type StatusOptions = ApiOptions & { readonly cluster?: string; readonly watch?: number };

const WATCH_SECONDS: Seconds = 5;

function showStatus(terminal: Terminal, options: StatusOptions): Promise<ExitCode> {
  const { cluster, watch: seconds } = options;
  const api = appOf(options);
  const once = async (to: Terminal) => {
    const answer: Answer = await (cluster === undefined ? api.clusters() : api.state(cluster));
    const code = tell(to, answer, options.json === true, cluster === undefined ? tellClusters : tellStatus);
    return { code, refused: answer.kind === "refused" && answer.status < 500 && answer.status !== 429 };
  };
  if (seconds !== undefined) return watch(terminal, seconds, once);
  return once(terminal).then(({ code }) => code);
}

function telling(render: (state: StateAnswer) => string): Telling {
  return (body) => {
    const state = readState(body);
    return { text: state === undefined ? UNREADABLE : render(state) };
  };
}

const tellStatus: Telling = (body) => {
  const state = readState(body);
  if (state === undefined) return { text: UNREADABLE };
  return { text: renderStatus(state), code: state.health.ok === false ? EXIT.no : EXIT.done };
};

const tellClusters: Telling = (body) => {
  const answer = readClusters(body);
  if (answer === undefined) return { text: UNREADABLE };
  const bad = answer.clusters.some(({ health }) => health.ok === false);
  return { text: renderClusters(answer), code: bad ? EXIT.no : EXIT.done };
};
