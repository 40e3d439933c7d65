import type { Ledger } from "../../src/domain/ledger.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import { AnswerJudge } from "./judge-answers.ts";
import type { Told } from "./needs.ts";
import { leastNeedOf, needOf, slotsOf } from "./needs.ts";
import type { Counts } from "./judge-pace.ts";
import { PaceJudge } from "./judge-pace.ts";
import type { Verdict, Violate } from "./verdict.ts";
import { NOTHING } from "./verdict.ts";
import type { Watched } from "./watched.ts";
import { isActive, isLive, wasLeaving } from "./watched.ts";
import type { Lasting } from "./weather.ts";

export interface Limits {
  readonly nodesPerArray: number;
  /** Nodes in all, those that are going included. */
  readonly quotaNodes: number;
  /**
   * Jobs use the buckets of an array in turn, those in placement groups first: a new node of an earlier bucket goes before an idle node of a
   * later one, as in scalelib (`bucket-order`).
   */
  readonly bucketOrder: boolean;
  /** With weather that lasts a node counts as there until CycleCloud has accepted its stop, or it is given up. */
  readonly lasting?: Lasting;
}

type NodeCreated = Extract<SimulatorEvent, { readonly kind: "node-created" }>;
type CreateAccepted = Extract<SimulatorEvent, { readonly kind: "create-accepted" }>;

/** A stop that was committed may still come, or be known to be lost, for so long: its lease, and the pause before it is decided again. */
const COMMITTED_STOP_MS = 185_000;
/** A stop that arrives later than this after its commit was not sent on that decision: lease, and the time on the way. */
const LATEST_STOP_MS = 75_000;
/** Where requests arrive up to the time limit of a call after they were sent. */
const LATEST_LASTING_STOP_MS = 95_000;
/** A report accepted so shortly before a stop was sent may not have been read before it. */
const LATEST_READ_MS = 1000;
/** Looks are older where calls are slow. */
const SLOW_LOOKS = 8;
/** Looks that may begin in any minute. */
const MOST_LOOKS = 13;
const MINUTE_MS = 60_000;
/** `inFlightGrace` of the runs at most, and until the next plan. */
const LONGEST_IN_FLIGHT_MS = 1_400_000;
/** Rounds of nodes in a quarter of an hour in which all of them fail. */
const MOST_ROUNDS = 8;
/** A callback is answered on a look of at most two intervals. */
const OLDEST_LOOK_MS = 120_000;
/** A plan that was made on a false answer is carried out within so long. */
const DECEIVED_MS = 60_000;

/**
 * Counts what must never happen. It knows what the simulated CycleCloud did, what the senders of demand sent, which of that the shared
 * store holds (and which request ids and stops it holds since when), and which jobs run where; it shares no code with the product.
 */
export class Judge implements Counts {
  readonly answers: AnswerJudge;
  readonly pace: PaceJudge;
  readonly #limits: Limits;
  readonly #now: () => number;
  readonly #begun: number;
  readonly #trace: (what: string) => void;
  readonly #told = new Map<string, Told>();
  readonly #nodes = new Map<string, Watched>();
  /** What was in force since when, oldest first. */
  readonly #history: { readonly at: number; readonly told: readonly Told[] }[] = [];
  readonly #commits = new Map<string, number>();
  readonly #creates = new Map<string, readonly string[]>();
  readonly #revisions = new Map<string, number>();
  /** When each stop was first sent. */
  readonly #sent = new Map<string, number>();
  #spare = 0;
  #setsSeen: ClusterRecord["sets"] | undefined;
  #reportsSeen: ClusterRecord["sets"] | undefined;
  /** When looks began, in the last minute. */
  #looks: readonly number[] = [];
  #falseEmptyAt = Number.NEGATIVE_INFINITY;
  readonly #counts: { -readonly [K in keyof Verdict]: number } = { ...NOTHING };

