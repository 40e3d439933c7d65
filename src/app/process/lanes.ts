import type { SilentCall, MeasuredCall } from "../../decide/pace/calls.ts";
import type { ClusterName, NodeId, ProcessId, RequestId } from "../../domain/ids.ts";
import { processId } from "../../domain/ids.ts";
import type { Bytes } from "../../domain/units.ts";
import type { MemoryBudget } from "../../domain/memory-budget.ts";
import { budgetOf, DEFAULT_HEAP } from "../../domain/memory-budget.ts";
import type { Instant } from "../../domain/units.ts";
import { Gate } from "./gate.ts";
import type { Ports } from "../ports/ports.ts";
import type { Endpoint, RequestNodes } from "../../domain/record.ts";
import type { Rejection } from "../../domain/troubles.ts";

/**
 * Callers in one process that change the same cluster's record take turns, so that they do not cause conflicts for each other. Between
 * processes the ETag decides (architecture.md, Storage).
 */
interface Lanes {
  /** Runs `work` when all earlier work in the cluster's lane has finished. For short work: accepts of demand wait for it. */
  run<T>(cluster: ClusterName, work: () => Promise<T>): Promise<T>;
  /** The same in a separate lane, for work that writes large bodies: plans and stops. It takes its turn in the other lane for the save. */
  runWhole<T>(cluster: ClusterName, work: () => Promise<T>): Promise<T>;
  /** What this process may do with its heap. */
  readonly budget: MemoryBudget;
  /** The heap of this process. */
  readonly heap: Bytes;
  /** This process, among all that plan the same clusters. */
  readonly process: ProcessId;
  /** Messages that are being read or recorded. */
  readonly reading: Gate;
  /** Messages that are being put aside: a few at a time, so that a flood of them leaves storage to demand and plans. */
  readonly aside: Gate;
  /** Plans that are being made, by what the demand of their clusters takes. */
  readonly planning: Gate;
  /** Clusters whose last bodies written ahead became useless: see commit.ts. */
  readonly wasted: Set<ClusterName>;
  /** When this process last sent a cluster's lost wake message again. */
  readonly revivedAt: Map<ClusterName, Instant>;
  /** When this process was first asked about a cluster that has no record yet. */
  readonly askedUnborn: Map<ClusterName, Instant>;
  /** The state of the accounts with which this process signs in. */
  readonly trials: Trials;
  /** Facts about a cluster that this process knows and the record does not contain. */
  memoryOf(cluster: ClusterName): ClusterMemory;
}

/** What this process knows about one cluster, beside its record. It is lost with the process. */
interface ClusterMemory {
  readonly calls: CallMeter;
  readonly questions: OpenQuestions;
  readonly plans: KnownPlans;
  readonly nodes: KnownNodes;
  /** What a plan needs for its demand, as the record said when it was last loaded. */
  demandBytes: Bytes;
  /** Those of the record, when this process last wanted to add one. */
  rejections: readonly Rejection[];
}

/** What this process knows of the nodes in history. It spares writes and reads: another process may do the same again. */
interface KnownNodes {
  /** The nodes that this process has kept, with when they went, of those that the ledger still knows. */
  kept: ReadonlyMap<NodeId, Instant>;
  /** When this process last saw that there are not too many. Absent: not yet. */
  countedAt?: Instant;
}

/** A cluster whose demand takes less than this part of the room for plans does not wait for others that take more. */
export const SMALL_PART = 0.05;

/** Each takes more processor time than the storage call for it, so more at a time would not be faster. */
const ASIDE_TOGETHER = 3;

/** Credentials on trial, by name: see credentials.ts. */
interface Trials {
  /** CycleCloud has accepted them, and not refused them since. */
  readonly accepted: Set<string>;
  /** A first call is in progress. Resolves when it has ended, never rejects. */
  readonly running: Map<string, Promise<void>>;
}

/** The shared parts of all use cases: the ports, and the lanes of this process. */
export interface App {
  readonly ports: Ports;
  readonly lanes: Lanes;
}

/** What a process is. */
export interface ProcessFacts {
  /** Absent: that of the default size. */
  readonly heap?: Bytes;
  /** Absent: one that no other `createLanes` of this process gets. */
  readonly process?: ProcessId;
}

let processes = 0;

export function createLanes({
  heap = DEFAULT_HEAP,
  process = processId(`process-${(processes += 1)}`),
}: ProcessFacts = {}): Lanes {
  const memories = new Map<ClusterName, ClusterMemory>();
  const budget = budgetOf(heap);
  return {
    heap,
    process,
    budget,
    reading: new Gate(budget),
    aside: new Gate({ small: ASIDE_TOGETHER, large: ASIDE_TOGETHER }),
    planning: new Gate({ small: budget.demand, large: budget.demand }),
    wasted: new Set(),
    revivedAt: new Map(),
    askedUnborn: new Map(),
    trials: { accepted: new Set(), running: new Map() },
    memoryOf(cluster) {
      const known = memories.get(cluster) ?? {
        calls: new CallMeter(),
        questions: new OpenQuestions(),
        plans: new KnownPlans(),
        nodes: { kept: new Map() },
        demandBytes: 0,
        rejections: [],
      };
      memories.set(cluster, known);
      return known;
    },
    run: createLane(),
    runWhole: createLane(),
  };
}

