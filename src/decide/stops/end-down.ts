import { isOfArray } from "../../domain/bucket.ts";
import type { Node, Snapshot } from "../../domain/cluster.ts";
import { deallocatingArrays } from "../../domain/cluster.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Down, Ledger, LedgerNode } from "../../domain/ledger.ts";
import { OBSERVATIONS_DOWN } from "../../domain/ledger.ts";
import type { DownEnd, DownHold } from "../../domain/node-verdict.ts";
import type { Observation, ClusterRecord, Wave } from "../../domain/record.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Questions } from "../../domain/questions.ts";
import { endTimeoutOf, timeoutsOf } from "../../domain/timeouts.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { instant, plusSeconds, secondsBetween } from "../../domain/units.ts";
import { compareText } from "../../domain/text.ts";
import { isStarting } from "../intents/node-starts.ts";
import type { Standings } from "../../domain/node-standing.ts";
import { isStopping, standingIn } from "../../domain/node-standing.ts";
import { factThatCounts } from "../nodes/planned-beside.ts";
import type { NodeFacts } from "../senders/host-facts.ts";
import { hasAskedRecently } from "./questions.ts";
import type { Reach } from "./reach.ts";

/** In a wave a node is down for at least this long before it is terminated. */
const WAVE_SECONDS: Seconds = 3600;

/** The nodes that are down, and which of them end with this plan. */
export interface DownNodes {
  /** Nodes whose time is over and that nothing holds. They are terminated where the plan may act. */
  readonly due: ReadonlySet<NodeId>;
  /** When each of them ends, or why not. */
  readonly ends: ReadonlyMap<NodeId, DownEnd>;
}

interface Around {
  readonly record: ClusterRecord;
  readonly observation: Observation;
  readonly ledger: Ledger;
  readonly standings: Standings;
  readonly reach: Reach;
  readonly questions: Questions;
  readonly facts: NodeFacts;
  readonly policy: Policy;
  readonly isResting: boolean;
  readonly now: Instant;
}

/** A node with what the ledger knows of it. */
interface Member {
  readonly node: Node;
  readonly known: LedgerNode;
}

interface DownMember extends Member {
  readonly down: Down;
}

/**
 * Finds the nodes that are down and those of them that this plan ends (docs/protocol.md, Nodes that are down). The next record has the waves,
 * and the next ledger the clocks that begin again after a wave.
 */
export function surveyDown(around: Around): {
  readonly record: ClusterRecord;
  readonly ledger: Ledger;
  readonly down: DownNodes;
} {
  const { record, observation, now } = around;
  const shown = shownDown(around);
  if (shown.length === 0 && record.waves === undefined && record.endDown === undefined)
    return { record, ledger: around.ledger, down: { due: new Set(), ends: new Map() } };
  const members = membersOf(around);
  const counts = countDown(members, around.policy);
  const waves = nextWaves(record.waves ?? [], counts, now);
  const ledger = restartAfterWaves(around.ledger, record.waves ?? [], waves, now);
  const { waves: _waves, endDown: _orders, ...rest } = record;
  const endDown = (record.endDown ?? []).filter(({ until }) => now < until);
  const next: ClusterRecord = {
    ...rest,
    ...(waves.length === 0 ? {} : { waves }),
    ...(endDown.length === 0 ? {} : { endDown }),
  };
  const judged = new Judgement({ ...around, record: next, ledger }, members);
  const isSlow = observation.slow === true || observation.snapshot.early === true;
  return { record: next, ledger, down: judged.judge(shownDown({ ...around, ledger }), isSlow) };
}

/** The nodes that are shown as down, whosever they are. Those that wait longest come first. */
function shownDown({
  observation,
  ledger,
  policy,
}: Pick<Around, "observation" | "ledger" | "policy">): readonly DownMember[] {
  const shown = observation.snapshot.nodes.flatMap((node): readonly DownMember[] => {
    if (node.phase !== "coming" && node.phase !== "failed") return [];
    const known = ledger.get(node.nodeId);
    const down = known === undefined ? undefined : countedDown(known, policy);
    return known === undefined || down === undefined ? [] : [{ node, known, down }];
  });
  return shown.toSorted(
    (a, b) => clockOf(a.down) - clockOf(b.down) || compareText(a.node.nodeId, b.node.nodeId),
  );
}

const clockOf = ({ clockFrom, since }: Down): Instant => clockFrom ?? since;