  constructor(limits: Limits, now: () => number, trace: (what: string) => void) {
    this.#limits = limits;
    this.#now = now;
    this.#begun = now();
    this.#trace = trace;
    const violate: Violate = (kind, count, words) => this.#violate(kind, count, words);
    this.answers = new AnswerJudge(this.#nodes, now, violate);
    this.pace = new PaceJudge(limits.lasting?.bounds ?? {}, this, now, violate);
  }

  // ------------------------------------------------------------ what it is told

  sent(told: Told): void {
    this.#told.set(`${told.set}@${told.revision}`, told);
  }

  /** The shared store has saved this record, and this ledger if it has changed. */
  saved(record: ClusterRecord, ledger: Ledger | undefined): void {
    this.#checkLook(record);
    this.answers.saved(record);
    this.pace.saved(record);
    for (const { nodeId, draining } of ledger?.values() ?? []) {
      const node = this.#nodes.get(nodeId);
      if (node !== undefined) node.markedAt = draining?.since;
    }
    for (const { id, committedAt, effect } of record.intents) {
      if (this.#commits.has(id)) continue;
      this.#commits.set(id, committedAt);
      this.#trace(`${id} is committed: ${JSON.stringify(effect)}`);
      if (effect.kind === "terminate") {
        for (const node of effect.nodes) this.#leaveByStop(node, committedAt);
      }
    }
    if (record.sets === this.#setsSeen && record.separateReports === this.#reportsSeen) return;
    this.#setsSeen = record.sets;
    this.#reportsSeen = record.separateReports;
    const inForce = [
      ...this.#toldBy(record.sets, "demand"),
      ...this.#toldBy(record.separateReports, "report"),
    ];
    this.#history.push({ at: this.#now(), told: inForce });
  }

  /** Storage has lost what the record held, or set it back: for a while nothing is in force, and so many nodes may come twice. */
  forget(twice: number): void {
    this.#revisions.clear();
    this.#looks = [];
    this.pace.forget();
    this.#history.push({ at: this.#now(), told: [] });
    this.#spare = twice;
  }

  /** What the senders said that is held as this part of their sets. */
  #toldBy(entries: ClusterRecord["sets"], part: string): readonly Told[] {
    return [...entries].flatMap(([set, { revision }]) => {
      const before = this.#revisions.get(`${set} ${part}`) ?? 0;
      if (revision.value < before) this.#violate("revisionsLost", 1, `${set} ${part} went back`);
      this.#revisions.set(`${set} ${part}`, revision.value);
      const told = this.#told.get(`${set}@${revision.value}`);
      return told === undefined ? [] : [told];
    });
  }

  /** A node asks whether it may stop, and takes no work until it is told to stay. */
  asked(nodeId: string, unhealthy: boolean): void {
    const node = this.#nodes.get(nodeId);
    if (node === undefined) return;
    node.unhealthy ||= unhealthy;
    this.#leave(nodeId, Number.POSITIVE_INFINITY);
  }

  toldToStay(nodeId: string): void {
    const node = this.#nodes.get(nodeId);
    for (const span of node?.leaving ?? [])
      if (span.until === Number.POSITIVE_INFINITY) span.until = this.#now();
  }

  busy(nodeId: string): void {
    const node = this.#nodes.get(nodeId);
    if (node !== undefined) node.busySince = this.#now();
  }

  idle(nodeId: string): void {
    const node = this.#nodes.get(nodeId);
    if (node !== undefined) node.busySince = undefined;
  }

  /** Somebody has switched the node off; it keeps its disks. */
  switchedOff(nodeId: string): void {
    const node = this.#nodes.get(nodeId);
    if (node === undefined) return;
    node.ready = false;
    node.off = true;
    node.offAt = this.#now();
    this.#leave(nodeId, Number.POSITIVE_INFINITY);
  }

  /** A create was sent: which array each of its sets is for. */
  createSent(requestId: string, arrays: readonly string[]): void {
    this.#creates.set(requestId, arrays);
  }

  /** A status lists the node. */
  shown(nodeId: string, ready: boolean): void {
    this.#change(nodeId, (node) => {
      node.shown += 1;
      node.shownReady ||= ready;
    });
  }

  /** Whether a status has shown the node as Ready. */
  wasShown(nodeId: string): boolean {
    return this.#nodes.get(nodeId)?.shownReady === true;
  }

