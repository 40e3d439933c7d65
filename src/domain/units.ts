/** Moments, durations and sizes. A duration or size carries its unit in its type, and in the name of the field that holds it. */
declare const unit: unique symbol;

/**
 * A duration. A plain number is accepted, so that literals need no call; a duration in another unit and an Instant are type errors.
 * Arithmetic gives a plain number: annotate its result.
 */
export type Seconds = number & { readonly [unit]?: "seconds" };
/** A duration, as Seconds. */
export type Milliseconds = number & { readonly [unit]?: "milliseconds" };

/** A size, of memory or of a text. A plain number is accepted, as for durations. */
export type Bytes = number & { readonly [unit]?: "bytes" };

/** A moment: whole milliseconds since 1970-01-01 UTC, on the product's one clock. */
export type Instant = number & { readonly [unit]: "Instant" };

/**
 * A moment from milliseconds since 1970-01-01 UTC, rounded to whole ones. Cut to what a date can be: a stored duration of 1e308 s is added to
 * moments, and the sum is shown.
 */
export const instant = (milliseconds: Milliseconds | Instant): Instant =>
  Math.max(EARLIEST, Math.min(LATEST, Math.round(milliseconds))) as Instant;

/** The dates that ISO 8601 writes with a year of four digits: from the year 0 to 9999. */
const [EARLIEST, LATEST]: readonly [Milliseconds, Milliseconds] = [-62_167_219_200_000, 253_402_300_799_999];

/** The last of some moments. Of none: one before all that happens. */
export const latest = (...moments: readonly Instant[]): Instant => instant(Math.max(...moments));

/** The moment `seconds` after another. */
export function plusSeconds(at: Instant, seconds: Seconds): Instant {
  return instant(at + seconds * 1000);
}

/** The moment `seconds` before another. */
export function minusSeconds(at: Instant, seconds: Seconds): Instant {
  return instant(at - seconds * 1000);
}

/** Seconds from `earlier` to `later`. Negative if `later` is before `earlier`. */
export function secondsBetween(earlier: Instant, later: Instant): Seconds {
  return (later - earlier) / 1000;
}

/** ISO-8601 text of a moment, for logs and answers. Undefined if there is none. */
export function isoTime(at: Instant): string;
export function isoTime(at: Instant | undefined): string | undefined;
export function isoTime(at: Instant | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

/** The time of day of a moment, "13:40:00Z". For sentences about moments that are at most hours away. */
export function clockTime(at: Instant): string {
  return `${isoTime(at).slice(11, 19)}Z`;
}
