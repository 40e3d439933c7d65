import type { StopSeries } from "../../src/client/stop-series.ts";
import { isOver, mayBegin, withAnswer, withQuestion, wordOf } from "../../src/client/stop-series.ts";
import type { HostsStage, Told } from "./hosts-stage.ts";
import type { ReadyNode } from "./ready-nodes.ts";

/** A node asks again after this time, as its script does. */
const ASK_AGAIN_SECONDS = 30;
/** After this time the node's call gives up. */
const ANSWER_SECONDS = 20;

/** What nodes do, and what is done to them. */
export class AskingNodes {
  /** Nodes that have taken work again. */
  readonly open = new Set<string>();
  /** Nodes that are closed and ask. */
  readonly closed = new Set<string>();
  /** Nodes that were stopped while they were open. */
  readonly stoppedOpen = new Set<string>();

  constructor({ simulator }: HostsStage) {
    simulator.onEvent((event) => {
      if (event.kind === "terminate-accepted" && this.open.has(event.nodeId))
        this.stoppedOpen.add(event.nodeId);
    });
  }
}

/** The nth question of a series, from 0. */
export interface Asked {
  readonly nth: number;
  readonly begins: boolean;
  readonly query: Readonly<Record<string, string>>;
}

export interface Asking {
  readonly nodes: AskingNodes;
  /** How a question reaches a host, and its answer the node. */
  readonly reach: (asked: Asked) => Promise<Told>;
  /** The node's clock, ms since 1970. */
  readonly clock?: () => number;
}

/** Asks as the node's script does, until the node is told that it is stopped, or takes work again. */
export async function askUntilOver(
  stage: HostsStage,
  node: ReadyNode,
  asking: Asking,
): Promise<"stop" | "open"> {
  const { clock } = stage;
  const { nodes, reach } = asking;
  const now = asking.clock ?? (() => clock.now());
  const end = (word: "stop" | "open"): typeof word => {
    if (word === "open") nodes.open.add(node.nodeId);
    nodes.closed.delete(node.nodeId);
    return word;
  };
  nodes.closed.add(node.nodeId);
  nodes.open.delete(node.nodeId);
  let series: StopSeries | undefined;
  for (let nth = 0; ; nth += 1) {
    const begun = clock.now();
    const asked = now();
    if (series !== undefined && isOver(series, asked)) return end("open");
    const begins = mayBegin(series, asked);
    const isFirst = series === undefined;
    series = withQuestion(series, { begins, now: asked });
    const query = { asked: String(asked), ...(begins ? {} : { begin: "no" }) };
    const late: Promise<Told> = clock.sleep(1000 * ANSWER_SECONDS).then(() => ({ status: 0 }));
    const { status, undrain, stopUnderWay } = await Promise.race([reach({ nth, begins, query }), late]);
    const word = wordOf({ status, undrain, isFirst });
    if (word !== "closed") return end(word);
    series = withAnswer(series, { stopUnderWay });
    await clock.sleep(Math.max(1000, begun + 1000 * ASK_AGAIN_SECONDS - clock.now()));
  }
}

/** Asks, and a minute after it has taken work again once more, until it is stopped. */
export async function askAgainAndAgain(stage: HostsStage, node: ReadyNode, asking: Asking): Promise<void> {
  while ((await askUntilOver(stage, node, asking)) === "open") await stage.clock.sleep(60_000);
}
