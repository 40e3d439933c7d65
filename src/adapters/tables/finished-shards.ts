import type { FinishedChange } from "../../app/ports/record-store.ts";
import type { FinishedSet } from "../../domain/record.ts";
import type { SetName } from "../../domain/ids.ts";
import type { BodyRows, PreparedBody } from "./bodies.ts";
import { finishedCodec } from "./codec.ts";
import { packOf } from "./body-index.ts";
import type { BodyRef } from "./body-index.ts";

/**
 * The remembered parts of finished sets, in bodies ("shards") to which a set's name hashes (docs/decisions.md, "Finished sets are
 * remembered in shards by name"). A set that leaves the record rewrites only its own shard, and reading one set reads one shard. So shards
 * stay small, and their number grows with the sets. Each costs the manifest about 50 bytes.
 */
type Shards = readonly (BodyRef | undefined)[];

/** Mean size in bytes (gzip) above which the number of shards doubles. It halves below an eighth of this. */
const LARGEST_MEAN = 32 * 1024;

type Content = ReadonlyMap<SetName, FinishedSet>;

/** A missing shard counts as empty: an older message of its sets may then be accepted, and nothing else is lost. */
async function readShard(bodies: BodyRows, partition: string, ref: BodyRef | undefined): Promise<Content> {
  const content = ref && (await bodies.read(partition, ref, finishedCodec));
  return content ?? new Map();
}

/** The remembered parts of the sets. Sets without any are left out. */
export async function readFinished(
  bodies: BodyRows,
  partition: string,
  shards: Shards,
  sets: readonly SetName[],
): Promise<Content> {
  if (shards.length === 0) return new Map();
  const byShard = Map.groupBy(sets, (name) => packOf(name, shards.length));
  const found = await Promise.all(
    [...byShard].map(async ([number, names]) => {
      const content = await readShard(bodies, partition, shards[number]);
      return names.flatMap((name) => {
        const finished = content.get(name);
        return finished === undefined ? [] : [[name, finished] as const];
      });
    }),
  );
  return new Map(found.flat());
}

interface NextShards {
  readonly shards: Shards;
  readonly prepared: readonly PreparedBody[];
}

/** The shards with these sets added, and without sets of the same shards that need not be remembered any more. */
export async function nextShards(
  bodies: BodyRows,
  partition: string,
  was: Shards,
  { sets, isKept }: FinishedChange,
): Promise<NextShards> {
  const count = Math.max(1, was.length);
  const byShard = Map.groupBy(sets, ([name]) => packOf(name, count));
  const filled = await fillShards(
    bodies,
    Array.from({ length: count }, (_, number) => was[number]),
    byShard,
    {
      partition,
      isKept,
    },
  );
  const bytes = filled.shards.reduce((sum, ref) => sum + (ref?.bytes ?? 0), 0);
  const next = shardCountFor(bytes, count);
  if (next === count) return filled;
  const contents = await Promise.all(filled.shards.map((ref) => readShard(bodies, partition, ref)));
  const all = contents.flatMap((content) => [...content]);
  const empty = Array.from({ length: next }, () => undefined);
  return fillShards(
    bodies,
    empty,
    Map.groupBy(all, ([name]) => packOf(name, next)),
    { partition, isKept },
  );
}

function shardCountFor(bytes: number, present: number): number {
  let count = present;
  while (bytes / count > LARGEST_MEAN) count *= 2;
  while (count > 1 && bytes / count < LARGEST_MEAN / 8) count /= 2;
  return count;
}

interface Filling extends Pick<FinishedChange, "isKept"> {
  readonly partition: string;
}

async function fillShards(
  bodies: BodyRows,
  shards: Shards,
  added: ReadonlyMap<number, readonly (readonly [SetName, FinishedSet])[]>,
  { partition, isKept }: Filling,
): Promise<NextShards> {
  const filled = await Promise.all(
    [...added].map(async ([number, sets]) => {
      const content = await readShard(bodies, partition, shards[number]);
      const kept = [...content].filter(([, set]) => isKept(set));
      const body = await bodies.prepare(finishedCodec, new Map([...kept, ...sets]));
      return { number, body };
    }),
  );
  const refs = new Map(filled.map(({ number, body }) => [number, body.ref]));
  return {
    shards: shards.map((ref, number) => refs.get(number) ?? ref),
    prepared: filled.map(({ body }) => body),
  };
}
