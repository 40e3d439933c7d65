import type { RankedDemand } from "../../domain/demand.ts";
import { entryOfNode, hostKey } from "../../domain/hosts.ts";
import type { SetName } from "../../domain/ids.ts";
import { setName } from "../../domain/ids.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import { NO_SENDER_RULES, type SenderRules } from "../../domain/sender-rules.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { Sender } from "./sender-rule.ts";
import { senderOf } from "./sender-rule.ts";

/**
 * Jobs that a set says are `placed` on a node of other senders (docs/protocol.md, Claims; docs/decisions.md, "Only who asked for a node
 * ends claims of others on it"). Such a claim counts as long as it is asked for. The one exception is a foreign claim: the sender that
 * asked for the node calls it idle, and the sender of the claim neither reports the host nor ever had demand planned there. It counts for
 * an hour, one hour for each sender and node. Sets of one rule are one sender.
 */
const CLAIM_SECONDS: Seconds = 3600;

/** The part of what schedulers report of a host that claims change. */
export interface ClaimedHost {
  /** Jobs that run there, by a report or by their `placed`. */
  readonly jobs: readonly string[];
  /** The sets of those by `placed`, which come last. Absent: there are none, or no rules for senders. */
  readonly claimedBy?: readonly SetName[];
  /** The sets whose reports name the host and are in force. Absent: none. */
  readonly by?: readonly SetName[];
}

/** By host key, the senders whose claims there have ended. */
export type EndedClaims = ReadonlyMap<string, ReadonlySet<Sender>>;

/** The facts without ended claims, and these claims. */
export interface ClaimsJudged<Fact> {
  readonly facts: ReadonlyMap<string, Fact>;
  readonly ended: EndedClaims;
}

/** Judges the claims on all nodes. `facts`: with all claims. */
export function judgeClaims<Fact extends ClaimedHost>(
  facts: ReadonlyMap<string, Fact>,
  ledger: Ledger,
  senders: SenderRules,
  now: Instant,
): ClaimsJudged<Fact> {
  const ended = new Map<string, ReadonlySet<Sender>>();
  const changed = new Map<string, Fact>();
  ledger.forEach((node) => {
    // Another node may have the name of one that is gone.
    if (node.claims === undefined || node.goneAt !== undefined) return;
    const fact = entryOfNode(facts, node);
    if (fact === undefined) return;
    const over = new Set<Sender>();
    for (const sender of foreignSenders(fact, node, senders).keys()) {
      const since = claimedSince(node, sender, senders);
      if (since === undefined) continue;
      if (plusSeconds(since, CLAIM_SECONDS) <= now) over.add(sender);
    }
    if (over.size === 0) return;
    for (const key of keysOf(node)) {
      ended.set(key, over);
      if (facts.get(key) === fact) changed.set(key, without(fact, over, senders));
    }
  });
  return { facts: changed.size === 0 ? facts : new Map([...facts, ...changed]), ended };
}

function without<Fact extends ClaimedHost>(
  fact: Fact,
  over: ReadonlySet<Sender>,
  senders: SenderRules,
): Fact {
  const { claimedBy = [], jobs } = fact;
  const counts = (_: unknown, at: number): boolean => {
    const set = claimedBy[at];
    return set === undefined || !over.has(senderOf(senders, set));
  };
  // A claim is foreign only where every job is a claim, so both lists are as long.
  return { ...fact, jobs: jobs.filter(counts), claimedBy: claimedBy.filter(counts) };
}

/** The senders with foreign claims on a node, each with one of the sets that claim. */
function foreignSenders(
  { claimedBy = [], by = [], jobs }: ClaimedHost,
  { askedBy, plannedFor = [] }: LedgerNode,
  senders: SenderRules,
): ReadonlyMap<Sender, SetName> {
  // Every job there is a claim: no report names one.
  if (claimedBy.length === 0 || jobs.length > claimedBy.length || askedBy === undefined) return NONE;
  const sendersOf = (sets: readonly SetName[]) => new Set(sets.map((set) => senderOf(senders, set)));
  const reporting = sendersOf(by);
  if (![...sendersOf(askedBy)].some((sender) => reporting.has(sender))) return NONE;
  const known = sendersOf([...by, ...askedBy, ...plannedFor]);
  const foreign = new Map<Sender, SetName>();
  for (const set of claimedBy) {
    const sender = senderOf(senders, set);
    if (!known.has(sender)) foreign.set(sender, set);
  }
  return foreign;
}

const NONE: ReadonlyMap<Sender, SetName> = new Map();

function claimedSince(node: LedgerNode, sender: Sender, senders: SenderRules): Instant | undefined {
  return node.claims?.find(({ set }) => senderOf(senders, set) === sender)?.since;
}

const keysOf = ({ hostname, name }: Pick<LedgerNode, "hostname" | "name">): readonly string[] =>
  [hostname, name].flatMap((one) => (one === undefined ? [] : [hostKey(one)]));

