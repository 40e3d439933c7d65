import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { HeldName } from "../../domain/held-names.ts";
import { heldNames, wantedNames } from "../../domain/held-names.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Standings } from "../../domain/node-standing.ts";
import { isCapacity, standingIn } from "../../domain/node-standing.ts";
import type { NameWhy } from "../../domain/allocation.ts";
import { causeOf, nameSentence } from "../../domain/name-cause.ts";
import type { Reason } from "../../domain/reason.ts";
import type { SetName } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SenderRules } from "../../domain/sender-rules.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import { ruleOf } from "../senders/sender-rule.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { withHeldNames, withoutNarrowed } from "../intents/named-requests.ts";
import { secondsBetween } from "../../domain/units.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** What becomes of the names that targets ask for, from plan to plan (docs/protocol.md, Named nodes). */

/** What is held of a name is forgotten when it has been in no set for this long. */
const FORGOTTEN_SECONDS: Seconds = 60;
/** A name that CycleCloud refused because its old node was still there is tried again after this time. */
const RETRY_SECONDS: Seconds = 60;
/** A node that went this long ago may still keep its name in CycleCloud. */
const NAME_KEPT_SECONDS: Seconds = 600;

/** The request sets that hold names, by name. */
type Holders = ReadonlyMap<string, SetName>;

/**
 * The demands without the names that a set under another rule for senders holds, and who holds each name. The set that named a node first
 * holds it, then another one of its rule, as long as one of them names it (docs/protocol.md, Named nodes). Without rules all sets are equal.
 */
export function divideNames<T extends { readonly demands: readonly RankedDemand[] }>(
  { names }: Pick<ClusterRecord, "names">,
  admitted: T,
  senders: SenderRules = NO_SENDER_RULES,
): T & { readonly holders: Holders } {
  const { demands } = admitted;
  if (senders.length === 0 || !demands.some(isNamed)) return { ...admitted, holders: NOBODY };
  const held = heldNames({ ...(names && { names }) });
  const holders = new Map<string, SetName>();
  const wanted = new Map<string, SetName[]>();
  for (const { set, demand } of demands)
    if (demand.kind === "target")
      for (const name of demand.named?.names ?? []) wanted.set(name, [...(wanted.get(name) ?? []), set]);
  for (const [name, sets] of wanted) {
    const before = held.get(name)?.by;
    const rule = before === undefined ? undefined : ruleOf(senders, before);
    const holder =
      (before === undefined ? undefined : sets.find((set) => ruleOf(senders, set) === rule)) ?? sets[0];
    if (holder !== undefined) holders.set(name, holder);
  }
  const isFree = (set: SetName) => (name: string) => {
    const holder = holders.get(name);
    return holder === undefined || ruleOf(senders, holder) === ruleOf(senders, set);
  };
  return { ...admitted, holders, demands: demands.map((ranked) => withoutHeld(ranked, isFree(ranked.set))) };
}

const NOBODY: Holders = new Map();

const isNamed = ({ demand }: RankedDemand): boolean => demand.kind === "target" && demand.named !== undefined;

function withoutHeld(ranked: RankedDemand, isFree: (name: string) => boolean): RankedDemand {
  const { set, demand } = ranked;
  if (demand.kind !== "target" || demand.named === undefined) return ranked;
  const heldByOthers = demand.named.names.filter((name) => !isFree(name));
  if (heldByOthers.length === 0) return ranked;
  const names = demand.named.names.filter(isFree);
  return { set, demand: { ...demand, named: { ...demand.named, names, heldByOthers } } };
}

interface Seen {
  readonly snapshot: Snapshot;
  readonly ledger: Ledger;
  readonly standings: Standings;
}

/** The record after an observation: what is remembered of the names that the demands ask for, and of those that they asked for until now. */
export function followNames(
  record: ClusterRecord,
  { demands, holders }: { readonly demands: readonly RankedDemand[]; readonly holders: Holders },
  seen: Seen,
  now: Instant,
): ClusterRecord {
  const wanted = wantedNames(demands);
  if (wanted.size === 0 && record.names === undefined) return record;
  const held = heldNames(record);
  const next = new Map<string, HeldName>();
  const shown = shownByName(seen, wanted);
  const gone = goneByName(seen.ledger, wanted);
  for (const [name, since] of wanted) {
    const node = shown.get(name);
    const facts = { node, known: node === undefined ? gone.get(name) : seen.ledger.get(node.nodeId) };
    const { by: _by, ...begun } = begin(held.get(name), since, facts, now);
    const by = holders.get(name);
    next.set(name, { ...followOne(begun, facts, seen.standings, now), ...withoutAbsent({ by }) });
  }
  for (const [name, one] of held) {
    const { outSince = now } = one;
    if (!wanted.has(name) && secondsBetween(outSince, now) < FORGOTTEN_SECONDS)
      next.set(name, { ...one, outSince });
  }
  return withHeldNames(withoutNarrowed(record, { has: (name) => !wanted.has(name) }), next);
}

/** The node with a name that the observation shows, and its entry in the ledger, or that of the last node with this name that has gone. */
interface NameFacts {
  readonly node: Node | undefined;
  readonly known: LedgerNode | undefined;
}

