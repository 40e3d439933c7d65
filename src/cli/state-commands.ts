import { InvalidArgumentError, Option } from "commander";
import type { Answer } from "../client/index.ts";
import type { StateAnswer } from "../client/readers.ts";
import { withoutSlashesAtEnd } from "../client/call.ts";
import { readClusters, readState } from "../client/readers.ts";
import type { Register, ApiOptions, ClusterOptions } from "./options.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import {
  appOf,
  cluster,
  readPositive,
  requestSet,
  url,
  withAnyCluster,
  withCluster,
  wrapped,
} from "./options.ts";
import {
  BUCKET_COLUMNS,
  renderBuckets,
  renderLimits,
  renderClusters,
  renderStatus,
} from "./render-status.ts";
import { renderRequestSet, renderSets } from "./render-demand.ts";
import type { Telling } from "./tell.ts";
import { tell, UNREADABLE } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import type { Seconds } from "../domain/units.ts";

/** Commands that show the state of clusters. */
export function registerStateCommands(register: Register): void {
  registerStatus(register);
  registerBuckets(register);
  registerView(register, "limits", "list every limit and quota, and what is left of it", renderLimits);
  registerDemand(register);
  registerPage(register);
}

function registerPage({ program, terminal, run }: Register): void {
  program
    .command("page")
    .description("print the address of the page for people")
    .option("--open", "open it in the browser, too")
    .addHelpText("after", wrapped("The page asks for a reader's key. Its address never has one."))
    .addOption(url().makeOptionMandatory())
    .addOption(cluster())
    .action(({ url: base, cluster: name, open }: PageOptions) =>
      run(async () => {
        const place = name === undefined ? "" : `#/${encodeURIComponent(name)}/now`;
        const address = `${withoutSlashesAtEnd(base)}/api/page${place}`;
        terminal.say(address);
        if (open === undefined) return EXIT.done;
        return terminal.open(address).then(
          () => EXIT.done,
          (error: unknown) => {
            terminal.complain(error instanceof Error ? error.message : String(error));
            return EXIT.no;
          },
        );
      }),
    );
}

interface PageOptions {
  readonly url: string;
  readonly cluster?: string;
  readonly open?: true;
}

function registerStatus({ program, terminal, run }: Register): void {
  withAnyCluster(program.command("status"))
    .description("show health, demand, plan and nodes in short")
    .addHelpText(
      "after",
      wrapped(
        "Shows health, demand, plan and nodes of a cluster in short, with what is missing and why. Without --cluster, it shows the health of all clusters. Exits with 1 if a cluster is unhealthy, and with 3 if it is new and was not observed yet. A warning does not change the exit code.",
      ),
    )
    .addOption(
      new Option("--watch [seconds]", "refresh after each interval, until Ctrl-C")
        .argParser(readPositive)
        .preset(String(WATCH_SECONDS)),
    )
    .action((options: StatusOptions) => run(() => showStatus(terminal, options)));
}

type BucketOptions = ClusterOptions & { readonly constraint?: object; readonly columns?: readonly string[] };

function registerBuckets({ program, terminal, run }: Register): void {
  withCluster(program.command("buckets"))
    .description("show where nodes can be created, how many, and which limits apply")
    .addOption(
      new Option(
        "--constraint <json>",
        "only buckets whose new nodes meet the constraints of a job, such as '{\"ngpus\": 1}'",
      ).argParser(readConstraint),
    )
    .addOption(
      new Option("-o, --columns <names>", `only these columns, in this order: ${BUCKET_COLUMNS.join(",")}`)
        .argParser(readColumns)
        .conflicts("json"),
    )
    .action((options: BucketOptions) =>
      run(async () => {
        const answer = await appOf(options).wholeState(options.cluster, options.constraint);
        return tell(
          terminal,
          answer,
          options.json === true,
          telling((state) =>
            renderBuckets(state, options.columns, { isFiltered: options.constraint !== undefined }),
          ),
        );
      }),
    );
}

/** The app's own reader reports what is wrong with it. */
function readConstraint(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new InvalidArgumentError('Expected an object or a list of objects as JSON, such as {"ncpus": 4}.');
}

function readColumns(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim().toLowerCase());
  if (names.every((name) => BUCKET_COLUMNS.includes(name))) return names;
  throw new InvalidArgumentError(`Expected some of ${BUCKET_COLUMNS.join(",")}.`);
}

