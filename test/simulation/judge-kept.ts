import type { BucketKey } from "../../src/domain/bucket.ts";
import type { Effect } from "../../src/domain/intent.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Evidence } from "./evidence.ts";
import type { AnswerJudge } from "./judge-answers.ts";
import { needOf } from "./needs.ts";
import type { Kept, Watched } from "./watched.ts";
import { isLive, wasLeaving } from "./watched.ts";

/** A node that was just deallocated is known to be off by then: the observation of a plan may be as old. */
const KNOWN_OFF_MS = 90_000;
/** An end that CycleCloud has accepted and forgotten keeps a node from being started for so long. */
const OPEN_MS = 200_000;
/**
 * A node whose start was refused rests for a quarter of an hour from then on. If the answer was lost, it counts as coming before, for as long as
 * nodes in flight (configuration.ts).
 */
const REFUSED_MS = 2_300_000;
/**
 * A node ends by then after its time: scale-down may rest, processes may be away, and its start may have been refused (15 minutes). After two
 * deaths during plans sets are left out for ten minutes more, in which nothing ends.
 */
const LATE_MS = 1_500_000;
/** Nodes that a falsely empty status lacks are not started by plans that rest on it. */
const DECEIVED_MS = 60_000;
/** Quota that came free since then may not have been observed. */
const OBSERVED_MS = 120_000;

/** Counts what must not happen to nodes that the autoscaler had deallocated (docs/protocol.md, Deallocated nodes). */
export class KeptJudge {
  readonly #evidence: Evidence;
  readonly #answers: AnswerJudge;
  /** Creates that were committed. Those of the last minutes may not have been accepted yet. */
  readonly #creates: { readonly at: number; readonly count: number }[] = [];

  #unseen = 0;
  #lackedAt = Number.NEGATIVE_INFINITY;

  constructor(evidence: Evidence, answers: AnswerJudge) {
    this.#evidence = evidence;
    this.#answers = answers;
  }

  /** CycleCloud has accepted a deallocation of ours. */
  begun(nodeId: string): void {
    const kept: Kept = { offAt: undefined, startAt: undefined, endAt: undefined, isEnded: false };
    this.#evidence.nodes.change(nodeId, (node) => (node.kept = kept));
  }

  /** CycleCloud has shown a status without any node, although there are some. */
  falselyEmpty(): void {
    this.#lackedAt = this.#evidence.now();
  }

  isOff(nodeId: string, at: number): void {
    const kept = this.#evidence.nodes.get(nodeId)?.kept;
    if (kept !== undefined) kept.offAt = at;
  }

  /** An intent was first held by the shared store. */
  committed(effect: Effect, { intents, inFlight }: ClusterRecord, at: number): void {
    const { nodes } = this.#evidence;
    // Nodes that were accepted and that no status has shown may hold quota, as far as the app can know.
    this.#unseen = inFlight.reduce((sum, { added, seen }) => sum + Math.max(0, added - seen.length), 0);
    const open = new Set(
      intents.flatMap((intent) => (intent.effect.kind === "terminate" ? intent.effect.nodes : [])),
    );
    if (effect.kind === "create")
      for (const { bucket, count } of effect.sets) {
        this.#checkCreate(bucket, count, open, at);
        this.#creates.push({ at, count });
      }
    else
      for (const id of effect.nodes) {
        const kept = nodes.get(id)?.kept;
        if (kept === undefined) continue;
        if (effect.kind === "start") kept.startAt = at;
        else kept.endAt = at;
      }
  }

  /** The node is started again: it begins like a new one. */
  started(nodeId: string, node: Watched, committedAt: number, at: number): void {
    const { violate } = this.#evidence;
    if (node.kept?.isEnded === true) violate("keptTooLong", 1, `${nodeId} was started after its end`);
    node.kept = undefined;
    node.stopped = false;
    node.ready = false;
    node.shownReady = false;
    node.unhealthy = false;
    node.busySince = undefined;
    node.createdAt = at;
    node.committedAt = committedAt;
    this.#answers.restarted(nodeId);
  }

