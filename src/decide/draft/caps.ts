import type { BucketOffer, Cap, SharedLimit } from "../../domain/world.ts";
import type { LimitId } from "../../domain/limit.ts";
import type { Reason } from "../../domain/reason.ts";
import { compareText } from "../../domain/text.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Bins } from "../bins/bins.ts";
import type { Bin } from "../bins/bin-columns.ts";

interface OpenCap {
  readonly cap: Cap;
  left: number;
  /** Bins whose nodes count already. */
  readonly held: Set<Bin>;
}

/** The request set, and the user if there is one, whose caps count a node. */
interface Holder {
  readonly set: string;
  readonly user?: string;
}

/**
 * Our own limits on the nodes that one request set or user may hold. A node counts once for each of them, as a whole, if one of their
 * demands needs it, whether it exists or is new. Running jobs count even beyond the limit. Hosts that only a scheduler knows do not count.
 */
export class Caps {
  readonly #caps: readonly OpenCap[];
  /** By kind and name: thousands of users may have one each. */
  readonly #named: Readonly<Record<Cap["kind"], ReadonlyMap<string, readonly OpenCap[]>>>;
  /** The caps of a holder, by request set and user. Filled on first use. */
  readonly #found = new Map<string, Map<string | undefined, readonly OpenCap[]>>();

  /** There is no cap at all. */
  readonly none: boolean;

  constructor(caps: readonly Cap[]) {
    this.none = caps.length === 0;
    this.#caps = caps
      .toSorted((a, b) => compareText(textOf(a), textOf(b)))
      .map((cap) => ({ cap, left: cap.max, held: new Set() }));
    const named = (kind: Cap["kind"]) => {
      const byName = new Map<string, OpenCap[]>();
      for (const open of this.#caps) {
        if (open.cap.kind !== kind) continue;
        for (const name of open.cap.sets ?? [open.cap.name])
          byName.set(name, [...(byName.get(name) ?? []), open]);
      }
      return byName;
    };
    this.#named = { "request-set": named("request-set"), user: named("user") };
  }

  /** Whether the holder has a cap. */
  concern(holder: Holder): boolean {
    return !this.none && this.#of(holder).length > 0;
  }

  /**
   * The only bins that the holder may use, because a cap allows it no further node of any size (docs/decisions.md, "A holder without room
   * for a node is placed on the nodes it has"). Undefined if there is no such cap.
   */
  onlyBins(holder: Holder): ReadonlySet<Bin> | undefined {
    return this.#of(holder).find(({ cap, left }) => cap.unit === "nodes" && left < 1)?.held;
  }

