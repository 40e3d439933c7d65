import type { Evidence } from "./evidence.ts";
import { GIVEN_UP_MS, hadTimeToBoot, stoodTooLong } from "./evidence.ts";
import type { AnswerJudge } from "./judge-answers.ts";
import { leastNeedOf } from "./needs.ts";

/** A committed stop may still arrive, or be known to be lost, for this long: its lease, and the pause before it is decided again. */
const COMMITTED_STOP_MS = 185_000;
/** A stop that arrives later than this after its commit was not sent on that decision: the lease, and the time on the way. */
const LATEST_STOP_MS = 75_000;
/** A stop is sent by then after its commit. */
const LATEST_SEND_MS = 30_000;
/** A report that was accepted less than this before a stop was sent may not have been read before it. */
const LATEST_READ_MS = 1000;
/** Observations are older where calls are slow: this many slow calls. */
const SLOW_CALLS = 8;
/** A callback is answered on an observation of at most two intervals ago. */
const OLDEST_OBSERVATION_MS = 120_000;

/** Counts nodes that are stopped although they were needed or busy. */
export class StopJudge {
  readonly #evidence: Evidence;
  readonly #answers: AnswerJudge;
  /** By request id: when the record was read last before each stop was sent. */
  readonly #readBefore = new Map<string, number>();

  constructor(evidence: Evidence, answers: AnswerJudge) {
    this.#evidence = evidence;
    this.#answers = answers;
  }

  /** A stop was sent. `readAt`: when its process last read the record. */
  sent(requestId: string, readAt: number): void {
    const { commits, now, violate } = this.#evidence;
    const age = now() - (commits.get(requestId) ?? now());
    if (age > LATEST_SEND_MS) violate("wrongSend", 1, `${requestId} was sent ${age} ms after its commit`);
    if (this.#readBefore.has(requestId)) violate("wrongSend", 1, `${requestId} was sent twice`);
    // Other work of the process may have read the record just before.
    this.#readBefore.set(requestId, Math.min(now() - LATEST_READ_MS, readAt));
  }

  /** A stop was committed. It may be lost: in weather that lasts its node counts as present, unless the node is given up. */
  committed(nodeId: string, committedAt: number): void {
    const { limits, nodes } = this.#evidence;
    if (limits.lasting === undefined) return nodes.leave(nodeId, committedAt + COMMITTED_STOP_MS);
    const node = nodes.get(nodeId);
    if (node !== undefined && (!node.ready || !node.shownReady || node.failed || node.unhealthy))
      nodes.leave(nodeId, Number.POSITIVE_INFINITY);
  }

  /** CycleCloud has accepted a stop of ours. */
  accepted(nodeId: string, requestId: string, at: number): void {
    const { limits, nodes, commits, counts, violate } = this.#evidence;
    const node = nodes.get(nodeId);
    if (node === undefined || node.stopped) return;
    const hosts = nodes.hostsUp();
    const committedAt = commits.get(requestId) ?? at;
    const isHeld = at - committedAt > GIVEN_UP_MS && stoodTooLong(this.#evidence, committedAt, at);
    if (!isHeld) this.#answers.stopped(nodeId, committedAt);
    node.stopped = true;
    if (isHeld) {
      counts.heldTooLong += 1;
      // The app learns of it with its next observation. Until then the node counts as lost.
      node.lostAt = at;
      return;
    }
    if (!node.ready && !node.failed && !hadTimeToBoot(this.#evidence, node.createdAt, at))
      violate("endedBooting", 1, `${nodeId} was stopped after it had booted for ${at - node.createdAt} ms`);
    if (!node.ready || node.failed) return;
    counts.readyNodesStopped += 1;
    if (node.unhealthy) {
      node.unfitStopAt = committedAt;
      return;
    }
    // A node that no status has ever shown as Ready is given up.
    const isGivenUp = limits.lasting !== undefined && !node.shownReady;
    if (!isGivenUp) this.#checkNeed(nodeId, node.array, hosts, committedAt, at);
    if (node.busySince === undefined) return;
    if (limits.lasting === undefined) this.#checkBusy(nodeId, node.busySince, node.markedAt, committedAt, at);
    else this.#checkLastingBusy(nodeId, node.busySince, requestId, committedAt);
  }

  /** Are fewer nodes left than were needed all the time since the commit? */
  #checkNeed(
    nodeId: string,
    array: string,
    hosts: ReadonlySet<string>,
    committedAt: number,
    at: number,
  ): void {
    const { limits, nodes, demand, violate } = this.#evidence;
    const { lasting } = limits;
    const oldest = committedAt - OLDEST_OBSERVATION_MS - SLOW_CALLS * 1000 * (lasting?.slow?.seconds ?? 0);
    // The decision may rest on an observation that still showed nodes as Ready which have been switched off or lost since.
    const gone = nodes.countOffSince(array, oldest) + nodes.countUnfitStopsAfter(array, committedAt);
    const left = nodes.countReady(array) + gone;
    // In weather that lasts CycleCloud may hold a stop for long.
    const since = lasting === undefined ? Math.max(committedAt, at - LATEST_STOP_MS) : committedAt;
    const least = Math.min(...demand.needs(since, at, (told) => leastNeedOf(array, told, hosts)));
    if (left >= least) return;
    violate(
      "stoppedNeeded",
      1,
      `${nodeId} was stopped (committed ${at - committedAt} ms ago), which leaves ${left} Ready nodes in ${array} of at least ${least} needed all the time`,
    );
  }

  /** Did a job run on the node that the last report before the commit could have shown? */
  #checkBusy(
    nodeId: string,
    busySince: number,
    markedAt: number | undefined,
    committedAt: number,
    at: number,
  ): void {
    const { demand, violate } = this.#evidence;
    const reportedAt = demand.lastReportBefore(committedAt);
    // A report no newer than the mark says nothing about the node. After a newer report a job may have begun.
    const isReported = reportedAt !== undefined && reportedAt > (markedAt ?? committedAt);
    if (isReported && busySince > reportedAt) return;
    violate(
      "stoppedNeeded",
      1,
      `${nodeId} was stopped (committed ${at - committedAt} ms ago) while a job ran on it`,
    );
  }

  /**
   * The same in weather that lasts. A job that has just begun cannot be known only on a node without a script, if its scheduler does not
   * report whether the node is open.
   */
  #checkLastingBusy(nodeId: string, busySince: number, requestId: string, committedAt: number): void {
    const { limits, demand, counts, violate } = this.#evidence;
    if (this.#answers.isUnreached(nodeId, committedAt)) {
      counts.unreachedStopped += 1;
      return;
    }
    if (this.#answers.isUnheard(nodeId, committedAt)) {
      counts.unheardStopped += 1;
      return;
    }
    const readAt = this.#readBefore.get(requestId) ?? committedAt;
    const reportedAt = demand.lastReportBefore(Math.max(committedAt, readAt));
    const isBlind = this.#answers.hasNoScript(nodeId) && limits.lasting?.scripts?.states === false;
    if (isBlind && reportedAt !== undefined && busySince > reportedAt) return;
    violate("stoppedNeeded", 1, `${nodeId} was stopped (committed at ${committedAt}) while a job ran on it`);
  }
}