/** A command that shows one part of a cluster's state. */
function registerView(
  { program, terminal, run }: Register,
  name: string,
  summary: string,
  render: (state: StateAnswer) => string,
): void {
  withCluster(program.command(name).description(summary)).action((options: ClusterOptions) =>
    run(async () => {
      const answer = await appOf(options).wholeState(options.cluster);
      return tell(terminal, answer, options.json === true, telling(render));
    }),
  );
}

function registerDemand({ program, terminal, run }: Register): void {
  withCluster(program.command("demand"))
    .description("list the request sets, and how much of their targets is placed")
    .addHelpText(
      "after",
      wrapped(
        "Lists the request sets, and how much of their targets is placed. With --request-set, it shows all demands of one set.",
      ),
    )
    .addOption(requestSet())
    .action((options: DemandOptions) => run(() => showDemand(terminal, options)));
}

type DemandOptions = ClusterOptions & { readonly requestSet?: string };

async function showDemand(terminal: Terminal, options: DemandOptions): Promise<ExitCode> {
  const api = appOf(options);
  const json = options.json === true;
  if (options.requestSet === undefined)
    return tell(terminal, await api.wholeState(options.cluster), json, telling(renderSets));
  const answer = await api.wholeRequestSet(options.cluster, options.requestSet);
  return tell(terminal, answer, json, (body) => ({ text: renderRequestSet(body) }));
}

type StatusOptions = ApiOptions & { readonly cluster?: string; readonly watch?: number };

const WATCH_SECONDS: Seconds = 5;

function showStatus(terminal: Terminal, options: StatusOptions): Promise<ExitCode> {
  const { cluster, watch: seconds } = options;
  const api = appOf(options);
  const once = async (to: Terminal) => {
    const answer: Answer = await (cluster === undefined ? api.clusters() : api.state(cluster));
    const code = tell(to, answer, options.json === true, cluster === undefined ? tellClusters : tellStatus);
    return { code, refused: isFinal(answer) };
  };
  if (seconds !== undefined) return watch(terminal, seconds, once);
  return once(terminal).then(({ code }) => code);
}

/** Whether the app would refuse it again. */
export const isFinal = (answer: Answer): boolean =>
  answer.kind === "refused" && answer.status < 500 && answer.status !== 429;

function telling(render: (state: StateAnswer) => string): Telling {
  return (body) => {
    const state = readState(body);
    return { text: state === undefined ? UNREADABLE : render(state) };
  };
}

const tellStatus: Telling = (body) => {
  const state = readState(body);
  if (state === undefined) return { text: UNREADABLE };
  return { text: renderStatus(state), code: codeOf([state.health]) };
};

const tellClusters: Telling = (body) => {
  const answer = readClusters(body);
  if (answer === undefined) return { text: UNREADABLE };
  return { text: renderClusters(answer), code: codeOf(answer.clusters.map(({ health }) => health)) };
};

interface HealthSaid {
  readonly ok?: boolean | undefined;
  readonly starting?: boolean | undefined;
}

/** Whether a cluster that is starting is healthy cannot be told yet. */
export function codeOf(all: readonly HealthSaid[]): ExitCode {
  const ill = all.filter(({ ok }) => ok === false);
  if (ill.length === 0) return EXIT.done;
  return ill.every(({ starting }) => starting === true) ? EXIT.unreachable : EXIT.no;
}

/** What was shown ends with this code; `refused`: asking again is of no use. */
export interface Shot {
  readonly code: ExitCode;
  readonly refused: boolean;
}

/**
 * Shows something repeatedly until the user stops it, by Ctrl-C or by `endKey`, which counts as success. A refusal of the app ends it at once. A temporary failure,
 * such as an app that does not answer, does not. On a terminal each output replaces the previous one. Elsewhere an empty line separates
 * them.
 */
export async function watch(
  terminal: Terminal,
  seconds: Seconds,
  show: (terminal: Terminal) => Promise<Shot>,
  endKey?: string,
): Promise<ExitCode> {
  let first = true;
  const painted: Terminal = {
    ...terminal,
    say: (text) => {
      if (terminal.columns !== undefined) terminal.clear();
      terminal.say(first || terminal.columns !== undefined ? text : `\n${text}`);
      first = false;
    },
  };
  for (;;) {
    const { code, refused } = await show(painted);
    if (refused) return code;
    if (!(await terminal.sleep(seconds * 1000, endKey))) return EXIT.done;
  }
}
