import type { BodyChanges } from "../../app/ports.ts";
import { PortError } from "../../app/ports.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { Digest } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { holdSame } from "../../domain/record.ts";
import type { BodyRef, BodyRows, PreparedBody } from "./bodies.ts";
import type { BodyIndex, EntryKey } from "./body-index.ts";
import { EMPTY_INDEX, OWN_BODY_LENGTH, entryKeys, refsOf } from "./body-index.ts";
import type { BodyCodec, EntryValue, Pack } from "./codec.ts";
import { ledgerCodec, packCodec, planCodec, plainCodec, questionsCodec } from "./codec.ts";
import { nextShards } from "./finished-shards.ts";
import { packCountFor, packOf } from "./packs.ts";

/** The index of a record about to be saved, and the bodies that must be there before it is. */
export interface NextIndex {
  readonly index: BodyIndex;
  /** What `index` names and the stored index did not. */
  readonly toWrite: readonly PreparedBody[];
}

export interface Stored {
  readonly record: ClusterRecord;
  readonly index: BodyIndex;
}

/**
 * Works out which bodies a save needs. Undefined: a pack that must be rewritten is gone, because the record has moved on. Throws
 * PortError when the record names a body that neither the stored record nor the changes hold.
 */
export async function nextIndex(
  bodies: BodyRows,
  partition: string,
  record: ClusterRecord,
  changes: BodyChanges,
  stored: Stored | undefined,
): Promise<NextIndex | undefined> {
  const was = stored?.index ?? EMPTY_INDEX;
  const sets =
    stored !== undefined && holdSame(record, stored.record)
      ? { packs: was.packs, own: was.own, prepared: [] }
      : await nextSets(bodies, partition, record, changes, stored);
  if (sets === undefined) return undefined;
  const [seen, ledger, questions, plan, finished] = await Promise.all([
    prepareIfGiven(bodies, plainCodec<Snapshot>(), changes.seen),
    prepareIfGiven(bodies, ledgerCodec, changes.ledger),
    prepareIfGiven(bodies, questionsCodec, changes.questions),
    prepareIfGiven(bodies, planCodec, changes.plan),
    changes.finished && nextShards(bodies, partition, was.finished ?? [], changes.finished),
  ]);
  const shards = finished?.shards ?? was.finished;
  const index: BodyIndex = {
    ...refMember("seen", seen?.ref ?? was.seen),
    ...refMember("ledger", ledger?.ref ?? was.ledger),
    ...refMember("questions", questions?.ref ?? was.questions),
    ...refMember("plan", plan?.ref ?? was.plan),
    packs: sets.packs,
    own: sets.own,
    ...(shards === undefined ? {} : { finished: shards }),
  };
  const known = new Set(refsOf(was).map(({ id }) => id));
  const prepared = [seen, ledger, questions, plan, ...sets.prepared, ...(finished?.prepared ?? [])].filter(
    (body) => body !== undefined,
  );
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
): Promise<NextSets | undefined> {
  const was = stored?.index ?? EMPTY_INDEX;
  const named = entryKeys(record);
  const namedBefore = entryKeys(stored?.record);
  const newlyNamed = [...named].filter((key) => !namedBefore.has(key));
  const added = addedEntries(record, newlyNamed, changes);
  const large = added.filter(({ text }) => text.length > OWN_BODY_LENGTH);
  const largeBodies = await Promise.all(
    large.map(async ({ key, value, text }) => ({
      key,
      body: await bodies.prepare(plainCodec(), value, text),
    })),
  );
  const own = new Map([...was.own].filter(([key]) => named.has(key)));
  for (const { key, body } of largeBodies) own.set(key, body.ref);

  const smallKeys = [...named].filter((key) => !own.has(key));
  const small = added.filter(({ text }) => text.length <= OWN_BODY_LENGTH);
  const packs = await nextPacks(bodies, partition, was.packs, new Set(smallKeys), small);
  if (packs === undefined) return undefined;
  return { own, packs: packs.packs, prepared: [...largeBodies.map(({ body }) => body), ...packs.prepared] };
}

interface AddedEntry extends Entry {
  readonly text: string;
}

/** The bodies of the keys that the stored record did not name, from the changes. */
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
    if (value !== undefined) return { key, value, text: JSON.stringify(value) };
    throw new PortError(
      "unexpected",
      `save record of ${record.cluster}`,
      `nobody gave the body ${key.slice(1)} that a set names`,
    );
  });
}

type Packs = Pick<BodyIndex, "packs"> & { readonly prepared: readonly PreparedBody[] };

/**
 * The packs with the added entries in. A pack is rewritten only if something is added to it, or if the sizes that come out ask for another
 * number of packs; entries that are no longer named are left in it until then. Undefined: a pack is missing.
 */
async function nextPacks(
  bodies: BodyRows,
  partition: string,
  was: BodyIndex["packs"],
  named: ReadonlySet<EntryKey>,
  added: readonly AddedEntry[],
): Promise<Packs | undefined> {
  const inUse = new Set([...named].map((key) => packOf(key, was.length)));
  const kept = was.map((ref, number) => (inUse.has(number) ? ref : undefined));
  const touched = new Set(added.map(({ key }) => packOf(key, was.length)));
  const opened = await openPacks(bodies, partition, kept, (number) => touched.has(number));
  if (opened === undefined) return undefined;
  const packs = await fillPacks(bodies, kept, [...namedOnly(opened, named), ...added]);

  const bytes = packs.packs.reduce((sum, ref) => sum + (ref?.bytes ?? 0), 0);
  const count = packCountFor(bytes, was.length);
  if (count === was.length) return packs;
  const rest = await openPacks(bodies, partition, kept, (number) => !touched.has(number));
  if (rest === undefined) return undefined;
  const empty = Array.from({ length: count }, () => undefined);
  return fillPacks(bodies, empty, [...namedOnly([...opened, ...rest], named), ...added]);
}

interface Entry {
  readonly key: EntryKey;
  readonly value: EntryValue;
}

function namedOnly(entries: readonly Entry[], named: ReadonlySet<EntryKey>): readonly Entry[] {
  return entries.filter(({ key }) => named.has(key));
}

/** The packs, with those that an entry hashes to replaced by the entries. */
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

/** The entries of the chosen packs; undefined: a pack is missing. */
async function openPacks(
  bodies: BodyRows,
  partition: string,
  packs: BodyIndex["packs"],
  isChosen: (number: number) => boolean,
): Promise<readonly Entry[] | undefined> {
  const chosen = packs.filter((ref, number) => ref !== undefined && isChosen(number));
  const opened = await Promise.all(
    chosen.map(async (ref): Promise<Pack | undefined> => ref && bodies.read(partition, ref, packCodec)),
  );
  if (opened.includes(undefined)) return undefined;
  return opened.flatMap((pack) => [...(pack ?? [])].map(([key, value]) => ({ key, value })));
}
