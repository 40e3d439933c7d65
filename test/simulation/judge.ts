import type { BodyChanges } from "../../src/app/ports/record-store.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import { DemandHistory } from "./demand-history.ts";
import type { Evidence, Limits } from "./evidence.ts";
import { AnswerJudge } from "./judge-answers.ts";
import { KeptJudge } from "./judge-kept.ts";
import { CreateJudge } from "./judge-creates.ts";
import { NamedJudge } from "./judge-named.ts";
import { PaceJudge } from "./judge-pace.ts";
import { StopJudge } from "./judge-stops.ts";
import type { Told } from "./needs.ts";
import { needOf } from "./needs.ts";
import type { Stood } from "./standing.ts";
import type { Met, Tally, Verdict, Violate } from "./verdict.ts";
import { NOTHING } from "./verdict.ts";
import { WatchedNodes } from "./watched-nodes.ts";

type NodeCreated = Extract<SimulatorEvent, { readonly kind: "node-created" }>;

/** Maximum number of times that a quarter of an hour has every node created again, if all of them fail. */
const MOST_ROUNDS = 8;

/**
 * Counts what must never happen. It knows what the simulated CycleCloud did, what the senders of demand sent, what the shared store holds
 * (with the time at which each request id and stop was first held), and which jobs run where. It shares no code with the product.
 *
 * This file takes in what happens, and judges the end of a run. Creates, stops, answers and pace have judges of their own.
 */
export class Judge {
  readonly answers: AnswerJudge;
  readonly pace: PaceJudge;
  readonly #creates: CreateJudge;
  readonly #stops: StopJudge;
  readonly #kept: KeptJudge;
  readonly #named: NamedJudge;
  readonly #limits: Limits;
  readonly #now: () => number;
  readonly #trace: (what: string) => void;
  readonly #nodes: WatchedNodes;
  readonly #demand: DemandHistory;
  readonly #commits = new Map<string, number>();
  readonly #counts: Tally = { ...NOTHING };
  readonly #stood: Stood[] = [];

  constructor(limits: Limits, now: () => number, trace: (what: string) => void) {
    this.#limits = limits;
    this.#now = now;
    this.#trace = trace;
    const violate: Violate = (kind, count, words) => this.#violate(kind, count, words);
    const nodes = new WatchedNodes(now);
    const demand = new DemandHistory(now, violate);
    const counts = this.#counts;
    const seen = { nodes, demand, commits: this.#commits, stood: this.#stood };
    const evidence: Evidence = { limits, now, ...seen, counts, violate };
    this.#nodes = nodes;
    this.#demand = demand;
    this.answers = new AnswerJudge(nodes.byId, evidence);
    this.#creates = new CreateJudge(evidence);
    this.#stops = new StopJudge(evidence, this.answers);
    this.#kept = new KeptJudge(evidence, this.answers);
    this.#named = new NamedJudge(evidence);
    const known = {
      leastNeed: (array: string, from: number) => this.#leastNeed(array, from),
      countReady: (array: string) => nodes.countReady(array),
      countLive: (array: string) => nodes.countLive(array),
      countLost: (array: string, since: number) => nodes.countLost(array, since),
    };
    this.pace = new PaceJudge(limits.lasting?.bounds ?? {}, known, now, violate);
  }

  // ------------------------------------------------------------ senders and storage

  sent(told: Told): void {
    this.#demand.sent(told);
  }

  /** The shared store has saved this record, and these bodies. */
  saved(record: ClusterRecord, { ledger, questions, seen }: BodyChanges): void {
    this.answers.saved(record);
    this.pace.saved(record, seen !== undefined);
    for (const [nodeId, { draining }] of questions ?? [])
      if (draining !== undefined) this.#nodes.change(nodeId, (node) => (node.markedBy = draining.by));
    for (const { nodeId, draining } of ledger?.values() ?? [])
      this.#nodes.change(nodeId, (node) => {
        node.markedAt = draining?.since;
        node.markedBy = draining?.by ?? node.markedBy;
      });
    for (const { id, committedAt, effect } of record.intents) {
      if (this.#commits.has(id)) continue;
      this.#commits.set(id, committedAt);
      this.#trace(`${id} is committed: ${JSON.stringify(effect)}`);
      if (effect.kind === "terminate")
        for (const node of effect.nodes) this.#stops.committed(node, committedAt);
      this.#kept.committed(effect, record, committedAt);
    }
    this.#demand.saved(record);
  }

