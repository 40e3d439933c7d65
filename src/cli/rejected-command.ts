import type { AnsweringApi, Answer } from "../client/index.ts";
import type { ClustersAnswer, StateAnswer } from "../client/readers.ts";
import { readClusters, readState } from "../client/readers.ts";
import type { Register, ApiOptions } from "./options.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { withMember } from "./choose.ts";
import { appOf, withAnyCluster, wrapped } from "./options.ts";
import { renderTable } from "./table.ts";
import { jsonText, tell, UNREADABLE } from "./tell.ts";
import type { Terminal } from "./terminal.ts";

type RejectedOptions = ApiOptions & { readonly cluster?: string; readonly text?: true };

/** Shows what was not accepted, for people who did not see the answer to its sender. */
export function registerRejected({ program, terminal, run }: Register): void {
  withAnyCluster(program.command("rejected"))
    .description("list messages and jobs that could not be read, and why")
    .addHelpText(
      "after",
      wrapped(
        "Lists the messages in the queue demand-rejected, and jobs of request sets that were left out: where the problem is in the input, what was found and what was expected there. Texts that may be secrets are shown only with --text, by their length otherwise. Without --cluster, it covers all clusters.",
      ),
    )
    .option("--text", "instead: print the oldest messages as JSON with their texts; needs an operator's key")
    .action((options: RejectedOptions) =>
      run(() => (options.text === true ? showTexts : listRejected)(terminal, options)),
    );
}

async function listRejected(terminal: Terminal, options: RejectedOptions): Promise<ExitCode> {
  const api = appOf(options);
  const listed = await api.clusters();
  const clusters = listed.kind === "answered" ? readClusters(listed.body) : undefined;
  if (clusters === undefined) return tell(terminal, listed, false, () => ({ text: UNREADABLE }));
  const names =
    options.cluster === undefined
      ? clusters.clusters.map(({ cluster }) => cluster).filter((name) => name !== undefined)
      : [options.cluster];
  const jobs: RejectedJobRow[] = [];
  let code: ExitCode = EXIT.done;
  for (const name of names) {
    const state = await stateOf(api, name);
    if ("answer" in state) code = tell(terminal, state.answer, false, () => ({ text: UNREADABLE }));
    else jobs.push(...rejectedJobs(name, state));
  }
  const messages = rejectedMessages(clusters, options.cluster);
  if (options.json === true) {
    terminal.say(jsonText({ rejectedMessages: messages, rejectedJobs: jobs }));
    return code;
  }
  // A cluster that could not be read is left out.
  if (code === EXIT.done || jobs.length + messages.length > 0)
    terminal.say(render(messages, jobs, clusters.rejectedMessages.count ?? 0));
  return code;
}

/** Shows the texts of senders, for the person who corrects them. They may hold the senders' secrets. */
async function showTexts(terminal: Terminal, options: RejectedOptions): Promise<ExitCode> {
  const answer = await appOf(options).rejectedMessages();
  const chosen =
    answer.kind === "answered" ? { ...answer, body: ofCluster(answer.body, options.cluster) } : answer;
  return tell(terminal, chosen, options.json === true, (body) => ({ text: jsonText(body) }));
}

/** The answer with the messages of this cluster alone. A message whose cluster could not be read may belong to any cluster. */
function ofCluster(body: unknown, only: string | undefined): unknown {
  const isOther = (one: unknown): boolean =>
    typeof one === "object" && one !== null && "cluster" in one && one.cluster !== only;
  return only === undefined
    ? body
    : withMember(body, "oldest", (all) => (Array.isArray(all) ? all.filter((one) => !isOther(one)) : all));
}

async function stateOf(
  api: AnsweringApi,
  cluster: string,
): Promise<StateAnswer | { readonly answer: Answer }> {
  const answer = await api.wholeState(cluster);
  const state = answer.kind === "answered" ? readState(answer.body) : undefined;
  return state ?? { answer };
}

interface Place {
  readonly path: string | undefined;
  readonly found: string | undefined;
  readonly didYouMean: string | undefined;
  readonly expected: string | undefined;
}

interface RejectedMessageRow extends Place {
  readonly at: string | undefined;
  readonly cluster: string | undefined;
  readonly requestSet: string | undefined;
  readonly messageId: string | undefined;
}

interface RejectedJobRow extends Place {
  readonly cluster: string;
  readonly requestSet: string | undefined;
  readonly job: string | undefined;
}

/** A row for each problem. A message whose cluster could not be read may belong to any cluster, so it is always shown. */
function rejectedMessages(
  { rejectedMessages }: ClustersAnswer,
  only: string | undefined,
): readonly RejectedMessageRow[] {
  const oldest = rejectedMessages.oldest;
  return oldest
    .filter(({ cluster }) => only === undefined || cluster === undefined || cluster === only)
    .flatMap(({ rejectedAt: at, cluster, set: requestSet, messageId, problems }) =>
      problems.map((problem) => ({ at, cluster, requestSet, messageId, ...placeOf(problem) })),
    );
}

function rejectedJobs(cluster: string, { demand }: StateAnswer): readonly RejectedJobRow[] {
  return demand.flatMap(({ requestSet, rejectedJobs }) =>
    rejectedJobs.flatMap(({ name: job, problems }) =>
      problems.map((problem) => ({ cluster, requestSet, job, ...placeOf(problem) })),
    ),
  );
}

const placeOf = ({ path, found, didYouMean, expected }: Place): Place => ({
  path,
  found,
  didYouMean,
  expected,
});

function render(
  messages: readonly RejectedMessageRow[],
  jobs: readonly RejectedJobRow[],
  count: number,
): string {
  const ofMessages = renderTable(
    [
      ["REJECTED AT", ({ at }) => at],
      ["CLUSTER", ({ cluster }) => cluster],
      ["SET", ({ requestSet }) => requestSet],
      ["WHERE", ({ path }) => (path === "" ? "(all of it)" : path)],
      ["FOUND", ({ found }) => found],
      ["DID YOU MEAN", ({ didYouMean }) => didYouMean],
      ["EXPECTED", ({ expected }) => expected],
    ],
    messages,
    "no messages were rejected",
  );
  const shown = new Set(messages.map(({ messageId }) => messageId)).size;
  const more = count > shown ? [`of ${count} messages in demand-rejected`] : [];
  const ofJobs = renderTable(
    [
      ["CLUSTER", ({ cluster }) => cluster],
      ["SET", ({ requestSet }) => requestSet],
      ["JOB", ({ job }) => job],
      ["WHERE", ({ path }) => path],
      ["FOUND", ({ found }) => found],
      ["DID YOU MEAN", ({ didYouMean }) => didYouMean],
      ["EXPECTED", ({ expected }) => expected],
    ],
    jobs,
    "no jobs were left out",
  );
  return [ofMessages, ...more, "", ofJobs].join("\n");
}
