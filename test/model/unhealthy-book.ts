import type { BookedNode } from "./node-book.ts";

/** What nodes that call themselves unhealthy are told. `either`: the model does not know how many the app has counted. */
export type Word = "stop" | "stay" | "either";

interface Asked {
  readonly array: string;
  readonly at: number;
  /** Told that it goes: the app has counted it. Otherwise it may have. */
  readonly went: boolean;
}

const HOUR_MS = 3_600_000;
/** The app counts stops of five minutes as if all had come with the last. */
const SLOT_MS = 300_000;
const FEWEST = 3;

/** What a node was last told, and since when it has called itself unhealthy without a break. */
interface Heard {
  readonly at: number;
  /** The app may have written it down so much earlier (docs/protocol.md: it writes the "stay" of a node once in four minutes). */
  readonly writtenFrom: number;
  /** Absent: it does not call itself unhealthy. */
  readonly since?: number;
  /** The call came to no verdict: the app may have kept what the node said before, or not. */
  readonly isVague?: true;
}

/** Nodes that call themselves unhealthy and stay, and that are no capacity for it. */
export interface Closed {
  readonly nodes: ReadonlySet<BookedNode>;
  /** False: the rules do not say which nodes these are, or the model does not know whether the app still remembers one of them. */
  readonly isSure: boolean;
}

/** A call counts for so long after it. */
const MEMORY_MS = 600_000;
const WRITTEN_APART_MS = 240_000;

/**
 * Nodes that called themselves unhealthy (docs/nodes.md). How many of an array went within the hour: 10 % of its nodes at most, or 3 if
 * that is more. And which of those that stay are no capacity. No job is reported on a node here, so none of them keeps jobs.
 */
export class UnhealthyBook {
  /** Nodes have called themselves unhealthy, and the model does not know their answers yet. */
  awaitsAnswers = false;
  #asked: Asked[] = [];
  readonly #heard = new Map<string, Heard>();

  /** Before they ask: what all of them are to be told. `nodes`: all of the array, as far as we can know. */
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

  /** A node that CycleCloud is not stopping, and that the app knows, was told this between two moments; `unhealthy`: it called itself so. */
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
   * Which of these nodes, all of the cluster, are no capacity. `replaced`: those that are replaced; they share the limit of 10 % of the
   * nodes of an array, or 3 if that is more, and come first. Of the others those that said so first.
   */
  closed(nodes: readonly BookedNode[], replaced: ReadonlySet<BookedNode>, now: number): Closed {
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
      // They said so at one moment: no rule says which of them count.
      isSure &&= areAlike(said.filter(({ since }) => since === next.since).map(({ node }) => node));
    }
    return { nodes: closed, isSure };
  }
}

/** Whether it makes no difference which of them are there. */
function areAlike(nodes: readonly BookedNode[]): boolean {
  const [first] = nodes;
  return nodes.every(({ type, group }) => type === first?.type && group === first.group);
}