  /** CycleCloud has accepted the end of a node. */
  ended(nodeId: string, requestId: string | undefined, at: number): void {
    const { nodes, counts, commits, limits, violate } = this.#evidence;
    const kept = nodes.get(nodeId)?.kept;
    if (kept === undefined || kept.isEnded) return;
    kept.isEnded = true;
    counts.keptEnded += 1;
    const { timeoutSeconds = 0 } = limits.deallocates ?? {};
    const committedAt = commits.get(requestId ?? "") ?? at;
    if (kept.offAt === undefined || committedAt - kept.offAt >= timeoutSeconds * 1000) return;
    counts.endedForQuota += 1;
    const held = nodes.all.filter(({ gone, goneAt = 0 }) => !gone || goneAt > committedAt - OBSERVED_MS);
    const asked = this.#creates
      .filter(({ at: since }) => since > committedAt - OBSERVED_MS)
      .reduce((sum, { count }) => sum + count, 0);
    const used = held.length + asked + this.#unseen;
    if (used + this.#lacking(committedAt, at) > limits.quotaNodes) return;
    violate("endedInVain", 1, `${nodeId} was ended where ${used} nodes used a quota of ${limits.quotaNodes}`);
  }

  /** How many nodes the demand may have lacked since that moment. */
  #lacking(since: number, at: number): number {
    const arrays = new Set(this.#evidence.nodes.all.map(({ array }) => array));
    return [...arrays].reduce((sum, array) => sum + this.#lackingIn(array, since, at), 0);
  }

  #lackingIn(array: string, since: number, at: number): number {
    const { nodes, demand, limits } = this.#evidence;
    const most = Math.max(...demand.needs(demand.basisOf(since), at, (told) => needOf(array, told)));
    // One that calls itself unhealthy is replaced, and one that leaves does not count.
    const fit = nodes.all.filter(
      (node) => node.array === array && isLive(node) && !node.unhealthy && !wasLeaving(node, since),
    );
    return Math.max(0, Math.min(most, limits.nodesPerArray) - fit.length);
  }

  /** At the end of a run: has every node ended, or is its time not over? */
  conclude(): void {
    const { nodes, limits, now, violate } = this.#evidence;
    const longest = (limits.deallocates?.timeoutSeconds ?? 0) * 1000 + LATE_MS;
    for (const { kept, gone, host = "?" } of nodes.all) {
      if (kept?.offAt === undefined || gone || kept.isEnded) continue;
      // While its start may be under way, the node is not ended.
      const latest = Math.max(kept.offAt + longest, (kept.startAt ?? 0) + REFUSED_MS);
      if (now() > latest) violate("keptTooLong", 1, `${host} has been off for ${now() - kept.offAt} ms`);
    }
  }

  /**
   * Would a deallocated node have done for a new one? Starts are committed together with creates, and before them. What a falsely empty status
   * lacks is started once a status shows it again; the creates are then for the rest.
   */
  #checkCreate(
    { array, placementGroup }: BucketKey,
    count: number,
    open: ReadonlySet<string>,
    at: number,
  ): void {
    const { nodes, violate } = this.#evidence;
    const startable = [...nodes.byId].filter(
      ([id, { array: of, group, gone, kept }]) =>
        of === array && group === placementGroup && !gone && !open.has(id) && isStartable(kept, at),
    );
    if (this.#lackedAt > at - DECEIVED_MS && startable.length + count <= this.#lackingIn(array, at, at))
      return;
    for (const [, { host = "?" }] of startable)
      violate(
        "besideStopped",
        1,
        `a node of ${array} was created (committed at ${at}) though ${host} is off`,
      );
  }
}

function isStartable(kept: Kept | undefined, at: number): boolean {
  if (kept === undefined) return false;
  const { offAt, startAt, endAt, isEnded } = kept;
  if (offAt === undefined || isEnded || at - offAt < KNOWN_OFF_MS) return false;
  if (endAt !== undefined && at - endAt < OPEN_MS) return false;
  return startAt === undefined || at - startAt >= REFUSED_MS;
}
