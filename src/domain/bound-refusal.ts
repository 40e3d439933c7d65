import type { Refusal } from "./refusal.ts";
import type { ResourceValue, Scalar } from "./resources.ts";

/**
 * The size limits of a refusal in a reason. Reasons are stored with the plan and are in every answer that shows the demand, once for each
 * demand and bucket. A constraint of a few kilobytes must not become megabytes there.
 */
const MOST = {
  /** Characters of all texts of one refusal together. The last text that begins within the limit is kept whole. */
  characters: 1000,
  /** Characters of one text. */
  text: 200,
  /** Alternatives inside alternatives. */
  levels: 4,
  /** Alternatives of one "or" or "xor". */
  alternatives: 10,
  /** Values of one list, and jobs of one node. */
  listed: 20,
} as const;

/** Characters of one refusal apart from its texts. */
const EACH = 40;

/** What may still be written of a refusal. */
interface Room {
  characters: number;
}

/** The refusal, shortened to a readable length. `more` counts what is left out. */
export function boundRefusal(refusal: Refusal): Refusal {
  return bound(refusal, MOST.levels, { characters: MOST.characters });
}

function bound(refusal: Refusal, levels: number, room: Room): Refusal {
  room.characters -= EACH;
  switch (refusal.code) {
    case "no-alternative": {
      const { refusals } = refusal;
      const most = levels > 0 ? MOST.alternatives : 0;
      const kept = take(refusals, most, room, (one) => bound(one, levels - 1, room));
      return { ...refusal, refusals: kept, ...moreThan(kept.length, refusals.length, refusal.more) };
    }
    case "invalid-option": {
      const { found, options } = refusal;
      const shown = cutValue(found, room);
      const kept = take(options, MOST.listed, room, (one) => cutScalar(one, room));
      const more = moreThan(kept.length, options.length, refusal.more);
      return { ...refusal, found: shown, options: kept, ...more };
    }
    case "not-exclusive": {
      const { jobs } = refusal;
      const kept = take(jobs, MOST.listed, room, (one) => cutText(one, room));
      return { ...refusal, jobs: kept, ...moreThan(kept.length, jobs.length, refusal.more) };
    }
    case "not-an-amount":
      return { ...refusal, found: cutValue(refusal.found, room) };
    case "never":
      return { ...refusal, message: cutText(refusal.message, room) };
    case "pool-value":
      return { ...refusal, asked: cutScalar(refusal.asked, room), found: cutScalar(refusal.found, room) };
    default:
      return refusal;
  }
}

/** The first members of a list, as long as there is room. */
function take<T>(list: readonly T[], most: number, room: Room, keep: (one: T) => T): readonly T[] {
  const kept: T[] = [];
  for (const one of list) {
    if (kept.length >= most || room.characters <= 0) break;
    kept.push(keep(one));
  }
  return kept;
}

function moreThan(kept: number, all: number, before = 0): { readonly more?: number } {
  const more = before + all - kept;
  return more === 0 ? {} : { more };
}

function cutText(text: string, room: Room): string {
  const cut = text.length > MOST.text ? `${text.slice(0, MOST.text)}…` : text;
  room.characters -= cut.length;
  return cut;
}

const cutScalar = (value: Scalar, room: Room): Scalar =>
  typeof value === "string" ? cutText(value, room) : value;

const cutValue = (value: ResourceValue, room: Room): ResourceValue =>
  typeof value === "string" ? cutText(value, room) : value;
