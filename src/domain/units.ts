/** Time and amounts. Instants are milliseconds since 1970; durations carry their unit in the name of the field that holds them. */
declare const unit: unique symbol;

/** A moment: whole milliseconds since 1970-01-01 UTC, on the product's one clock. */
export type Instant = number & { readonly [unit]: "Instant" };

export const instant = (milliseconds: number): Instant => Math.round(milliseconds) as Instant;

/** The moment `seconds` after (or, negative, before) another. */
export function plusSeconds(at: Instant, seconds: number): Instant {
  return instant(at + seconds * 1000);
}

/** Seconds from `earlier` to `later`. Negative if `later` is before `earlier`. */
export function secondsBetween(earlier: Instant, later: Instant): number {
  return (later - earlier) / 1000;
}

/** ISO-8601 text of a moment, for logs and answers. */
export function isoTime(at: Instant): string {
  return new Date(at).toISOString();
}

/** The time of day of a moment, "13:40:00Z". For sentences about moments that are at most hours away. */
export function clockTime(at: Instant): string {
  return `${isoTime(at).slice(11, 19)}Z`;
}