/** What is remembered before this plan's observation counts. A newer resume begins anew. */
function begin(
  held: HeldName | undefined,
  since: number | undefined,
  { node, known }: NameFacts,
  now: Instant,
): HeldName {
  if (held === undefined) return { from: now, ...withoutAbsent({ since }) };
  if (held.since !== undefined && since !== undefined && since > held.since) {
    const isEarlier = node !== undefined && known?.firstReadyAt !== undefined;
    return { from: now, since, ...(isEarlier ? { earlier: node.nodeId } : {}) };
  }
  const { outSince, told: _told, cause: _cause, ...rest } = held;
  const kept = { ...rest, ...withoutAbsent({ since: held.since ?? since }) };
  if (outSince === undefined) return kept;
  const { there: _there, ...again } = kept;
  return { ...again, from: now };
}

function followOne(held: HeldName, { node, known }: NameFacts, standings: Standings, now: Instant): HeldName {
  const { end, refusal, earlier, ...rest } = held;
  if (node !== undefined && isCapacity(standingIn(standings, node.nodeId)))
    return { ...rest, there: true, ...(earlier === node.nodeId ? { earlier } : {}) };
  if (earlier !== undefined && earlier === (node?.nodeId ?? known?.nodeId)) {
    const { there: _there, ...waits } = rest;
    return node === undefined ? waits : { ...waits, earlier };
  }
  if (end !== undefined) return { ...rest, end };
  // Its node was there in this life, or came after the name was wanted first. Any other node is an old one.
  const isIts = rest.there === true || (known !== undefined && known.firstSeenAt > rest.from);
  if (isIts && (node !== undefined || known?.goneAt !== undefined))
    return {
      ...rest,
      end: { state: "failed", at: now, why: deathText(node, known), cause: { kind: "failed" } },
    };
  if (refusal === undefined) return rest;
  if (!mayBeTaken(node, known, refusal.at)) return { ...rest, end: { ...refusal, state: "refused" } };
  return secondsBetween(refusal.at, now) < RETRY_SECONDS ? { ...rest, refusal } : rest;
}

function deathText(node: Node | undefined, known: LedgerNode | undefined): string {
  const was = known?.firstReadyAt === undefined ? "its node did not come up" : "its node was Ready";
  if (node === undefined) return `${was}, and has gone`;
  const words = node.statusMessage === undefined ? "" : `: ${node.statusMessage}`;
  return `${was}, and CycleCloud shows it as ${node.status}${words}`;
}

/** Whether CycleCloud may have refused a name because a node with it was, or is, still there. */
function mayBeTaken(node: Node | undefined, known: LedgerNode | undefined, at: Instant): boolean {
  if (node !== undefined) return true;
  return known?.goneAt !== undefined && secondsBetween(known.goneAt, at) < NAME_KEPT_SECONDS;
}

/** Of two nodes with one name the one that is capacity. */
function shownByName(
  { snapshot, standings }: Seen,
  names: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, Node> {
  const shown = new Map<string, Node>();
  snapshot.nodes.forEach((node) => {
    if (!names.has(node.name)) return;
    if (!shown.has(node.name) || isCapacity(standingIn(standings, node.nodeId))) shown.set(node.name, node);
  });
  return shown;
}

/** The nodes that went last. */
function goneByName(ledger: Ledger, names: ReadonlyMap<string, unknown>): ReadonlyMap<string, LedgerNode> {
  const gone = new Map<string, LedgerNode>();
  ledger.forEach((node) => {
    const { name, goneAt } = node;
    if (goneAt === undefined || !names.has(name)) return;
    const before = gone.get(name)?.goneAt;
    if (before === undefined || before < goneAt) gone.set(name, node);
  });
  return gone;
}

/** The names with which no node is made now, and why. Undefined: there are none. */
export function blockedNames(
  record: Pick<ClusterRecord, "names">,
  { snapshot, standings }: Pick<Seen, "snapshot" | "standings">,
): ReadonlyMap<string, Reason> | undefined {
  if (record.names === undefined) return undefined;
  const held = heldNames(record);
  const blocked = new Map<string, Reason>();
  snapshot.nodes.forEach(({ nodeId, name, status }) => {
    if (held.has(name) && !isCapacity(standingIn(standings, nodeId)))
      blocked.set(name, { code: "name-waits", name, status });
  });
  for (const [name, { end, refusal, earlier }] of held) {
    if (end !== undefined) blocked.set(name, { code: "name-over", name, ...end });
    else if (earlier !== undefined) blocked.set(name, { code: "name-earlier", name });
    else if (refusal !== undefined)
      blocked.set(name, { code: "name-waits", name, status: `still known to CycleCloud (${refusal.why})` });
  }
  return blocked.size === 0 ? undefined : blocked;
}

/** Reasons for which a name may still get its node by itself. */
const MAY_STILL_COME: ReadonlySet<Reason["code"]> = new Set([
  "name-waits",
  "name-earlier",
  "name-elsewhere",
  "left-out",
  "not-explained",
]);

/**
 * The record after a plan: names for which there is no room are refused, and what the plan says of the others is kept. `acts`: whether the
 * plan acts for the demand that names them.
 */
export function noteNames(
  record: ClusterRecord,
  why: ReadonlyMap<string, NameWhy>,
  acts: (name: string) => boolean,
  now: Instant,
): ClusterRecord {
  if (why.size === 0) return record;
  const held = new Map(heldNames(record));
  for (const [name, { reason, set }] of why) {
    const one = held.get(name);
    if (one === undefined || one.end !== undefined) continue;
    const [text, cause] = [nameSentence(reason), causeOf(reason, set)];
    const isOver = !MAY_STILL_COME.has(reason.code) && acts(name);
    held.set(
      name,
      isOver
        ? { ...one, end: { state: "refused", at: now, why: text, cause } }
        : { ...one, told: text, cause },
    );
  }
  return withHeldNames(record, held);
}