function createLane(): Lanes["run"] {
  const tails = new Map<ClusterName, Promise<void>>();
  return async (cluster, work) => {
    const before = tails.get(cluster) ?? Promise.resolve();
    const turn = Promise.withResolvers<void>();
    tails.set(cluster, turn.promise);
    await before;
    try {
      return await work();
    } finally {
      turn.resolve();
      if (tails.get(cluster) === turn.promise) tails.delete(cluster);
    }
  };
}

/** The highest plan number of a cluster that this process knows. Plan numbers only rise. */
export class KnownPlans {
  #highest = 0;
  #isComplete = false;

  get highest(): number {
    return this.#highest;
  }

  /** Whether history and plan archive have been read. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  note(plan: number): void {
    this.#highest = Math.max(this.#highest, plan);
  }

  /** `plan` is the highest of history and archive. */
  complete(plan: number): void {
    this.note(plan);
    this.#isComplete = true;
  }
}

/** The calls of one cluster in this process. */
class CallMeter {
  #ended: MeasuredCall[] = [];
  readonly #silent = new Map<Endpoint, SilentCall>();

  note(call: MeasuredCall): void {
    this.#ended.push(call);
  }

  /** The calls that ended since they were last taken, oldest first. Calls that cannot be saved are lost; the next call is measured too. */
  take(): readonly MeasuredCall[] {
    const taken = this.#ended;
    this.#ended = [];
    return taken;
  }

  /** The last call of this endpoint, if it has had no answer. */
  silentCall(endpoint: Endpoint): SilentCall | undefined {
    return this.#silent.get(endpoint);
  }

  /** A call begins, or has ended without an answer. An older call than the last one is ignored. */
  noteSilent(endpoint: Endpoint, call: SilentCall): void {
    const last = this.#silent.get(endpoint);
    if (last === undefined || last.began <= call.began) this.#silent.set(endpoint, call);
  }

  /** The call that began then was answered. After a status, other calls that began before it count no more. */
  noteAnswer(endpoint: Endpoint, began: Instant): void {
    for (const [other, call] of this.#silent)
      if ((other === endpoint || endpoint === "status") && call.began <= began) this.#silent.delete(other);
  }
}

/** Maximum number of requests asked for in parallel. */
const ASKED_TOGETHER = 6;

/** Returns undefined if nothing was learnt. */
type Ask = (id: RequestId) => Promise<RequestNodes | undefined>;

/**
 * The nodes of the open requests of one cluster, as far as this process has received them. A question may outlive the observation that
 * asked it: its answer then serves the next one. An older answer is still true, because a request's list only grows (docs/protocol.md,
 * Observations).
 */
class OpenQuestions {
  readonly #answers = new Map<RequestId, RequestNodes>();
  /** Requests that were asked for, the longest ago first. */
  readonly #asked = new Set<RequestId>();
  readonly #underWay = new Set<RequestId>();
  #waiting: readonly RequestId[] = [];
  #ended = Promise.withResolvers<void>();
  #defect: { readonly error: unknown } | undefined;

  /** Asks for each of these requests without a question in progress, and forgets all others. Never throws. */
  begin(open: readonly RequestId[], ask: Ask): void {
    const wanted = new Set(open);
    for (const id of this.#answers.keys()) if (!wanted.has(id)) this.#answers.delete(id);
    for (const id of this.#asked) if (!wanted.has(id)) this.#asked.delete(id);
    // If answers are slow, requests not yet asked for go first. Otherwise the first few would be asked for repeatedly.
    const inTurn = [...open.filter((id) => !this.#asked.has(id)), ...this.#asked];
    this.#waiting = inTurn.filter((id) => !this.#underWay.has(id));
    this.#askNext(ask);
  }

  /** The answers for these requests so far. Throws the error of a failed question. */
  answersTo(open: readonly RequestId[]): ReadonlyMap<RequestId, RequestNodes> {
    const defect = this.#defect;
    this.#defect = undefined;
    if (defect !== undefined) throw defect.error;
    const known = new Map<RequestId, RequestNodes>();
    for (const id of open) {
      const listed = this.#answers.get(id);
      if (listed !== undefined) known.set(id, listed);
    }
    return known;
  }

  /** Resolves when no question is in progress. */
  async allEnded(): Promise<void> {
    while (this.#underWay.size > 0) await this.#ended.promise;
  }

  #askNext(ask: Ask): void {
    const free = ASKED_TOGETHER - this.#underWay.size;
    const next = this.#waiting.slice(0, Math.max(0, free));
    this.#waiting = this.#waiting.slice(next.length);
    for (const id of next) void this.#askOne(id, ask);
  }

  async #askOne(id: RequestId, ask: Ask): Promise<void> {
    this.#underWay.add(id);
    this.#asked.delete(id);
    this.#asked.add(id);
    try {
      const listed = await ask(id);
      if (listed !== undefined) this.#answers.set(id, listed);
    } catch (error) {
      this.#defect ??= { error };
    } finally {
      this.#underWay.delete(id);
      this.#askNext(ask);
      const ended = this.#ended;
      this.#ended = Promise.withResolvers();
      ended.resolve();
    }
  }
}
