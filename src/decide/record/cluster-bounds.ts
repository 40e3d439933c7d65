import type { Problem } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Bytes } from "../../domain/units.ts";
import { budgetOf, DEFAULT_HEAP, mebibytesText } from "../../domain/memory-budget.ts";
import type { Held, SetEntry } from "../../domain/request-sets.ts";
import { asksNothing, isInForce, memoryOfEntry, partsOf, setNamesOf } from "../../domain/request-sets.ts";
import type { SenderRules } from "../../domain/sender-rules.ts";
import type { Instant } from "../../domain/units.ts";
import type { Room } from "../senders/shares.ts";
import type { Sender } from "../senders/sender-rule.ts";
import { senderOf } from "../senders/sender-rule.ts";
import { roomOf, senderText } from "../senders/shares.ts";

/**
 * The bounds of all request sets of a cluster together (docs/demand.md, Bounds). Each accept writes the names of all live sets, and each
 * plan reads all bodies. The bounds are checked in the commit that accepts: two processes that check first could pass a bound together. Every
 * bound has shares (docs/demand.md, Shares).
 */
const CLUSTER_BOUNDS = {
  /** With 5,000 sets an accept takes less than 0.1 s, and a tick without demand less than 0.3 s. */
  sets: 5000,
  /**
   * Sets that never asked for anything and report nothing. They have no body, only an entry, which each save writes: with 3,700 of them
   * demand of others takes twice as long to its create. To refuse one loses nothing.
   */
  idle: 1000,
  /** The maximum of one message, too. */
  jobs: 200_000,
  /** Each half is twice the maximum of one request. Measured as JSON before compression. */
  bytes: 128 * 1024 * 1024,
  /** Bytes of heap that a plan needs (demand-memory.ts). Less where a smaller heap plans the cluster (docs/protocol.md, Memory). */
  memory: budgetOf(DEFAULT_HEAP).demand,
} as const;

type Kind = keyof typeof CLUSTER_BOUNDS;

/** `memory`: of the heap that there is. `sizes`: what the senders hold in `before`, where several messages are accepted one after the other. */
interface BoundTerms {
  readonly senders: SenderRules;
  readonly memory?: Bytes | undefined;
  readonly sizes?: HeldSizes | undefined;
}

/** A bound that a message would exceed. */
export interface TooMuch {
  readonly kind: "too-much";
  readonly problem: Problem;
  /** The set asked for something, and now asks for nothing. So it can end instead. Absent: it needs room. */
  readonly mayEnd?: true;
}

/**
 * The bound that the cluster, or the share of the set's sender, would exceed with the set as it is in `after` instead of `before`. Undefined
 * if there is none. A set that does not grow is always accepted, even if the others exceed a bound.
 */
export function findTooMuch(
  before: Held,
  after: Held,
  set: SetName,
  now: Instant,
  { senders, memory = CLUSTER_BOUNDS.memory, sizes = new HeldSizes(now, senders, () => before) }: BoundTerms,
): TooMuch | undefined {
  const was = sizeOfSet(before, set, now);
  const is = sizeOfSet(after, set, now);
  const grown = KINDS.filter((kind) => is[kind] > was[kind]);
  if (grown.length > 0) sizes.count();
  sizes.replace(before, after, set);
  if (grown.length === 0) return undefined;
  const { bySender } = sizes;
  const sender = senderOf(senders, set);
  for (const kind of grown) {
    const held = new Map([...bySender].map(([one, size]) => [one, size[kind]]));
    const bound = kind === "memory" ? memory : CLUSTER_BOUNDS[kind];
    const room = roomOf(bound, senders, held, sender);
    const found = held.get(sender) ?? 0;
    if (found <= room.most) continue;
    sizes.replace(after, before, set);
    const problem = describe(kind, { found, all: sum(held.values()), bound, room, sender });
    return { kind: "too-much", problem, ...(kind === "idle" && was.sets > 0 ? { mayEnd: true } : {}) };
  }
  return undefined;
}

const KINDS = ["sets", "idle", "jobs", "bytes", "memory"] as const satisfies readonly Kind[];
type Size = Readonly<Record<Kind, number>>;

function sizeOfSet(held: Held, set: SetName, now: Instant): Size {
  return sizeOfParts(partsOf(held, set), now);
}

