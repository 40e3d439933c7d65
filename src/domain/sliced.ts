/**
 * Work in slices: others may take their turn at each `yield`. Slices are counted, not timed, so that an input has the same ones on every
 * machine, and what is small has one.
 */
export type Sliced<T> = Generator<undefined, T, undefined>;

/** Does all slices in one go. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
