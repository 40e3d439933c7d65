import type { BookedNode } from "./node-book.ts";

/** The answer to nodes that call themselves unhealthy. `either`: the model does not know how many the app has counted. */
export type Word = "stop" | "stay" | "either";

interface Asked {
  readonly array: string;
  readonly at: number;
  /** The answer was "stop", so the app has counted it. Otherwise the app may have counted it. */
  readonly went: boolean;
}

const HOUR_MS = 3_600_000;
/** The app counts the stops of five minutes as if all had come with the last. */
const SLOT_MS = 300_000;
const FEWEST = 3;

/** The last answer to a node, and since when it has called itself unhealthy without a break. */
interface Heard {
  readonly at: number;
  /** The app may have saved it this much earlier (docs/protocol.md: it saves the "stay" of a node once in four minutes). */
  readonly writtenFrom: number;
  /** Undefined if it does not call itself unhealthy. */
  readonly since?: number;
  /** The question got no verdict: the app may or may not have kept what the node said before. */
  readonly isVague?: true;
}

/** Nodes that call themselves unhealthy and stay. They count for no want. */
export interface Closed {
  readonly nodes: ReadonlySet<BookedNode>;
  /** False if the rules do not say which nodes these are, or if the model does not know whether the app still remembers one of them. */
  readonly isSure: boolean;
}

/** A question counts for this long. */
const MEMORY_MS = 600_000;
const WRITTEN_APART_MS = 240_000;

/**
 * Nodes that called themselves unhealthy (docs/nodes.md): how many of an array were stopped within the hour (at most 10 % of its nodes, or
 * 3 if that is more), and which of those that stay count for no want. No job is reported on a node here, so none of them keeps jobs.
 */
export class UnhealthyBook {
  /** Nodes have called themselves unhealthy, and the model does not know their answers yet. */
  awaitsAnswers = false;
  #asked: Asked[] = [];
  readonly #heard = new Map<string, Heard>();

  /** The answer that all of these nodes should get, before they ask. `nodes`: all nodes of the array that the app may believe in. */
  wordFor(askers: readonly BookedNode[], nodes: readonly BookedNode[], now: number): Word {
    const [first] = askers;
    if (first === undefined) return "either";
    const of = this.#asked.filter(({ array }) => array === first.array);
    const certain = of.filter(({ at, went }) => went && now - at < HOUR_MS).length;
    const possible = of.filter(({ at }) => now - at < HOUR_MS + SLOT_MS).length;
    const size = nodes.filter(({ array }) => array === first.array).length;
    if (possible + askers.length <= FEWEST) return "stop";
    return certain >= Math.max(FEWEST, Math.ceil(size / 10)) ? "stay" : "either";
  }

  note(array: string, at: number, went: boolean): void {
    this.#asked = [...this.#asked.filter((one) => at - one.at < HOUR_MS + SLOT_MS), { array, at, went }];
  }

  /** A node got this answer between two moments. The app knows the node, and CycleCloud is not stopping it. `unhealthy`: it called itself so. */
  hear(id: string, unhealthy: boolean, answer: string, from: number, to: number): void {
    const before = this.#heard.get(id);
    const isRecent = before !== undefined && from - before.at < WRITTEN_APART_MS;
    const writtenFrom = isRecent ? Math.max(before.writtenFrom, from - WRITTEN_APART_MS) : from;
    const told = { at: to, writtenFrom };
    if (unhealthy && answer === "stay") {
      const isBroken = before?.since === undefined || from - before.at >= MEMORY_MS;
      this.#heard.set(id, { ...told, since: isBroken ? to : before.since });
    } else if (unhealthy && answer === "cannot-tell" && before?.since !== undefined)
      this.#heard.set(id, { ...told, since: before.since, isVague: true });
    else this.#heard.set(id, told);
  }

  /**
   * The nodes that count for no want. `nodes`: all of the cluster. `replaced`: those that are replaced. Both share the limit of 10 % of the
   * nodes of an array, or 3 if that is more: first those that are replaced, then those that called themselves unhealthy first. `named`: the
   * names that wants ask for.
   */
  closed(
    nodes: readonly BookedNode[],
    replaced: ReadonlySet<BookedNode>,
    named: Pick<ReadonlyMap<string, unknown>, "has">,
    now: number,
  ): Closed {
    const closed = new Set<BookedNode>();
    let isSure = true;
    for (const here of Map.groupBy(nodes, ({ array }) => array).values()) {
      const said = here.flatMap((node) => {
        const heard = this.#heard.get(node.id);
        if (heard?.since === undefined || now - heard.at >= MEMORY_MS) return [];
        if (node.seen?.phase !== "ready") return [];
        isSure &&= heard.isVague !== true && now - heard.writtenFrom < MEMORY_MS;
        return [{ node, since: heard.since }];
      });
      said.sort((a, b) => a.since - b.since);
      const limit = Math.max(FEWEST, Math.floor(here.length / 10));
      const room = Math.max(0, limit - here.filter((node) => replaced.has(node)).length);
      for (const { node } of said.slice(0, room)) closed.add(node);
      const [last, next] = [said[room - 1], said[room]];
      if (last === undefined || next === undefined || last.since < next.since) continue;
      // They called at the same moment: no rule says which of them count.
      const equal = said.filter(({ since }) => since === next.since).map(({ node }) => node);
      isSure &&= areAlike(equal) && !equal.some(({ name }) => named.has(name));
    }
    return { nodes: closed, isSure };
  }
}

/** Whether it makes no difference which of them are there. */
function areAlike(nodes: readonly BookedNode[]): boolean {
  const [first] = nodes;
  return nodes.every(({ type, group }) => type === first?.type && group === first.group);
}