  /** Number of additional nodes with this many cores that the holder may have. */
  room(holder: Holder, cores: number): number {
    let room = Number.POSITIVE_INFINITY;
    for (const { cap, left } of this.#of(holder))
      room = Math.min(room, cap.unit === "nodes" ? left : cores > 0 ? Math.floor(left / cores) : room);
    return Math.max(0, room);
  }

  /** Number of nodes of the bin that the holder may use: all if it holds them already, otherwise as many as its caps allow. */
  roomOn(holder: Holder, bins: Bins, bin: Bin): number {
    let room = Number.POSITIVE_INFINITY;
    const cores = bins.cores[bin] ?? 0;
    if (bins.isHost(bin)) return room;
    for (const { cap, left, held } of this.#of(holder)) {
      if (held.has(bin)) continue;
      room = Math.min(room, cap.unit === "nodes" ? left : cores > 0 ? Math.floor(left / cores) : room);
    }
    return Math.max(0, room);
  }

  /** Counts the nodes of the bin against the caps of the holder. */
  hold(holder: Holder, bins: Bins, bin: Bin): void {
    if (bins.isHost(bin)) return;
    for (const open of this.#of(holder)) {
      if (open.held.has(bin)) continue;
      open.held.add(bin);
      const nodes = bins.count[bin] ?? 0;
      open.left -= open.cap.unit === "nodes" ? nodes : nodes * (bins.cores[bin] ?? 0);
    }
  }

  /** The caps of the holder, with what is used and left of them. */
  ceilings(holder: Holder): readonly OwnCeiling[] {
    return this.#of(holder).map(({ cap, left }) => ({
      id: limitOf(cap),
      used: cap.max - left,
      max: cap.max,
      left: Math.max(0, left),
      amount: (offer) => (cap.unit === "nodes" ? 1 : offer.cores),
    }));
  }

  /** A bin was split in two. Holders of `bin` also hold `other`. */
  follow(bin: Bin, other: Bin): void {
    for (const { held } of this.#caps) if (held.has(bin)) held.add(other);
  }

  /** The cap that forbids this number of additional nodes with this many cores. */
  refusal(holder: Holder, nodes: number, cores: number): Reason | undefined {
    for (const open of this.#of(holder)) {
      const asked = open.cap.unit === "nodes" ? nodes : nodes * cores;
      if (asked > open.left) return refusalBy(open, asked);
    }
    return undefined;
  }

  /** The cap that forbids the use of these bins together with `nodes` new nodes. At most `atMost` of all these nodes are needed. */
  refusalOf(
    holder: Holder,
    bins: Bins,
    taken: readonly Bin[],
    nodes: number,
    cores: number,
    atMost: number,
  ): Reason | undefined {
    const open = this.#of(holder);
    const news = taken.filter((bin) => !bins.isHost(bin) && open.some(({ held }) => !held.has(bin)));
    const most = Math.max(cores, ...news.map((bin) => bins.cores[bin] ?? 0), 0);
    const count = news.reduce((total, bin) => total + (bins.count[bin] ?? 0), 0);
    return this.refusal(holder, Math.min(count + nodes, atMost), most);
  }

  /** The cap that forbids the holder to use these nodes of bins together with these new nodes. */
  useRefusal(
    holder: Holder,
    bins: Bins,
    used: readonly { readonly bin: Bin; readonly nodes: number }[],
    news: readonly { readonly nodes: number; readonly cores: number }[],
  ): Reason | undefined {
    for (const open of this.#of(holder)) {
      const byNode = open.cap.unit === "nodes";
      let asked = 0;
      for (const { bin, nodes } of used)
        if (!open.held.has(bin) && !bins.isHost(bin))
          asked += byNode ? nodes : nodes * (bins.cores[bin] ?? 0);
      for (const { nodes, cores } of news) asked += byNode ? nodes : nodes * cores;
      if (asked > open.left) return refusalBy(open, asked);
    }
    return undefined;
  }

  #of({ set, user }: Holder): readonly OpenCap[] {
    const ofSet = this.#found.get(set) ?? new Map<string | undefined, readonly OpenCap[]>();
    this.#found.set(set, ofSet);
    const known = ofSet.get(user);
    if (known !== undefined) return known;
    const users = user === undefined ? [] : (this.#named.user.get(user) ?? []);
    const found = [...(this.#named["request-set"].get(set) ?? []), ...users];
    ofSet.set(user, found);
    return found;
  }
}

function refusalBy({ cap, left }: OpenCap, asked: number): Reason {
  return {
    code: "limit-reached",
    limit: limitOf(cap),
    used: cap.max - left,
    max: cap.max,
    left: Math.max(0, left),
    asked,
  };
}

function limitOf({ kind, name, unit, sets }: Cap): LimitId {
  if (kind === "user") return { kind: "user-cap", name, unit };
  return { kind: "request-set-cap", name, unit, ...(sets === undefined ? {} : { shared: true }) };
}

const textOf = ({ kind, name, unit, sets }: Cap): string =>
  `${kind}/${name}/${unit}${sets === undefined ? "" : "/shared"}`;

/** The holder of the nodes of a job. */
export function holderOf({ set, demand: job }: Ask): Holder {
  return job.user === undefined ? { set } : { set, user: job.user };
}

/** One of our own caps as a limit: what is used and left of it, and what one new node takes. `id.kind` is "request-set-cap" or "user-cap". */
export interface OwnCeiling extends SharedLimit {
  readonly amount: (offer: BucketOffer) => number;
}