function sizeOfParts(parts: readonly (SetEntry | undefined)[], now: Instant): Size {
  const size = { sets: 0, idle: 0, jobs: 0, bytes: 0, memory: 0 };
  let isLive = false;
  for (const entry of parts) {
    if (!isInForce(entry, now)) continue;
    isLive = true;
    size.jobs += entry.size?.jobs ?? 0;
    size.bytes += entry.size?.bytes ?? 0;
    size.memory += memoryOfEntry(entry);
    if (!asksNothing(entry)) size.sets = 1;
  }
  if (isLive && size.sets === 0) size.idle = 1;
  return size;
}

/**
 * By sender, the size of all its sets together: of `held` when it is first asked for, and kept up to date from then on. Otherwise each of a
 * hundred messages that are accepted together would count all sets.
 */
export class HeldSizes {
  readonly #now: Instant;
  readonly #senders: SenderRules;
  readonly #held: () => Held;
  #bySender: Map<Sender, Record<Kind, number>> | undefined;

  constructor(now: Instant, senders: SenderRules, held: () => Held) {
    this.#now = now;
    this.#senders = senders;
    this.#held = held;
  }

  /** Empty until {@link count}. */
  get bySender(): ReadonlyMap<Sender, Size> {
    return this.#bySender ?? new Map();
  }

  count(): void {
    if (this.#bySender !== undefined) return;
    this.#bySender = new Map();
    const held = this.#held();
    for (const set of setNamesOf(held)) this.#add(set, sizeOfSet(held, set, this.#now), 1);
  }

  /** A set is no longer as in `before`, but as in `after`. */
  replace(before: Held, after: Held, set: SetName): void {
    if (this.#bySender === undefined) return;
    this.#add(set, sizeOfSet(before, set, this.#now), -1);
    this.#add(set, sizeOfSet(after, set, this.#now), 1);
  }

  #add(set: SetName, size: Size, times: 1 | -1): void {
    const sender = senderOf(this.#senders, set);
    const total = this.#bySender?.get(sender) ?? { sets: 0, idle: 0, jobs: 0, bytes: 0, memory: 0 };
    this.#bySender?.set(sender, total);
    for (const kind of KINDS) total[kind] += times * size[kind];
  }
}

interface Over {
  /** What the sender, and all senders together, would hold. */
  readonly found: number;
  readonly all: number;
  readonly bound: number;
  readonly room: Room;
  readonly sender: Sender;
}

/** Says whose share is full, and how much of it. */
function describe(kind: Kind, { found, all, bound, room, sender }: Over): Problem {
  const text = TEXTS[kind];
  const { most, own, free, pot } = room;
  if (typeof sender !== "string")
    return {
      path: "",
      found: `${text(found)} of ${senderText(sender)} with this message`,
      expected: `at most ${text(most)}: of the ${text(bound)} of a cluster ${own === 0 ? "nothing" : amountOf(kind, own)} is its own share, and of the ${amountOf(kind, pot)} that all share ${amountOf(kind, free)} are free; a set of it that lapses or is deleted makes room`,
    };
  const half = Math.floor(bound / 2);
  if (found > half)
    return {
      path: "",
      found: `${text(found)} of ${senderText(sender)} with this message`,
      expected: `at most ${text(half)}, half of what a cluster holds: without rules in senders no request set has more`,
    };
  return {
    path: "",
    found: `${text(all)} with this message`,
    expected: `at most ${text(bound)} in a cluster; a set that lapses or is deleted makes room`,
  };
}

function sum(amounts: Iterable<number>): number {
  let total = 0;
  for (const amount of amounts) total += amount;
  return total;
}

/** Rounded up, so that the found amount is never shown as equal to the allowed one. */
const amountOf = (kind: Kind, amount: number): string =>
  kind === "bytes" || kind === "memory" ? mebibytesText(amount) : String(amount);

const TEXTS: Readonly<Record<Kind, (amount: number) => string>> = {
  sets: (count) => `${count} live request sets`,
  idle: (count) => `${count} request sets that ask for nothing`,
  jobs: (count) => `${count} jobs`,
  bytes: (bytes) => `${amountOf("bytes", bytes)} of demand as JSON`,
  memory: (bytes) => `${amountOf("memory", bytes)} of memory for plans`,
};
