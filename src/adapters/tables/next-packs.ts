import type { BodyRows, PreparedBody } from "./bodies.ts";
import type { BodyIndex, EntryKey } from "./body-index.ts";
import type { EntryValue, Pack } from "./codec.ts";
import { packCodec } from "./codec.ts";
import { packCountFor, packOf } from "./packs.ts";

export interface AddedEntry extends Entry {
  /** It gets a body of its own. */
  readonly isLarge: boolean;
}

type Packs = Pick<BodyIndex, "packs"> & { readonly prepared: readonly PreparedBody[] };

/**
 * The packs including the added entries. A pack is rewritten only if something is added to it, or if the resulting sizes need another
 * number of packs. Until then, entries that are no longer named stay in it. `left`: entries whose pack is missing.
 */
export async function nextPacks(
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