  /** Storage has lost the record or set it back: nothing is in force for a while, and `twice` nodes may be created twice. */
  forget(twice: number): void {
    this.#demand.forget();
    this.pace.forget();
    this.#creates.forget(twice);
  }

  // ------------------------------------------------------------ nodes and their jobs

  /** A node asks whether it may stop, and takes no work until it is told to stay. */
  asked(nodeId: string, unhealthy: boolean): void {
    this.#nodes.change(nodeId, (node) => (node.unhealthy ||= unhealthy));
    this.#nodes.leave(nodeId, Number.POSITIVE_INFINITY);
  }

  toldToStay(nodeId: string): void {
    for (const span of this.#nodes.get(nodeId)?.leaving ?? [])
      if (span.until === Number.POSITIVE_INFINITY) span.until = this.#now();
  }

  busy(nodeId: string): void {
    this.#nodes.change(nodeId, (node) => (node.busySince = this.#now()));
  }

  idle(nodeId: string): void {
    this.#nodes.change(nodeId, (node) => (node.busySince = undefined));
  }

  /** An administrator has switched the node off; it keeps its disks. */
  switchedOff(nodeId: string): void {
    this.#nodes.change(nodeId, (node) => {
      node.ready = false;
      node.off = true;
      node.offAt = this.#now();
    });
    this.#nodes.leave(nodeId, Number.POSITIVE_INFINITY);
  }

  /** Weather that stands still has come. */
  met(what: Met): void {
    this.#counts[what] += 1;
  }

  // ------------------------------------------------------------ CycleCloud

  /** CycleCloud stands still. */
  stood(spell: Stood): void {
    this.met("standstills");
    this.#stood.push(spell);
  }

  /** A create was sent; `arrays`: the array of each of its sets. */
  createSent(requestId: string, arrays: readonly string[]): void {
    this.#creates.sent(requestId, arrays);
  }

  /** A stop was sent. `readAt`: when its process last read the record. */
  stopSent(requestId: string, readAt: number): void {
    this.#stops.sent(requestId, readAt);
  }

  /** A status lists the node. */
  shown(nodeId: string, ready: boolean): void {
    this.#nodes.change(nodeId, (node) => {
      node.shown += 1;
      node.shownAt ??= this.#now();
      node.shownReady ||= ready;
    });
  }

  /** Whether a status has shown the node as Ready. */
  wasShown(nodeId: string): boolean {
    return this.#nodes.get(nodeId)?.shownReady === true;
  }

  /** CycleCloud has shown a status without any node, although there are some. */
  falselyEmpty(): void {
    this.#creates.falselyEmpty();
    this.#kept.falselyEmpty();
  }

  see(event: SimulatorEvent): void {
    switch (event.kind) {
      case "node-created":
        return this.#created(event);
      case "create-accepted":
        return this.#creates.accepted(event);
      case "start-accepted":
        return this.#started(event.nodeId, event.requestId, event.at);
      case "node-ready":
        return this.#nodes.change(event.nodeId, (node) => {
          node.ready = true;
          node.readyAt ??= event.at;
          node.host = event.hostname;
        });
      case "node-failed":
        return this.#nodes.change(event.nodeId, (node) => (node.failed = true));
      case "terminate-accepted":
        this.#kept.ended(event.nodeId, event.requestId, event.at);
        return event.requestId === undefined
          ? this.#stoppedByOthers(event.nodeId)
          : this.#stopped(event.nodeId, event.requestId, event.at);
      case "deallocate-accepted":
        if (event.requestId === undefined) return;
        this.#stops.accepted(event.nodeId, event.requestId, event.at);
        return this.#kept.begun(event.nodeId);
      case "node-gone":
        return this.#nodes.change(event.nodeId, (node) => {
          node.gone = true;
          node.goneAt = event.at;
          if (event.reason === "vanished") node.lostAt ??= event.at;
        });
      case "status-read":
        this.#counts.statusReads += 1;
        return;
      case "node-deallocated":
        return this.#kept.isOff(event.nodeId, event.at);
      case "node-up":
        return this.#nodes.change(event.nodeId, (node) => (node.host = event.hostname));
      case "node-down":
      case "request-refused":
        return;
    }
  }

  #created(event: NodeCreated): void {
    const { nodeId, array, placementGroup: group, requestId, at } = event;
    if (this.#named.judges(array)) this.#named.created(event);
    else this.#creates.broughtUp(nodeId, { array, group }, requestId, at);
    this.#counts.nodesCreated += 1;
    this.#nodes.add(event, { createdAt: at, committedAt: this.#commits.get(requestId ?? "") ?? at });
  }

  #started(nodeId: string, requestId: string | undefined, at: number): void {
    const node = this.#nodes.get(nodeId);
    if (node === undefined) return;
    this.#creates.broughtUp(nodeId, node, requestId, at);
    this.#counts.nodesStarted += 1;
    node.off = false;
    node.failed = false;
    if (node.kept !== undefined)
      this.#kept.started(nodeId, node, this.#commits.get(requestId ?? "") ?? at, at);
    for (const span of node.leaving) span.until = Math.min(span.until, at);
    this.#creates.started(nodeId, node.array, requestId);
  }

  #stopped(nodeId: string, requestId: string, at: number): void {
    if (this.#named.judges(this.#nodes.get(nodeId)?.array ?? "")) this.#named.stopped(nodeId, requestId, at);
    else this.#stops.accepted(nodeId, requestId, at);
  }

  #stoppedByOthers(nodeId: string): void {
    this.#nodes.change(nodeId, (node) => {
      if (node.stopped) return;
      node.stopped = true;
      node.stoppedByOthers = true;
      node.lostAt = this.#now();
    });
  }

  // ------------------------------------------------------------ the end of a run

  /** How many nodes are not yet as the last messages ask: those that are missing, and those of names that were taken back. */
  unsettled(last: readonly Told[]): number {
    return this.missing(last) + this.#named.unsettled(last).left;
  }

  /** How many Ready nodes are missing of those that the last messages ask for. */
  missing(last: readonly Told[]): number {
    const arrays = new Set(last.map((told) => told.array));
    let { missing } = this.#named.unsettled(last);
    for (const array of arrays) {
      const needed = Math.min(needOf(array, last), this.#limits.nodesPerArray);
      missing += Math.max(0, needed - this.#nodes.countReady(array));
    }
    return missing;
  }

  /** This many stops were due: at least nine in ten of them must have been granted. */
  stopsWereDue(array: string, due: number): void {
    const stopped = this.#nodes.all.filter((node) => node.array === array && node.stopped).length;
    if (stopped < due * 0.9)
      this.#violate("neverGranted", due - stopped, `${stopped} of ${due} stops were granted`);
  }

  /** No node becomes Ready. Pauses double from one minute on, so that `most` nodes are created only a few times. */
  noneBecameReady(array: string, most: number): void {
    const created = this.#nodes.all.filter((node) => node.array === array).length;
    const beyond = created - MOST_ROUNDS * most;
    if (beyond > 0) this.#violate("unbraked", beyond, `${created} nodes were created for ${most}`);
  }

  conclude(last: readonly Told[]): Verdict {
    const missing = this.missing(last);
    this.#kept.conclude();
    if (missing > 0) this.#violate("shortAfterResync", missing, `${missing} nodes are missing at the end`);
    const { left } = this.#named.unsettled(last);
    if (left > 0) this.#violate("leftBehind", left, `${left} nodes that no set names are left at the end`);
    return this.#counts;
  }

  #leastNeed(array: string, from: number): number {
    const needs = this.#demand.needs(from, this.#now(), (told) => needOf(array, told));
    return Math.min(Math.min(...needs), this.#limits.nodesPerArray);
  }

  #violate(kind: keyof Verdict, count: number, words: string): void {
    this.#counts[kind] += count;
    this.#trace(`VIOLATION ${kind}: ${words}`);
  }
}