/** Nodes of ours that were Ready and are wanted, without those that are being stopped. Shares are of these. */
function membersOf({ observation, ledger, standings, reach }: Around): readonly Member[] {
  return observation.snapshot.nodes.flatMap((node): readonly Member[] => {
    if (!isWanted(node) || !reach.managed.has(node.array)) return [];
    const known = ledger.get(node.nodeId);
    const standing = standingIn(standings, node.nodeId);
    if (known?.firstReadyAt === undefined || standing.notOurs === true) return [];
    return isStopping(standing) ? [] : [{ node, known }];
  });
}

const isWanted = ({ phase, missing }: Node): boolean =>
  missing === undefined && (phase === "ready" || phase === "coming" || phase === "failed");

/** How many are down: by array, and together. */
function countDown(members: readonly Member[], policy: Policy): DownCounts {
  const counts = new Map<ArrayName | undefined, { down: number; of: number }>();
  for (const { known } of members) {
    const isDown = countedDown(known, policy) !== undefined;
    for (const scope of [undefined, known.array]) {
      const { down, of } = counts.get(scope) ?? { down: 0, of: 0 };
      counts.set(scope, { down: down + Number(isDown), of: of + 1 });
    }
  }
  return counts;
}

/** A node that failed is down only where the configuration says when it ends: its VM may run. */
function countedDown(known: LedgerNode, policy: Policy): Down | undefined {
  const { down } = known;
  return down?.how === "failed" && endTimeoutOf(policy, known, "failed") === "never" ? undefined : down;
}

/** Judges each node that is down, those that wait longest first. */
class Judgement {
  readonly #on: Around;
  readonly #deallocates: ReadonlySet<ArrayName>;
  readonly #room: DownRoom;
  #busyGroups: ReadonlySet<string> | undefined;

  constructor(on: Around, members: readonly Member[]) {
    this.#on = on;
    this.#deallocates = deallocatingArrays(on.observation.snapshot);
    this.#room = new DownRoom(on.ledger, members, on.now);
  }

