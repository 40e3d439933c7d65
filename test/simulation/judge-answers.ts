import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Evidence } from "./evidence.ts";
import type { ScriptAnswer } from "./host.ts";
import type { Violate } from "./verdict.ts";
import type { Watched } from "./watched.ts";

/** After this long without any answer to its questions, a node counts as unreached: only reports show it. */
export const UNREACHED_MS = 290_000;
/** A script that hears nothing opens its node at the earliest this long after the commit of its stop: the time it waits, less that of a late question. */
const UNHEARD_MS = 160_000;

interface Asker {
  /** When its script closed it. Undefined: the node is open. */
  closedSince: number | undefined;
  /** When the first question since the last answer was asked. Undefined: no question waits. */
  waitsSince: number | undefined;
  lastAnswerAt: number | undefined;
  /** No answer has come back to it since it was closed for the last time. */
  unheard: boolean;
}

/** Counts wrong answers to "may I stop?", and stops of nodes that were told to stay. */
export class AnswerJudge {
  readonly #nodes: ReadonlyMap<string, Watched>;
  readonly #now: () => number;
  readonly #violate: Violate;
  readonly #askers = new Map<string, Asker>();
  #stopping: ReadonlySet<string> = new Set();

  constructor(nodes: ReadonlyMap<string, Watched>, { now, violate }: Pick<Evidence, "now" | "violate">) {
    this.#nodes = nodes;
    this.#now = now;
    this.#violate = violate;
  }

  /** Notes the nodes whose stops are committed and not settled. */
  saved({ intents }: ClusterRecord): void {
    this.#stopping = new Set(
      intents.flatMap(({ effect }) => (effect.kind === "terminate" ? effect.nodes : [])),
    );
  }

  hasScript(nodeId: string, has: boolean): void {
    if (has)
      this.#askers.set(nodeId, {
        closedSince: undefined,
        waitsSince: undefined,
        lastAnswerAt: undefined,
        unheard: false,
      });
  }

  /** The node is started again, and its script begins as on a new node. */
  restarted(nodeId: string): void {
    this.#askers.delete(nodeId);
  }

  /** The script has closed the node, and is about to ask. */
  closed(nodeId: string, unhealthy: boolean): void {
    const asker = this.#askers.get(nodeId);
    if (asker === undefined) return;
    if (asker.closedSince === undefined) asker.unheard = true;
    asker.closedSince ??= this.#now();
    asker.waitsSince ??= this.#now();
    const node = this.#nodes.get(nodeId);
    if (node !== undefined && unhealthy) node.unhealthy = true;
  }

  /** An answer has come back to the script. */
  heard(nodeId: string): void {
    const asker = this.#askers.get(nodeId);
    if (asker !== undefined) asker.unheard = false;
  }

  opened(nodeId: string): void {
    const asker = this.#askers.get(nodeId);
    if (asker !== undefined) asker.closedSince = undefined;
  }

  /** An answer leaves its host. */
  answered(nodeId: string, { status, undrain }: ScriptAnswer): void {
    if (undrain === undefined && (status === 409 || status === 503))
      this.#violate("wrongUndrain", 1, `${nodeId} is told ${status} without undrain`);
    const asker = this.#askers.get(nodeId);
    if (asker !== undefined) {
      asker.lastAnswerAt = this.#now();
      asker.waitsSince = undefined;
    }
    const node = this.#nodes.get(nodeId);
    if (status !== 200 || node === undefined || node.stopped || node.gone || node.off) return;
    this.#violate("wrongYes", 1, `${nodeId} is told 200 though CycleCloud has not been asked to stop it`);
  }

  /** The node follows an answer that lets it open. */
  toldToOpen(nodeId: string): void {
    const node = this.#nodes.get(nodeId);
    if (node === undefined || node.stoppedByOthers) return;
    if (node.stopped)
      this.#violate("wrongUndrain", 1, `${nodeId} is told to open though CycleCloud is stopping it`);
    else if (this.#stopping.has(nodeId))
      this.#violate("wrongUndrain", 1, `${nodeId} is told to open though its stop is committed`);
  }

  /** CycleCloud has accepted a stop of ours. */
  stopped(nodeId: string, committedAt: number): void {
    const asker = this.#askers.get(nodeId);
    const node = this.#nodes.get(nodeId);
    if (asker === undefined || node === undefined || asker.closedSince !== undefined) return;
    if (node.unhealthy || !node.ready || node.failed) return;
    const { lastAnswerAt } = asker;
    const isUnreached = lastAnswerAt === undefined || committedAt - lastAnswerAt > UNREACHED_MS;
    if (isUnreached && !isAsked(node)) return;
    if (this.isUnheard(nodeId, committedAt)) return;
    this.#violate("stoppedOpen", 1, `${nodeId} was stopped though its script had opened it`);
  }

  /** Whether a report stops the node while a question of it waits, and the node has had no answer for minutes before that moment. */
  isUnreached(nodeId: string, at: number): boolean {
    const asker = this.#askers.get(nodeId);
    const node = this.#nodes.get(nodeId);
    if (asker === undefined || node === undefined || isAsked(node)) return false;
    const { lastAnswerAt, waitsSince } = asker;
    return waitsSince !== undefined && (lastAnswerAt === undefined || at - lastAnswerAt > UNREACHED_MS);
  }

  /**
   * Whether CycleCloud held the node's stop for minutes while no answer at all came back to the node, which then opened by itself (docs/protocol.md,
   * Questions of nodes, what remains).
   */
  isUnheard(nodeId: string, committedAt: number): boolean {
    return this.#askers.get(nodeId)?.unheard === true && this.#now() - committedAt > UNHEARD_MS;
  }

  hasNoScript(nodeId: string): boolean {
    return !this.#askers.has(nodeId);
  }
}

/** Its own question stops it. */
function isAsked({ markedBy }: Watched): boolean {
  return markedBy === "callback" || markedBy === "unhealthy";
}
