import type { Seconds } from "../domain/units.ts";

/** Draws evenly from [0, 1). */
export type Random = () => number;

/** A small generator (mulberry32, by Tommy Ettinger, public domain). Its sequence depends only on the seed. */
export function seedRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** An id in the shape of a random UUID (version 4). */
export function drawUuid(random: Random): string {
  const word = (): string =>
    Math.floor(random() * 4_294_967_296)
      .toString(16)
      .padStart(8, "0");
  const [a, b, c, d] = [word(), word(), word(), word()];
  const variant = (8 + Math.floor(random() * 4)).toString(16);
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
}

/** A duration in whole milliseconds, drawn evenly from `seconds` plus or minus the fraction `jitter`. */
export function spreadDuration(random: Random, seconds: Seconds, jitter: number): number {
  return Math.round(seconds * 1000 * (1 + jitter * (2 * random() - 1)));
}
