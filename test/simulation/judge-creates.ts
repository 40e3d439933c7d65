import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { Evidence } from "./evidence.ts";
import type { Told } from "./needs.ts";
import { hadTimeToBoot, stoodTooLong } from "./evidence.ts";
import { needOf, slotsOf } from "./needs.ts";
import type { Watched } from "./watched.ts";
import { isActive, isLive, wasLeaving } from "./watched.ts";

type CreateAccepted = Extract<SimulatorEvent, { readonly kind: "create-accepted" }>;

/** A plan that was made on a false answer is carried out within this time. */
const DECEIVED_MS = 60_000;
/** A create is sent by then after its commit, also by an instance that has taken it over. */
const LATEST_SEND_MS = 120_000;

/** Counts nodes that are created or started without need, and creates and starts beyond a limit. */
export class CreateJudge {
  readonly #evidence: Evidence;
  readonly #begun: number;
  /** By request id: the array of each of its sets. */
  readonly #arrays = new Map<string, readonly string[]>();
  #spare = 0;
  #falseEmptyAt = Number.NEGATIVE_INFINITY;

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
    this.#begun = evidence.now();
  }

  /** A create was sent; `arrays`: the array of each of its sets. */
  sent(requestId: string, arrays: readonly string[]): void {
    const { commits, now, violate } = this.#evidence;
    const age = now() - (commits.get(requestId) ?? now());
    if (age > LATEST_SEND_MS) violate("wrongSend", 1, `${requestId} was sent ${age} ms after its commit`);
    this.#arrays.set(requestId, arrays);
  }

  /** CycleCloud has shown a status without any node, although there are some. */
  falselyEmpty(): void {
    this.#falseEmptyAt = this.#evidence.now();
  }

  /** Storage has lost the record: this many nodes may be created twice. */
  forget(twice: number): void {
    this.#spare = twice;
  }

  /** A node of this array and placement group is brought up for a request: was one more node needed? A node that is off counts once it is asked to start. */
  broughtUp(
    nodeId: string,
    { array, group }: Pick<Watched, "array" | "group">,
    requestId: string | undefined,
    at: number,
  ): void {
    const { limits, nodes, demand, commits, counts, violate } = this.#evidence;
    const committedAt = commits.get(requestId ?? "") ?? at;
    if (this.#isForgotten({ committedAt, shownAt: undefined })) {
      counts.heldTooLong += 1;
      return;
    }
    const there = nodes.all.filter(
      (node) => node.array === array && isLive(node) && !this.#isForgotten(node),
    );
    // A node of an earlier bucket goes first if its create was decided together with this one, or while the outcome of this one was unknown.
    const isEarlier = (node: Watched): boolean =>
      limits.bucketOrder && node.group !== undefined && node.committedAt >= committedAt;
    // A plan creates others in the place of nodes that did not boot, and may be saved without their stops.
    const isLate = ({ ready, createdAt }: Watched): boolean =>
      !ready && hadTimeToBoot(this.#evidence, createdAt, committedAt);
    const staying = there.filter(
      (node) => !wasLeaving(node, committedAt) && !isEarlier(node) && !isLate(node),
    );
    const mostBy = (need: (array: string, told: readonly Told[]) => number): number =>
      Math.max(...demand.needs(demand.basisOf(committedAt), at, (told) => need(array, told)));
    const most = mostBy(needOf);
    // Nodes without a placement group are the last bucket of the array.
    if (limits.bucketOrder && group !== undefined) {
      const ofGroup = staying.filter((node) => node.group === group);
      if (ofGroup.length < mostBy(slotsOf)) return;
    }
    if (staying.length < most + this.#spareNodes()) return;
    violate(
      "overshoot",
      1,
      `${nodeId} was brought up in ${array} by ${requestId} (committed ${at - committedAt} ms ago) where ${staying.length} nodes met the most that was asked since (${most})`,
    );
  }

  /** A node that was off is started: does its array stay within its limit? */
  started(nodeId: string, array: string, requestId: string | undefined): void {
    const { limits, nodes, violate } = this.#evidence;
    const beyond = nodes.countActive(array) - limits.nodesPerArray;
    if (beyond > 0)
      violate("limitsExceeded", beyond, `${requestId} started ${nodeId} beyond the array's limit`);
  }

  /**
   * A create was accepted: did it ask for more than a limit had left? Terminating nodes count against quotas, but not against CycleCloud's
   * own limits. If an empty answer hides only nodes that we have asked to stop, it looks like a true one.
   */
  accepted({ requestId = "", asked, added, sets }: CreateAccepted): void {
    const { limits, nodes, now, violate } = this.#evidence;
    const arrays = this.#arrays.get(requestId) ?? [];
    const deceived = now() - this.#falseEmptyAt < DECEIVED_MS;
    const held = nodes.all.filter(
      (node) => !node.gone && !(deceived && node.stopped) && !this.#isForgotten(node),
    );
    const beyondArrays = [...new Set(arrays)].map((array) => {
      const ofArray = held.filter((node) => node.array === array && isActive(node));
      const ofSets = sets.filter((_, index) => arrays[index] === array);
      const short = ofSets.reduce((sum, set) => sum + set.asked - set.added, 0);
      return ofArray.length + short - limits.nodesPerArray;
    });
    const beyondQuota = held.length + asked - added - limits.quotaNodes;
    const beyond = Math.max(beyondQuota, ...beyondArrays);
    if (beyond > 0)
      violate("limitsExceeded", beyond, `${requestId} asked for ${beyond} nodes beyond a limit`);
  }

  /** CycleCloud stood still for over 15 minutes before it showed the node: plans do not count it any more. */
  #isForgotten({ committedAt, shownAt }: Pick<Watched, "committedAt" | "shownAt">): boolean {
    return stoodTooLong(this.#evidence, committedAt, shownAt ?? Number.POSITIVE_INFINITY);
  }

  /** Substitutes for nodes that stay unclear, and nodes that storage has forgotten. */
  #spareNodes(): number {
    const { limits, now } = this.#evidence;
    const spare = limits.lasting?.bounds?.spareNodes;
    const isTime = spare !== undefined && now() - this.#begun >= spare.from * 1000;
    return this.#spare + (isTime ? spare.count : 0);
  }
}
