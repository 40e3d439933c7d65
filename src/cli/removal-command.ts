import type { NodeAnswer, StateAnswer } from "../client/readers.ts";
import { readClusters, readState } from "../client/readers.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { ApiOptions, Register } from "./options.ts";
import { appOf, withApi, wrapped } from "./options.ts";
import { isNotOurs, isStaying, stayingText } from "./staying.ts";
import { renderTable } from "./table.ts";
import { jsonText, tell, UNREADABLE } from "./tell.ts";
import type { Terminal } from "./terminal.ts";

/** Lists the nodes and the demand that would be left if the app were removed. */
export function registerRemoval({ program, terminal, run }: Register): void {
  withApi(program.command("removal"))
    .description("check whether the app can be removed: exits with 1 while nodes or demand are left")
    .addHelpText(
      "after",
      wrapped(
        "Lists for each cluster the nodes that the app would stop one day, and the demand that would be lost. Changes nothing. Exits with 1 while there are any, because without the app these nodes are not stopped. Nodes of other tools do not count: the app never stops them.",
      ),
    )
    .action((options: ApiOptions) => run(() => judgeRemoval(terminal, options)));
}

interface Left {
  readonly cluster: string;
  /** Nodes of ours that are not at rest. */
  readonly nodes: number;
  /** Those of them that do not go by themselves. */
  readonly staying: readonly NodeAnswer[];
  /** Nodes of other tools that are not at rest. The app never stops them. */
  readonly otherNodes: number;
  /** Nodes that were requested and are not shown yet. */
  readonly coming: number;
  readonly liveSets: number;
}

async function judgeRemoval(terminal: Terminal, options: ApiOptions): Promise<ExitCode> {
  const api = appOf(options);
  const listed = await api.clusters();
  const clusters = listed.kind === "answered" ? readClusters(listed.body) : undefined;
  if (clusters === undefined) return tell(terminal, listed, false, () => ({ text: UNREADABLE }));
  const found: Left[] = [];
  for (const { cluster } of clusters.clusters) {
    if (cluster === undefined) continue;
    const answer = await api.wholeState(cluster);
    const state = answer.kind === "answered" ? readState(answer.body) : undefined;
    // If one cluster cannot be read, its remaining nodes are unknown.
    if (state === undefined) {
      terminal.complain(`${cluster}: unknown what would be left`);
      const code = tell(terminal, answer, false, () => ({ text: UNREADABLE }));
      return code === EXIT.done ? EXIT.no : code;
    }
    found.push(leftOf(cluster, state));
  }
  const left = found.filter(({ nodes, coming, liveSets }) => nodes + coming + liveSets > 0);
  const isFree = left.length === 0;
  terminal.say(
    options.json === true ? jsonText({ free: isFree, clusters: found.map(asData) }) : render(left),
  );
  return isFree ? EXIT.done : EXIT.no;
}

/** Nodes that are off or deallocated cost no machine time, and only the app starts them. */
const AT_REST: ReadonlySet<string> = new Set(["off", "deallocated"]);

function leftOf(cluster: string, { nodes, inFlight, demand }: StateAnswer): Left {
  const running = nodes.list.filter(({ phase = "unknown" }) => !AT_REST.has(phase));
  const others = running.filter(isNotOurs);
  return {
    cluster,
    nodes: running.length - others.length,
    staying: running.filter(isStaying),
    otherNodes: others.length,
    coming: sum(inFlight.map(({ stillToShow = 0 }) => stillToShow)),
    liveSets: demand.filter(({ state }) => state === "live").length,
  };
}

const asData = ({ staying, ...left }: Left): object => ({ ...left, staying: staying.length });

function render(left: readonly Left[]): string {
  if (left.length === 0) return "nothing is left: no cluster has nodes of ours or demand";
  return [
    renderTable<Left>(
      [
        ["CLUSTER", ({ cluster }) => cluster],
        ["NODES", ({ nodes }) => nodes],
        ["COMING", ({ coming }) => coming],
        ["REQUEST SETS", ({ liveSets }) => liveSets],
      ],
      left,
      "",
    ),
    "",
    "Not yet: without the app these nodes are not stopped. End the demand, and wait until no node is left.",
    ...left.flatMap(({ cluster, staying }) =>
      staying.length === 0 ? [] : [`${cluster}: waiting does not end all: ${stayingText(staying)}`],
    ),
  ].join("\n");
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
