import type { BodyChanges } from "../../app/ports/record-store.ts";
import { PortError } from "../../app/ports/port-error.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { Digest } from "../../domain/ids.ts";
import { jsonPieces } from "../../domain/json-pieces.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { holdSame } from "../../domain/request-sets.ts";
import type { BodyRows, PreparedBody } from "./bodies.ts";
import type { BodyIndex, BodyRef, EntryKey } from "./body-index.ts";
import { EMPTY_INDEX, OWN_BODY_LENGTH, entryKeys, refsOf, packCountFor, packOf } from "./body-index.ts";
import type { BodyCodec, EntryValue, Pack } from "./codec.ts";
import { entryCodec, ledgerCodec, plainCodec, questionsCodec, packCodec } from "./codec.ts";
import { planCodec, virtualCodec } from "./plan-codec.ts";
import { nextShards } from "./finished-shards.ts";

/** The index of a record about to be saved, and the bodies that must be written before. */
interface NextIndex {
  readonly index: BodyIndex;
  /** Bodies that `index` names and the stored index did not. */
  readonly toWrite: readonly PreparedBody[];
}

interface Stored {
  readonly record: ClusterRecord;
  readonly index: BodyIndex;
}

/**
 * Works out which bodies a save needs. A pack that would be rewritten but is missing stays unchanged, and additions to it get bodies of
 * their own: if the record has changed, the save conflicts anyway; if the pack is lost, no more is lost than its contents. Throws PortError
 * "unexpected" if the record names a body that neither the stored record nor the changes contain.
 */
export async function nextIndex(
  bodies: BodyRows,
  partition: string,
  record: ClusterRecord,
  changes: BodyChanges,
  stored: Stored | undefined,
): Promise<NextIndex> {
  const was = stored?.index ?? EMPTY_INDEX;
  const sets =
    stored !== undefined && holdSame(record, stored.record)
      ? { packs: was.packs, own: was.own, prepared: [] }
      : await nextSets(bodies, partition, record, changes, stored);
  const [seen, ledger, questions, plan, virtual, finished] = await Promise.all([
    prepareIfGiven(bodies, plainCodec<Snapshot>(), changes.seen),
    prepareIfGiven(bodies, ledgerCodec, changes.ledger),
    prepareIfGiven(bodies, questionsCodec, changes.questions),
    prepareIfGiven(bodies, planCodec, changes.plan),
    prepareIfGiven(bodies, virtualCodec, changes.virtual),
    changes.finished && nextShards(bodies, partition, was.finished ?? [], changes.finished),
  ]);
  const shards = finished?.shards ?? was.finished;
  const { forget } = changes;
  const index: BodyIndex = {
    ...refMember("seen", seen?.ref ?? (forget?.seen === true ? undefined : was.seen)),
    ...refMember("ledger", ledger?.ref ?? (forget?.ledger === true ? undefined : was.ledger)),
    ...refMember("questions", questions?.ref ?? (forget?.questions === true ? undefined : was.questions)),
    ...refMember("plan", plan?.ref ?? (forget?.plan === true ? undefined : was.plan)),
    ...refMember("virtual", virtual?.ref ?? was.virtual),
    packs: sets.packs,
    own: sets.own,
    ...(shards === undefined ? {} : { finished: shards }),
  };
  const known = new Set(refsOf(was).map(({ id }) => id));
  const given = [seen, ledger, questions, plan, virtual].filter((body) => body !== undefined);
  const prepared = [...given, ...sets.prepared, ...(finished?.prepared ?? [])];
  return { index, toWrite: prepared.filter(({ ref }) => !known.has(ref.id)) };
}

function refMember<K extends string>(name: K, ref: BodyRef | undefined): { readonly [P in K]?: BodyRef } {
  const member: { [P in K]?: BodyRef } = {};
  if (ref !== undefined) member[name] = ref;
  return member;
}

async function prepareIfGiven<T extends object>(bodies: BodyRows, codec: BodyCodec<T>, value: T | undefined) {
  return value === undefined ? undefined : bodies.prepareOnce(codec, value);
}

interface NextSets extends Pick<BodyIndex, "packs" | "own"> {
  readonly prepared: readonly PreparedBody[];
}

async function nextSets(
  bodies: BodyRows,
  partition: string,
  record: ClusterRecord,
  changes: BodyChanges,
  stored: Stored | undefined,
): Promise<NextSets> {
  const was = stored?.index ?? EMPTY_INDEX;
  const named = entryKeys(record);
  const namedBefore = entryKeys(stored?.record);
  const newlyNamed = [...named].filter((key) => !namedBefore.has(key));
  const added = addedEntries(record, newlyNamed, changes);
  const large = added.filter(({ isLarge }) => isLarge);
  const own = new Map([...was.own].filter(([key]) => named.has(key)));
  const largeKeys = new Set(large.map(({ key }) => key));
  const smallKeys = [...named].filter((key) => !own.has(key) && !largeKeys.has(key));
  const small = added.filter(({ isLarge }) => !isLarge);
  const packs = await nextPacks(bodies, partition, was.packs, new Set(smallKeys), small);
  const ownBodies = await Promise.all(
    [...large, ...packs.left].map(async ({ key, value }) => ({
      key,
      body: await bodies.prepareOnce(entryCodec, value),
    })),
  );
  for (const { key, body } of ownBodies) own.set(key, body.ref);
  return { own, packs: packs.packs, prepared: [...ownBodies.map(({ body }) => body), ...packs.prepared] };
}