  /** A stop is sent. */
  stopSent(requestId: string): void {
    if (!this.#sent.has(requestId)) this.#sent.set(requestId, this.#now());
  }

  /** CycleCloud has shown a status without any node, though there are some. */
  falselyEmpty(): void {
    this.#falseEmptyAt = this.#now();
  }

  see(event: SimulatorEvent): void {
    switch (event.kind) {
      case "node-created":
        return this.#created(event);
      case "create-accepted":
        return this.#checkLimits(event);
      case "start-accepted":
        return this.#started(event.nodeId, event.requestId, event.at);
      case "node-ready":
        return this.#change(event.nodeId, (node) => {
          node.ready = true;
          node.host = event.hostname;
        });
      case "node-failed":
        return this.#change(event.nodeId, (node) => (node.failed = true));
      case "terminate-accepted":
        return event.requestId === undefined
          ? this.#stoppedByOthers(event.nodeId)
          : this.#stopped(event.nodeId, event.requestId, event.at);
      case "node-gone":
        return this.#change(event.nodeId, (node) => {
          node.gone = true;
          if (event.reason === "vanished") node.lostAt ??= event.at;
        });
      case "status-read":
        this.#counts.statusReads += 1;
        return;
      case "node-deallocated":
      case "node-down":
      case "node-up":
      case "request-refused":
        return;
    }
  }

  /** The end of the quiet time: is there what the last messages ask for? */
  missing(last: readonly Told[]): number {
    const arrays = new Set(last.map((told) => told.array));
    let missing = 0;
    for (const array of arrays) {
      const needed = Math.min(needOf(array, last), this.#limits.nodesPerArray);
      missing += Math.max(0, needed - this.countReady(array));
    }
    return missing;
  }

  /** So many stops were due; nine in ten of them are granted. */
  stopsWereDue(array: string, due: number): void {
    const stopped = [...this.#nodes.values()].filter((node) => node.array === array && node.stopped).length;
    if (stopped < due * 0.9)
      this.#violate("neverGranted", due - stopped, `${stopped} of ${due} stops were granted`);
  }

  /** No node becomes Ready: with pauses that double from a minute on, so few rounds are made. */
  noneBecameReady(array: string, most: number): void {
    const created = [...this.#nodes.values()].filter((node) => node.array === array).length;
    const beyond = created - MOST_ROUNDS * most;
    if (beyond > 0) this.#violate("unbraked", beyond, `${created} nodes were created for ${most}`);
  }

  conclude(last: readonly Told[]): Verdict {
    const missing = this.missing(last);
    if (missing > 0) this.#violate("shortAfterResync", missing, `${missing} nodes are missing at the end`);
    return this.#counts;
  }

  // ------------------------------------------------------------ what it finds

  #created({ nodeId, array, placementGroup: group, requestId, at }: NodeCreated): void {
    this.#checkNeed(nodeId, { array, group }, requestId, at);
    this.#counts.nodesCreated += 1;
    this.#nodes.set(nodeId, {
      array,
      group,
      committedAt: this.#commits.get(requestId ?? "") ?? at,
      host: undefined,
      markedAt: undefined,
      ready: false,
      shown: 0,
      shownReady: false,
      failed: false,
      stopped: false,
      stoppedByOthers: false,
      gone: false,
      lostAt: undefined,
      off: false,
      offAt: 0,
      busySince: undefined,
      unhealthy: false,
      leaving: [],
    });
  }

  #started(nodeId: string, requestId: string | undefined, at: number): void {
    const node = this.#nodes.get(nodeId);
    if (node === undefined) return;
    this.#checkNeed(nodeId, node, requestId, at);
    this.#counts.nodesStarted += 1;
    node.off = false;
    node.failed = false;
    for (const span of node.leaving) span.until = Math.min(span.until, at);
    const active = [...this.#nodes.values()].filter((one) => one.array === node.array && isActive(one));
    const beyond = active.length - this.#limits.nodesPerArray;
    if (beyond > 0)
      this.#violate("limitsExceeded", beyond, `${requestId} started ${nodeId} beyond the array's limit`);
  }

  /** Was one more node there asked for? Those that are off count once they are asked to start. */
  #checkNeed(
    nodeId: string,
    { array, group }: Pick<Watched, "array" | "group">,
    requestId: string | undefined,
    at: number,
  ): void {
    const committedAt = this.#commits.get(requestId ?? "") ?? at;
    const there = [...this.#nodes.values()].filter((node) => node.array === array && isLive(node));
    // A node of an earlier bucket that was decided on with this create, or while its outcome was not known, went before it.
    const isEarlier = (node: Watched): boolean =>
      this.#limits.bucketOrder && node.group !== undefined && node.committedAt >= committedAt;
    const staying = there.filter((node) => !wasLeaving(node, committedAt) && !isEarlier(node));
    const mostBy = (need: typeof needOf): number =>
      Math.max(...this.#needs(committedAt, at, (told) => need(array, told)));
    const most = mostBy(needOf);
    // Nodes that are in no group are the last bucket of the array.
    if (this.#limits.bucketOrder && group !== undefined) {
      const ofGroup = staying.filter((node) => node.group === group);
      if (ofGroup.length < mostBy(slotsOf)) return;
    }
    if (staying.length >= most + this.#spareNodes()) {
      this.#violate(
        "overshoot",
        1,
        `${nodeId} was brought up in ${array} by ${requestId} (committed ${at - committedAt} ms ago) where ${staying.length} nodes met the most that was asked since (${most})`,
      );
    }
  }

  /** Substitutes for nodes that stay unclear, and nodes that storage has forgotten. */
  #spareNodes(): number {
    const spare = this.#limits.lasting?.bounds?.spareNodes;
    const isTime = spare !== undefined && this.#now() - this.#begun >= spare.from * 1000;
    return this.#spare + (isTime ? spare.count : 0);
  }

  #stoppedByOthers(nodeId: string): void {
    this.#change(nodeId, (node) => {
      if (node.stopped) return;
      node.stopped = true;
      node.stoppedByOthers = true;
      node.lostAt = this.#now();
    });
  }

  #stopped(nodeId: string, requestId: string, at: number): void {
    const node = this.#nodes.get(nodeId);
    if (node === undefined || node.stopped) return;
    const hosts = this.#hostsUp();
    this.answers.stopped(nodeId, this.#commits.get(requestId) ?? at);
    node.stopped = true;
    if (!node.ready || node.failed) return;
    this.#counts.readyNodesStopped += 1;
    if (node.unhealthy) return;
    const committedAt = this.#commits.get(requestId) ?? at;
    const left = this.countReady(node.array) + this.#countOffUnseen(node.array, committedAt);
    const { lasting } = this.#limits;
    const since = Math.max(
      committedAt,
      at - (lasting === undefined ? LATEST_STOP_MS : LATEST_LASTING_STOP_MS),
    );
    const least = Math.min(...this.#needs(since, at, (told) => leastNeedOf(node.array, told, hosts)));
    const late = `committed ${at - committedAt} ms ago`;
    // One that no status has ever shown as Ready is given up.
    const isGivenUp = lasting !== undefined && !node.shownReady;
    if (left < least && !isGivenUp) {
      this.#violate(
        "stoppedNeeded",
        1,
        `${nodeId} was stopped (${late}), which leaves ${left} Ready nodes in ${node.array} of at least ${least} needed all the time`,
      );
    }
    if (lasting !== undefined) {
      if (node.busySince !== undefined) this.#busyStopped(nodeId, node.busySince, requestId, committedAt);
      return;
    }
    const reportedAt = this.#lastReportBefore(committedAt);
    // A report that is no newer than the mark is no look after it; a report after it may have been overtaken by a job.
    const looked = reportedAt !== undefined && reportedAt > (node.markedAt ?? committedAt);
    if (node.busySince !== undefined && (!looked || node.busySince <= reportedAt)) {
      this.#violate("stoppedNeeded", 1, `${nodeId} was stopped (${late}) while a job ran on it`);
    }
  }

  /** Only of a node without a script, whose scheduler does not say whether it is open, nobody can know that a job begins there just now. */
  #busyStopped(nodeId: string, busySince: number, requestId: string, committedAt: number): void {
    if (this.answers.isUnreached(nodeId, committedAt)) {
      this.#counts.unreachedStopped += 1;
      return;
    }
    const sentAt = this.#sent.get(requestId) ?? committedAt;
    const reportedAt = this.#lastReportBefore(Math.max(committedAt, sentAt - LATEST_READ_MS));
    const isBlind = this.answers.hasNoScript(nodeId) && this.#limits.lasting?.scripts?.states === false;
    if (isBlind && reportedAt !== undefined && busySince > reportedAt) return;
    this.#violate(
      "stoppedNeeded",
      1,
      `${nodeId} was stopped (committed at ${committedAt}) while a job ran on it`,
    );
  }

  /**
   * CycleCloud's own limits leave out nodes that are going, quotas do not. An empty answer that hides only nodes which we have asked to
   * stop cannot be told from a true one.
   */
  #checkLimits({ requestId = "", asked, added, sets }: CreateAccepted): void {
    const arrays = this.#creates.get(requestId) ?? [];
    const deceived = this.#now() - this.#falseEmptyAt < DECEIVED_MS;
    const held = [...this.#nodes.values()].filter((node) => !node.gone && !(deceived && node.stopped));
    const beyondArrays = [...new Set(arrays)].map((array) => {
      const ofArray = held.filter((node) => node.array === array && isActive(node));
      const ofSets = sets.filter((_, index) => arrays[index] === array);
      const short = ofSets.reduce((sum, set) => sum + set.asked - set.added, 0);
      return ofArray.length + short - this.#limits.nodesPerArray;
    });
    const beyondQuota = held.length + asked - added - this.#limits.quotaNodes;
    const beyond = Math.max(beyondQuota, ...beyondArrays);
    if (beyond > 0) {
      this.#violate("limitsExceeded", beyond, `${requestId} asked for ${beyond} nodes beyond a limit`);
    }
  }

  #checkLook({ lookedAt }: ClusterRecord): void {
    if (lookedAt === undefined || lookedAt === this.#looks.at(-1)) return;
    this.#looks = [...this.#looks.filter((at) => at > lookedAt - MINUTE_MS), lookedAt];
    if (this.#looks.length > MOST_LOOKS)
      this.#violate("looksTooSoon", 1, `${this.#looks.length} looks in a minute`);
  }

  #violate(kind: keyof Verdict, count: number, words: string): void {
    this.#counts[kind] += count;
    this.#trace(`VIOLATION ${kind}: ${words}`);
  }

  /** A stop that is committed may be lost: a node that it was for counts as there, unless it is given up. */
  #leaveByStop(nodeId: string, committedAt: number): void {
    if (this.#limits.lasting === undefined) return this.#leave(nodeId, committedAt + COMMITTED_STOP_MS);
    const node = this.#nodes.get(nodeId);
    if (node !== undefined && (!node.ready || !node.shownReady || node.failed || node.unhealthy))
      this.#leave(nodeId, Number.POSITIVE_INFINITY);
  }

  #leave(nodeId: string, until: number): void {
    this.#nodes.get(nodeId)?.leaving.push({ from: this.#now(), until });
  }

  #change(nodeId: string, change: (node: Watched) => void): void {
    const node = this.#nodes.get(nodeId);
    if (node !== undefined) change(node);
  }

  countReady(array: string): number {
    let count = 0;
    for (const node of this.#nodes.values())
      if (node.array === array && node.ready && isLive(node)) count += 1;
    return count;
  }

  countLive(array: string): number {
    let count = 0;
    for (const node of this.#nodes.values()) if (node.array === array && isLive(node)) count += 1;
    return count;
  }

  /**
   * One that no status has shown, or only one, is expected for as long as nodes in flight are: the list of its request, which is asked for
   * beside the status, may not have had it any more.
   */
  countLost(array: string, since: number): number {
    const sinceUnseen = this.#now() - LONGEST_IN_FLIGHT_MS;
    let count = 0;
    for (const { array: of, lostAt = 0, shown } of this.#nodes.values())
      if (of === array && lostAt > (shown > 1 ? since : sinceUnseen)) count += 1;
    return count;
  }

  leastNeed(array: string, from: number): number {
    const least = Math.min(...this.#needs(from, this.#now(), (told) => needOf(array, told)));
    return Math.min(least, this.#limits.nodesPerArray);
  }

  /** Nodes that were up at a look that a decision of that moment may rest on, and that have been switched off or lost since. */
  #countOffUnseen(array: string, decidedAt: number): number {
    const oldest =
      decidedAt - OLDEST_LOOK_MS - SLOW_LOOKS * 1000 * (this.#limits.lasting?.slow?.seconds ?? 0);
    let count = 0;
    for (const node of this.#nodes.values()) {
      if (node.array !== array) continue;
      if (node.off ? node.offAt >= oldest : node.ready && (node.lostAt ?? 0) >= oldest) count += 1;
    }
    return count;
  }

  #hostsUp(): ReadonlySet<string> {
    return new Set(
      [...this.#nodes.values()].flatMap((node) => (node.ready && isLive(node) ? [node.host ?? ""] : [])),
    );
  }

  /** What was asked at each moment from `from` to `until`: at its beginning, and whenever a message came or expired. */
  #needs(from: number, until: number, need: (told: readonly Told[]) => number): readonly number[] {
    const needs: number[] = [];
    for (let index = this.#history.length - 1; index >= 0; index -= 1) {
      const { at, told } = this.#history[index] ?? { at: 0, told: [] };
      const begin = Math.max(at, from);
      const end = Math.min(this.#history[index + 1]?.at ?? until, until);
      const moments = [
        begin,
        ...told.map((one) => one.expiresAt).filter((when) => when > begin && when <= end),
      ];
      for (const moment of moments) needs.push(need(told.filter((one) => one.expiresAt > moment)));
      if (at <= from) return needs;
    }
    return [...needs, 0];
  }

  /** When the newest report in force at that moment was sent. */
  #lastReportBefore(at: number): number | undefined {
    const inForce = this.#history.findLast((entry) => entry.at <= at)?.told ?? [];
    const times = inForce.filter((told) => told.reports && told.expiresAt > at).map((told) => told.sentAt);
    return times.length === 0 ? undefined : Math.max(...times);
  }
}