  judge(shown: readonly DownMember[], isSlow: boolean): DownNodes {
    const due = new Set<NodeId>();
    const ended = new Map<NodeId, DownEnd>();
    for (const member of shown) {
      const { nodeId } = member.node;
      // Its stop is under way, and the verdict says so.
      if (isStopping(standingIn(this.#on.standings, nodeId))) continue;
      const end = this.#endOf(member);
      if (end.held === undefined && end.at !== undefined && end.at <= this.#on.now && !isSlow)
        due.add(nodeId);
      if (end.held === "observed" && this.#isOver(end) && !isSlow) due.add(nodeId);
      ended.set(nodeId, end);
    }
    return { due, ends: ended };
  }

  #isOver({ at }: DownEnd): boolean {
    return at !== undefined && at <= this.#on.now;
  }

  #endOf(member: DownMember): DownEnd {
    const end = this.#whenEnded(member);
    return this.#deallocates.has(member.node.array) ? { ...end, act: "deallocate" } : end;
  }

  #whenEnded(member: DownMember): DownEnd {
    const held = this.#whyKept(member);
    if (held !== undefined) return { held };
    const { at, held: waits } = this.#timeOf(member);
    if (at === undefined) return { held: "never" };
    const { array } = member.known;
    if (!this.#on.reach.acts(array)) return { at, held: "observed" };
    const more = waits === undefined ? {} : { held: waits };
    if (at > this.#on.now) return { at, ...more };
    const roomAt = this.#room.take(member.known);
    return roomAt === undefined ? { at } : { at: roomAt, held: "bound" };
  }

  /** Why the node stays however long it is down. Looked at before each stop, also after an operator's order. */
  #whyKept({ node, known }: DownMember): DownHold | undefined {
    const { policy, now } = this.#on;
    const held = whyHeld({ node, known }, this.#on);
    if (held !== undefined) return held;
    if (isStarted(known, policy, now)) return "starting";
    const group = groupOf(node);
    return group !== undefined && this.#groupsWithJobs().has(group) ? "group" : undefined;
  }

  /** When its time is over. Undefined: never. An operator's order ends what was down when it was given. */
  #timeOf({ node, known, down }: DownMember): { readonly at?: Instant; readonly held?: DownHold } {
    const { record, policy, facts } = this.#on;
    const order = (record.endDown ?? []).find(
      ({ array, at }) => down.how === "off" && isOfArray(known, array) && down.since <= at,
    );
    if (order !== undefined) return { at: order.at };
    const timeout = endTimeoutOf(policy, known, down.how);
    if (timeout === "never") return {};
    const fact = factThatCounts(facts.get(node.nodeId), known);
    const isNamedIdle = fact?.reportedAt !== undefined && fact.jobs.length === 0;
    const waits = isInWave(record.waves ?? [], node.array) && !isNamedIdle;
    const over = plusSeconds(clockOf(down), waits ? Math.max(WAVE_SECONDS, timeout) : timeout);
    const at = down.observations < OBSERVATIONS_DOWN ? later(over, this.#on.now) : over;
    return waits ? { at, held: "wave" } : { at };
  }

  /** The placement groups in which a node is busy. */
  #groupsWithJobs(): ReadonlySet<string> {
    const { observation, ledger } = this.#on;
    return (this.#busyGroups ??= new Set(
      observation.snapshot.nodes.flatMap((node) => {
        const [group, known] = [groupOf(node), ledger.get(node.nodeId)];
        return group !== undefined && known !== undefined && isBusy({ node, known }, this.#on) ? [group] : [];
      }),
    ));
  }
}

function isBusy({ node, known }: Member, { facts }: Pick<Around, "facts">): boolean {
  const fact = factThatCounts(facts.get(node.nodeId), known);
  return (fact?.jobs.length ?? 0) > 0 || known.busyness.state === "busy";
}

/** Why a node that is down or deallocated stays, whatever its time is. Undefined: nothing holds it. */
export function whyHeld(
  { node, known }: Member,
  on: Pick<Around, "reach" | "standings" | "questions" | "facts" | "isResting" | "now">,
): DownHold | undefined {
  const { reach, standings, questions, facts, isResting, now } = on;
  const { notOurs } = standingIn(standings, node.nodeId);
  if (!reach.managed.has(node.array) || notOurs === true) return "not-ours";
  if (node.keepAlive) return "keep-alive";
  if (facts.get(node.nodeId)?.keep !== undefined) return "kept";
  if (node.stopDisabled === true) return "stop-disabled";
  if (isBusy({ node, known }, on)) return "busy";
  const question = questions.get(node.nodeId);
  // What a deallocated node asked before was about its stop.
  const isOld = known.kept !== undefined && (question?.askedAt ?? 0) < known.kept.since;
  if (!isOld && hasAskedRecently(question, now)) return "asked";
  return isResting ? "resting" : undefined;
}

/** A moment that is not over yet: the next observation counts. */
const later = (at: Instant, now: Instant): Instant => instant(Math.max(at, now + 1));

/** Whether a start is under way, by us or by another tool, and its boot timeout is not over. */
function isStarted(known: LedgerNode, policy: Policy, now: Instant): boolean {
  const { startedAgainAt } = known;
  if (isStarting(known)) return true;
  return (
    startedAgainAt !== undefined &&
    secondsBetween(startedAgainAt, now) < timeoutsOf(policy, known).bootSeconds
  );
}

const groupOf = ({ array, placementGroup }: Node): string | undefined =>
  placementGroup === undefined ? undefined : `${array}\n${placementGroup}`;

/** The nodes of an array, also a dynamic or grouped one, that an operator's order of now ends: those that are down in the last observation. */
export function downNow(seen: Snapshot | undefined, ledger: Ledger, array: ArrayName): readonly LedgerNode[] {
  return (seen?.nodes ?? []).flatMap((node) => {
    const known = ledger.get(node.nodeId);
    return known?.down?.how !== "off" || !isOfArray(known, array) ? [] : [known];
  });
}

/** The share of an array, and of all arrays together, that ends within {@link WINDOW_SECONDS}. */
const SHARE_ENDED = 0.1;
const FEWEST_OF_ARRAY = 1;
const FEWEST_TOGETHER = 3;
const WINDOW_SECONDS: Seconds = 600;

/** How many nodes that are down may still end. What earlier plans ended is counted from the ledger, whatever came of it. */
class DownRoom {
  readonly #now: Instant;
  readonly #ended: Map<NodeId, { readonly array: ArrayName; readonly at: Instant }>;
  readonly #sizes = new Map<ArrayName | undefined, number>();

  /** `members`: nodes of ours that were Ready and are wanted. */
  constructor(ledger: Ledger, members: readonly { readonly known: LedgerNode }[], now: Instant) {
    this.#now = now;
    this.#ended = new Map();
    ledger.forEach(({ nodeId, array, endedAt }) => {
      if (endedAt !== undefined && secondsBetween(endedAt, now) < WINDOW_SECONDS)
        this.#ended.set(nodeId, { array, at: endedAt });
    });
    const counted = new Map(members.map(({ known }) => [known.nodeId, known.array]));
    this.#ended.forEach(({ array }, id) => counted.set(id, array));
    counted.forEach((array) => {
      for (const scope of [undefined, array]) this.#sizes.set(scope, (this.#sizes.get(scope) ?? 0) + 1);
    });
  }

  /** Counts one node that ends now. Otherwise the moment at which there may be room. A node that was counted before has its room. */
  take({ nodeId, array }: LedgerNode): Instant | undefined {
    if (!this.#ended.has(nodeId)) {
      const fullUntil =
        this.#fullUntil(array, FEWEST_OF_ARRAY) ?? this.#fullUntil(undefined, FEWEST_TOGETHER);
      if (fullUntil !== undefined) return fullUntil;
    }
    this.#ended.set(nodeId, { array, at: this.#now });
    return undefined;
  }

  /** When the first of those that ended leaves the window. Undefined if there is room now. */
  #fullUntil(scope: ArrayName | undefined, fewest: number): Instant | undefined {
    const ended = [...this.#ended.values()].filter(({ array }) => scope === undefined || array === scope);
    const most = Math.max(fewest, Math.floor((this.#sizes.get(scope) ?? 0) * SHARE_ENDED));
    if (ended.length < most) return undefined;
    const first = ended.reduce((least, { at }) => (at < least ? at : least), this.#now);
    return plusSeconds(first, WINDOW_SECONDS);
  }
}

/** A wave begins above this share, if at least {@link FEWEST} nodes are down. */
const SHARE_WAVE = 0.3;
const FEWEST = 2;
/** More nodes of one array than this are a wave, whatever their share is. */
const MOST_OF_ARRAY = 20;
/** A wave ends after this time below half of these. */
const CALM_SECONDS: Seconds = 600;

/** How many nodes are down, and of how many: by array, and `undefined` for all arrays together. */
type DownCounts = ReadonlyMap<ArrayName | undefined, { readonly down: number; readonly of: number }>;

/** The waves after an observation. */
function nextWaves(before: readonly Wave[], counts: DownCounts, now: Instant): readonly Wave[] {
  const scopes = new Set([...before.map(({ array }) => array), ...counts.keys()]);
  return [...scopes].flatMap((array): readonly Wave[] => {
    const old = before.find((wave) => wave.array === array);
    const { down, of } = counts.get(array) ?? { down: 0, of: 0 };
    if (isMany(array, down, of)) return [{ ...named(array), since: old?.since ?? now }];
    if (old === undefined) return [];
    if (!isCalm(array, down, of)) return [{ ...named(array), since: old.since }];
    const calmSince = old.calmSince ?? now;
    return secondsBetween(calmSince, now) >= CALM_SECONDS ? [] : [{ ...old, calmSince }];
  });
}

const named = (array: ArrayName | undefined): Pick<Wave, "array"> => (array === undefined ? {} : { array });

function isMany(array: ArrayName | undefined, down: number, of: number): boolean {
  return (down >= FEWEST && down > of * SHARE_WAVE) || (array !== undefined && down > MOST_OF_ARRAY);
}

/** Below half of what begins a wave. */
function isCalm(array: ArrayName | undefined, down: number, of: number): boolean {
  const isFewOfArray = array === undefined || down <= MOST_OF_ARRAY / 2;
  return down === 0 || (down <= (of * SHARE_WAVE) / 2 && isFewOfArray);
}

/** Whether a node of this array is in a wave. */
function isInWave(waves: readonly Wave[], array: ArrayName): boolean {
  return waves.some((wave) => wave.array === undefined || wave.array === array);
}

/** The ledger in which the clocks of nodes that are still down begin again, where a wave has ended. */
function restartAfterWaves(
  ledger: Ledger,
  before: readonly Wave[],
  waves: readonly Wave[],
  now: Instant,
): Ledger {
  const ended = before.filter((old) => !waves.some(({ array }) => array === old.array));
  if (ended.length === 0) return ledger;
  const next = new Map<NodeId, LedgerNode>(ledger);
  ledger.forEach((node, id) => {
    if (node.down === undefined || node.goneAt !== undefined || !isInWave(ended, node.array)) return;
    next.set(id, { ...node, down: { ...node.down, clockFrom: now, observations: 1 } });
  });
  return next;
}
