import { heldNames } from "../../src/domain/held-names.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { BookedNode, GoneNode } from "./node-book.ts";
import type { Want } from "./wants.ts";

/** What is remembered of a name between two plans. */
export interface Memory {
  /** The first plan of this resume. */
  readonly from: number;
  readonly since?: number | undefined;
  /** Its node has been there in this resume. */
  readonly there?: boolean;
  /** This node was Ready before the resume. */
  readonly earlier?: string | undefined;
  readonly over?: "refused" | "failed" | undefined;
  /** When CycleCloud refused it, while this is not final. */
  readonly refusedAt?: number | undefined;
  readonly outSince?: number | undefined;
}

/** The nodes with a name as an observation shows them. */
interface Shown {
  /** The first that can serve a want, or the first. */
  readonly node: BookedNode | undefined;
  readonly isUsable: boolean;
  readonly gone: GoneNode | undefined;
}

const MINUTE_MS = 60_000;
/** CycleCloud may keep the name of a node that went this long ago. */
const KEPT_MS = 600_000;

/** The names that wants ask for, each with its newest resume. */
export function resumesOf(wants: readonly Want[]): ReadonlyMap<string, number | undefined> {
  const resumes = new Map<string, number | undefined>();
  for (const want of wants) {
    if (want.kind !== "names") continue;
    for (const name of want.names)
      resumes.set(name, Math.max(resumes.get(name) ?? 0, want.since ?? 0) || undefined);
  }
  return resumes;
}

/** What is remembered of the names that are wanted, or were until now, once a plan has seen the cluster (docs/protocol.md, Named nodes). */
export function follow(
  before: ReadonlyMap<string, Memory>,
  resumes: ReadonlyMap<string, number | undefined>,
  shownAs: (name: string) => Shown,
  now: number,
): Map<string, Memory> {
  const after = new Map<string, Memory>();
  for (const [name, since] of resumes) {
    const shown = shownAs(name);
    after.set(name, withNode(resumed(before.get(name), since, shown, now), shown, now));
  }
  for (const [name, memory] of before) {
    const outSince = memory.outSince ?? now;
    if (!resumes.has(name) && now - outSince < MINUTE_MS) after.set(name, { ...memory, outSince });
  }
  return after;
}

function resumed(
  memory: Memory | undefined,
  since: number | undefined,
  { node }: Shown,
  now: number,
): Memory {
  if (memory === undefined) return { from: now, since };
  // The first resume of a name changes nothing.
  if (memory.since !== undefined && (since ?? 0) > memory.since)
    return { from: now, since, earlier: node?.seen?.wasReady === true ? node.id : undefined };
  const same = { ...memory, since: memory.since ?? since, outSince: undefined };
  return memory.outSince === undefined ? same : { ...same, from: now, there: false };
}

function withNode(memory: Memory, { node, isUsable, gone }: Shown, now: number): Memory {
  const { from, since, earlier, over, refusedAt } = memory;
  const last = node ?? gone;
  const isEarlier = earlier !== undefined && earlier === last?.id;
  if (isUsable) return { from, since, there: true, earlier: isEarlier ? earlier : undefined };
  if (isEarlier) return { from, since, earlier: node?.id };
  const kept = { from, since, there: memory.there ?? false };
  if (over !== undefined) return { ...kept, over };
  if (last !== undefined && (kept.there || (last.seen?.firstAt ?? 0) > from))
    return { ...kept, over: "failed" };
  if (refusedAt === undefined) return kept;
  const mayBeTaken = node !== undefined || (gone !== undefined && refusedAt - gone.goneAt < KEPT_MS);
  if (!mayBeTaken) return { ...kept, over: "refused" };
  return now - refusedAt < MINUTE_MS ? { ...kept, refusedAt } : kept;
}

/** Whether it depends on when its old node went, and the app may have found that out later: a stop may have had no known outcome. */
export const isVague = (memory: Memory | undefined, { node, gone }: Shown): boolean =>
  memory?.refusedAt !== undefined &&
  node === undefined &&
  gone !== undefined &&
  memory.refusedAt - gone.goneAt >= KEPT_MS;

/** What the app remembers. */
export function memoriesOf(record: ClusterRecord | undefined): ReadonlyMap<string, Memory> {
  return new Map(
    [...heldNames(record ?? {})].map(([name, { from, since, there, earlier, end, refusal, outSince }]) => [
      name,
      { from, since, there: there === true, earlier, over: end?.state, refusedAt: refusal?.at, outSince },
    ]),
  );
}

/** The same as lines of text, in alphabetical order. */
export function linesOfNames(memories: ReadonlyMap<string, Memory>): readonly string[] {
  return [...memories]
    .map(([name, { from, since, there, earlier, over, refusedAt, outSince }]) =>
      [
        `${name}: from ${from}`,
        ...(since === undefined ? [] : [`since ${since}`]),
        ...(there === true ? ["there"] : []),
        ...(earlier === undefined ? [] : [`not its node ${earlier}`]),
        ...(over === undefined ? [] : [over]),
        ...(refusedAt === undefined ? [] : [`refused at ${refusedAt}`]),
        ...(outSince === undefined ? [] : [`out since ${outSince}`]),
      ].join(", "),
    )
    .toSorted();
}
