/**
 * The one reservation of EASY backfilling (D. Lifka, "The ANL/IBM SP scheduling system", 1995): when the job at the head of
 * the queue can start at the latest, going by what the running jobs are expected to last, and how many slots will be left
 * beside it then.
 */
export type HeadReservation =
  | {
      readonly kind: "reserved";
      /** Jobs that end by then do not delay the head. */
      readonly shadowAt: number;
      /** Slots that the head leaves free at that time. */
      readonly spareSlots: number;
    }
  /** Not even all present slots would do. */
  | { readonly kind: "out-of-reach" };

/**
 * Reserves `wanted` slots. `comingSlots` are slots of hosts that do not exist yet and may be counted on at once: an elastic
 * cluster is asked for them already. `running` is in the order of the expected ends; a job past its expected end is taken to
 * end now.
 */
export function reserveForHead(input: {
  readonly now: number;
  readonly wanted: number;
  readonly freeSlots: number;
  readonly comingSlots: number;
  readonly running: Iterable<{ readonly expectedEnd: number; readonly openSlots: number }>;
}): HeadReservation {
  let slots = input.freeSlots + input.comingSlots;
  if (slots >= input.wanted)
    return { kind: "reserved", shadowAt: input.now, spareSlots: slots - input.wanted };
  for (const run of input.running) {
    slots += run.openSlots;
    if (slots >= input.wanted)
      return {
        kind: "reserved",
        shadowAt: Math.max(input.now, run.expectedEnd),
        spareSlots: slots - input.wanted,
      };
  }
  return { kind: "out-of-reach" };
}