/** The bodies of keys that the stored record did not name, from the changes. */
function addedEntries(
  record: ClusterRecord,
  keys: readonly EntryKey[],
  changes: BodyChanges,
): readonly AddedEntry[] {
  if (keys.length === 0) return [];
  const given = new Map<EntryKey, EntryValue>();
  const give = (kind: string, values: ReadonlyMap<Digest, EntryValue> | undefined) => {
    for (const [digest, value] of values ?? []) given.set(`${kind}${digest}`, value);
  };
  give("d", changes.demands);
  give("r", changes.reports);
  return keys.map((key) => {
    const value = given.get(key);
    if (value !== undefined) return { key, value, isLarge: isLarge(value) };
    throw new PortError(
      "unexpected",
      `save record of ${record.cluster}`,
      `no body was given for ${key.slice(1)} that a set names`,
    );
  });
}

function isLarge(value: EntryValue): boolean {
  let length = 0;
  for (const piece of jsonPieces(value)) {
    length += piece.length;
    if (length > OWN_BODY_LENGTH) return true;
  }
  return false;
}

interface AddedEntry extends Entry {
  /** It gets a body of its own. */
  readonly isLarge: boolean;
}

type Packs = Pick<BodyIndex, "packs"> & { readonly prepared: readonly PreparedBody[] };

/**
 * The packs including the added entries. A pack is rewritten only if something is added to it, or if the resulting sizes need another
 * number of packs. Until then, entries that are no longer named stay in it. `left`: entries whose pack is missing.
 */
async function nextPacks(
  bodies: BodyRows,
  partition: string,
  was: BodyIndex["packs"],
  named: ReadonlySet<EntryKey>,
  added: readonly AddedEntry[],
): Promise<Packs & { readonly left: readonly AddedEntry[] }> {
  const inUse = new Set([...named].map((key) => packOf(key, was.length)));
  const kept = was.map((ref, number) => (inUse.has(number) ? ref : undefined));
  const touched = new Set(added.map(({ key }) => packOf(key, was.length)));
  const opened = await openPacks(bodies, partition, kept, (number) => touched.has(number));
  const isMissing = ({ key }: Entry): boolean => opened.missing.has(packOf(key, was.length));
  const left = added.filter(isMissing);
  const fitting = added.filter((entry) => !isMissing(entry));
  const packs = await fillPacks(bodies, kept, [...namedOnly(opened.entries, named), ...fitting]);

  const bytes = packs.packs.reduce((sum, ref) => sum + (ref?.bytes ?? 0), 0);
  const count = packCountFor(bytes, was.length);
  if (count === was.length || left.length > 0) return { ...packs, left };
  const rest = await openPacks(bodies, partition, kept, (number) => !touched.has(number));
  if (rest.missing.size > 0) return { ...packs, left };
  const empty = Array.from({ length: count }, () => undefined);
  const all = [...namedOnly([...opened.entries, ...rest.entries], named), ...fitting];
  return { ...(await fillPacks(bodies, empty, all)), left };
}

interface Entry {
  readonly key: EntryKey;
  readonly value: EntryValue;
}

function namedOnly(entries: readonly Entry[], named: ReadonlySet<EntryKey>): readonly Entry[] {
  return entries.filter(({ key }) => named.has(key));
}

/** The packs after replacing those that an entry hashes to. */
async function fillPacks(
  bodies: BodyRows,
  packs: BodyIndex["packs"],
  entries: readonly Entry[],
): Promise<Packs> {
  const contents = Map.groupBy(entries, ({ key }) => packOf(key, packs.length));
  const filled = await Promise.all(
    [...contents].map(async ([number, content]) => {
      const values: Pack = new Map(content.map(({ key, value }) => [key, value]));
      return { number, body: await bodies.prepare(packCodec, values) };
    }),
  );
  const refs = new Map(filled.map(({ number, body }) => [number, body.ref]));
  return {
    packs: packs.map((ref, number) => refs.get(number) ?? ref),
    prepared: filled.map(({ body }) => body),
  };
}

interface OpenedPacks {
  readonly entries: readonly Entry[];
  /** Numbers of the missing packs. */
  readonly missing: ReadonlySet<number>;
}

/** The entries of the chosen packs. */
async function openPacks(
  bodies: BodyRows,
  partition: string,
  packs: BodyIndex["packs"],
  isChosen: (number: number) => boolean,
): Promise<OpenedPacks> {
  const opened = await Promise.all(
    packs.map(async (ref, number): Promise<Pack | undefined> =>
      ref === undefined || !isChosen(number) ? new Map() : bodies.read(partition, ref, packCodec),
    ),
  );
  return {
    entries: opened.flatMap((pack) => [...(pack ?? [])].map(([key, value]) => ({ key, value }))),
    missing: new Set(opened.flatMap((pack, number) => (pack === undefined ? [number] : []))),
  };
}