/** The demands without the tasks of ended claims. These ask for no other place: else the node that they held would serve them. */
export function withoutEnded(
  demands: readonly RankedDemand[],
  ended: EndedClaims,
  senders: SenderRules = NO_SENDER_RULES,
): readonly RankedDemand[] {
  if (ended.size === 0) return demands;
  return demands.map((ranked) => {
    const { set, demand } = ranked;
    if (demand.kind !== "job" || demand.placed.length === 0) return ranked;
    const sender = senderOf(senders, set);
    const counts = ({ hostname }: { readonly hostname: string }): boolean =>
      ended.get(hostKey(hostname))?.has(sender) !== true;
    const placed = demand.placed.filter(counts);
    if (placed.length === demand.placed.length) return ranked;
    const { nodeCount, iterations } = demand;
    const over = demand.placed.filter((one) => !counts(one));
    const slots = over.reduce((sum, one) => sum + one.iterations, 0);
    const left =
      nodeCount === undefined
        ? { iterations: Math.max(0, iterations - slots) }
        : nodeCount > over.length
          ? { nodeCount: nodeCount - over.length }
          : { iterations: 0 };
    return { set, demand: { ...demand, ...left, placed } };
  });
}

// ---------------------------------------------------------------- what is remembered of a node

/** Maximum number of sets, and of claims, that are remembered of one node. Beyond it the claims on the node never end. */
const MOST_KEPT = 8;

/** Notes for each node of a plan whose demand the plan puts there, and which foreign claims it bears. */
export class ClaimNotes {
  readonly #senders: SenderRules;
  readonly #demands: readonly RankedDemand[];
  readonly #now: Instant;
  #known: ReadonlyMap<string, RankedDemand> | undefined;

  /** `demands`: those of the plan. */
  constructor(senders: SenderRules | undefined, demands: readonly RankedDemand[], now: Instant) {
    this.#senders = senders ?? NO_SENDER_RULES;
    this.#demands = demands;
    this.#now = now;
  }

  /** `needed`: the demands that need the node. The same object if nothing changes. */
  noted(known: LedgerNode, fact: ClaimedHost | undefined, needed: readonly string[] = []): LedgerNode {
    const planned = this.#planned(known, needed);
    const claims = planned.askedBy === undefined ? undefined : this.#claims({ ...known, ...planned }, fact);
    const isSame =
      planned.askedBy === known.askedBy && planned.plannedFor === known.plannedFor && claims === known.claims;
    if (isSame) return known;
    const { askedBy: _asked, plannedFor: _planned, claims: _claims, ...rest } = known;
    return { ...rest, ...planned, ...(claims && { claims }) };
  }

  /**
   * Known from the first observation of the node, which shows it booting or as one that we asked for, and only while there are rules. Without
   * the beginning it is unknown who may have work there, and no claim ends.
   */
  #planned(known: LedgerNode, needed: readonly string[]): Pick<LedgerNode, "askedBy" | "plannedFor"> {
    if (this.#senders.length === 0) return {};
    const { askedBy, plannedFor = NO_SETS } = known;
    const isNew =
      known.firstSeenAt === this.#now && (known.firstReadyAt === undefined || known.requestId !== undefined);
    if (askedBy === undefined) return isNew ? { askedBy: this.#added(NO_SETS, known, needed) } : {};
    const sets = this.#added(askedBy, known, needed, plannedFor);
    if (sets.length > MOST_KEPT) return {};
    return { askedBy, ...(sets.length === 0 ? {} : { plannedFor: sets }) };
  }

  /** `sets` with the other sets whose demand the plan puts on the node. The same list if there are none. `besides`: known as well. */
  #added(
    besides: readonly SetName[],
    known: LedgerNode,
    needed: readonly string[],
    sets: readonly SetName[] = NO_SETS,
  ): readonly SetName[] {
    let all = sets;
    for (const id of needed) {
      if ([...besides, ...all].some((set) => id.startsWith(`${set}/`))) continue;
      const placed = this.#placed.get(id);
      if (placed === undefined || !isPlacedOn(placed, known)) all = [...all, setOf(id)];
    }
    return all;
  }

  #claims(known: LedgerNode, fact: ClaimedHost | undefined): LedgerNode["claims"] {
    const senders = this.#senders;
    if (fact?.claimedBy === undefined) return known.claims;
    let claims = known.claims;
    for (const [sender, set] of foreignSenders(fact, known, senders)) {
      if (claimedSince(known, sender, senders) !== undefined) continue;
      if ((claims ?? []).length < MOST_KEPT) claims = [...(claims ?? []), { set, since: this.#now }];
    }
    return claims;
  }

  /** The jobs of the plan that run somewhere, by "set/job". Of 100,000 jobs that wait, none. */
  get #placed(): ReadonlyMap<string, RankedDemand> {
    return (this.#known ??= new Map(
      this.#demands
        .filter(({ demand }) => demand.kind === "job" && demand.placed.length > 0)
        .map((one) => [`${one.set}/${one.demand.id}`, one]),
    ));
  }
}

const NO_SETS: readonly SetName[] = [];

/** Of "set/job". The name of a set has no slash. */
const setOf = (id: string): SetName => setName(id.slice(0, id.indexOf("/")));

function isPlacedOn({ demand }: RankedDemand, node: LedgerNode): boolean {
  if (demand.kind !== "job" || demand.placed.length === 0) return false;
  const keys = keysOf(node);
  return demand.placed.some(({ hostname }) => keys.includes(hostKey(hostname)));
}

/** For users: the sets whose claims on the node have ended, one for each sender. */
export function endedOn(
  node: LedgerNode,
  ended: EndedClaims,
  senders: SenderRules = NO_SENDER_RULES,
): readonly SetName[] {
  const over = keysOf(node).flatMap((key) => [...(ended.get(key) ?? [])]);
  return (node.claims ?? []).map(({ set }) => set).filter((set) => over.includes(senderOf(senders, set)));
}
