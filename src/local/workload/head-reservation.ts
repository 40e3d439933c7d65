/**
 * The reservation of EASY backfilling (D. Lifka, "The ANL/IBM SP scheduling system", 1995): the latest start of the job at the head of the
 * queue if the running jobs end as expected, and the number of slots that it leaves free then.
 */
export type HeadReservation =
  | {
      readonly kind: "reserved";
      /** Jobs that end by then do not delay the head. */
      readonly shadowAt: number;
      /** Slots that the head leaves free at that time. */
      readonly spareSlots: number;
    }
  /** All existing slots together are too few. */
  | { readonly kind: "out-of-reach" };

/**
 * Reserves `wanted` slots. `comingSlots` are slots of hosts that do not exist yet; they count as available at once, because the autoscaler
 * already creates them. `running` is in the order of expected ends. A job that runs longer than expected counts as ending now.
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
