import { Crew } from "./crew.ts";
import type { Failure } from "./fuzz.ts";
import { describe, tryOne } from "./fuzz.ts";
import { DOORS } from "./input.ts";

/** What a campaign has tried, and what failed. */
export interface Campaign {
  /** By door. */
  readonly plays: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** Different failures that are cut down and shown; the next ones are likely the same again. */
const MOST_FAILURES = 10;

/**
 * Plays seeds from `first` on, each at every door, until `isOver` says so or ten different things have failed. `crews`: how many threads
 * play at one time.
 */
export async function playUntil(
  isOver: (seed: number) => boolean,
  first: number,
  crews: number,
): Promise<Campaign> {
  const plays: Record<string, number> = {};
  const failures = new Map<string, Failure>();
  let next = first;
  const work = async (): Promise<void> => {
    const crew = new Crew();
    while (!isOver(next) && failures.size < MOST_FAILURES) {
      const seed = next;
      next += 1;
      for (const door of DOORS) {
        const failure = await tryOne(crew, door, seed, (kind) => failures.has(kind));
        plays[door] = (plays[door] ?? 0) + 1;
        if (failure !== undefined) failures.set(failure.fault.kind, failure);
      }
    }
    await crew.end();
  };
  await Promise.all(Array.from({ length: crews }, work));
  return { plays, failures: [...failures.values()].map(describe) };
}
