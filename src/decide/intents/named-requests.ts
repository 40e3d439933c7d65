import type { HeldName, HeldNames } from "../../domain/held-names.ts";
import { heldNames } from "../../domain/held-names.ts";
import { expandHostList, foldHostList } from "../../domain/host-list.ts";
import type { NameCause } from "../../domain/name-cause.ts";
import type { CreateSet } from "../../domain/intent.ts";
import type { ClusterRecord, NarrowedNames } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { backOff } from "./back-off.ts";

/** Create requests for exact names (docs/protocol.md, Named nodes). */

/** The record with what is remembered of each name. */
export function withHeldNames(record: ClusterRecord, held: ReadonlyMap<string, HeldName>): ClusterRecord {
  const { names: _before, ...rest } = record;
  if (held.size === 0) return rest;
  const groups = Map.groupBy(held, ([, one]) => JSON.stringify(one));
  const names = [...groups.values()].flatMap((group): readonly HeldNames[] => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first[1], names: foldHostList(group.map(([name]) => name)) }];
  });
  return { ...rest, names };
}

/** Number of names in one create request (docs/protocol.md, Named nodes). */
const NAMES_TOGETHER = 100;

/** The exact name of a set's only node. Undefined if CycleCloud numbers its nodes. */
export function nodeNameOf({ purpose }: Pick<CreateSet, "purpose">): string | undefined {
  return purpose.kind === "named" ? purpose.name : undefined;
}

/** Whether a request is for exact names. Such a request has no other sets. */
export const isForNames = ([first]: readonly CreateSet[]): boolean =>
  first !== undefined && nodeNameOf(first) !== undefined;

/** Divides sets of named nodes into requests. Names of a request that was refused go in smaller ones. */
export function namedRequests(
  sets: readonly CreateSet[],
  narrowed: readonly NarrowedNames[] = [],
): readonly (readonly CreateSet[])[] {
  const lotOf = new Map<string, NarrowedNames>();
  for (const lot of narrowed) for (const name of namesIn(lot)) lotOf.set(name, lot);
  const lots = Map.groupBy(sets, (set) => lotOf.get(nodeNameOf(set) ?? ""));
  return [...lots].flatMap(([lot, own]) => inLots(own, lot?.together ?? NAMES_TOGETHER));
}

function inLots<T>(items: readonly T[], most: number): readonly (readonly T[])[] {
  const lots: (readonly T[])[] = [];
  for (let from = 0; from < items.length; from += most) lots.push(items.slice(from, from + most));
  return lots;
}

function namesIn({ names }: NarrowedNames): readonly string[] {
  const found = expandHostList(names, Number.MAX_SAFE_INTEGER);
  return "expected" in found ? [] : found;
}

/**
 * The record after a request for names was refused as a whole. A name that the words contain, or that was alone, is the cause. Otherwise the
 * names go in requests of half the size. Two names alone that are refused with the same words are the bucket's fault, so it pauses.
 */
export function afterRefusedNames(
  record: ClusterRecord,
  sets: readonly CreateSet[],
  message: string,
  now: Instant,
): ClusterRecord {
  const names = sets.flatMap((set) => nodeNameOf(set) ?? []);
  const meant = names.filter((name) => mentions(message, name));
  if (meant.length > 0) return refuseNames(record, meant, { at: now, why: message, cause: OWN });
  const [only, ...more] = sets;
  if (more.length > 0 || only === undefined) return narrow(record, sets);
  const isAgain = [...heldNames(record).values()].some(
    ({ end, refusal }) => end?.why === message || refusal?.why === message,
  );
  const refused = refuseNames(record, names, { at: now, why: message, cause: isAgain ? PAUSE : OWN });
  return isAgain ? backOff(refused, only.bucket, "refused", message, now) : refused;
}

/** The name itself is refused, or its bucket, which pauses. */
const OWN: NameCause = { kind: "refused" };
const PAUSE: NameCause = { kind: "pause" };

/** Whether the words contain the name, and not only the beginning of a longer one. */
function mentions(message: string, name: string): boolean {
  const before = /[A-Za-z0-9_-]/;
  for (let at = message.indexOf(name); at >= 0; at = message.indexOf(name, at + 1)) {
    const [left = "", right = ""] = [message[at - 1], message[at + name.length]];
    if (!before.test(left) && !before.test(right)) return true;
  }
  return false;
}

/** Notes names that CycleCloud refuses. The next plan finds out whether that is final (decide/nodes/names.ts). */
export function refuseNames(
  record: ClusterRecord,
  names: readonly string[],
  refusal: NonNullable<HeldName["refusal"]>,
): ClusterRecord {
  const held = new Map(heldNames(record));
  for (const name of names) held.set(name, { ...(held.get(name) ?? { from: refusal.at }), refusal });
  return withHeldNames(withoutNarrowed(record, new Set(names)), held);
}

/** Sends the names of a request without effect in requests of half its size. */
export function narrow(record: ClusterRecord, sets: readonly CreateSet[]): ClusterRecord {
  const names = sets.flatMap((set) => nodeNameOf(set) ?? []);
  const { narrowed = [], ...rest } = withoutNarrowed(record, new Set(names));
  if (names.length < 2) return { ...rest, ...(narrowed.length === 0 ? {} : { narrowed }) };
  const lot = { names: foldHostList(names), together: Math.ceil(names.length / 2) };
  return { ...rest, narrowed: [...narrowed, lot] };
}

/** The record without small requests for these names: they were accepted, or are not asked for any more. */
export function withoutNarrowed(
  record: ClusterRecord,
  names: Pick<ReadonlySet<string>, "has">,
): ClusterRecord {
  if (record.narrowed === undefined) return record;
  const { narrowed, ...rest } = record;
  const left = narrowed.flatMap((lot) => {
    const kept = namesIn(lot).filter((name) => !names.has(name));
    return kept.length === 0 ? [] : [{ ...lot, names: foldHostList(kept) }];
  });
  return left.length === 0 ? rest : { ...rest, narrowed: left };
}
