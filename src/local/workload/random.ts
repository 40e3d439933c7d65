/** A reproducible stream of random numbers: the same seed gives the same numbers on every machine. */
export interface RandomStream {
  /** Uniform in [0, 1), with 53 random bits. */
  readonly uniform: () => number;
  /** Normal with mean 0 and variance 1. */
  readonly normal: () => number;
  /** Gamma with the given shape (at least 1) and scale; its mean is shape x scale. */
  readonly gamma: (shape: number, scale: number) => number;
}

/**
 * Opens the stream of a seed (the integer part of any number). The generator is xoshiro128** (Blackman, Vigna 2018). A Weyl sequence with a
 * multiplicative finaliser fills its state, so that the streams of neighbouring seeds do not correlate.
 */
export function openRandomStream(seed: number): RandomStream {
  const word = xoshiro128(fillState(seed));
  const uniform = (): number => ((word() >>> 5) * 2 ** 26 + (word() >>> 6)) / 2 ** 53;
  const normal = (): number => drawNormal(uniform);
  return { uniform, normal, gamma: (shape, scale) => scale * drawGamma(shape, uniform, normal) };
}

function fillState(seed: number): Uint32Array {
  const state = new Uint32Array(4);
  let weyl = (Math.trunc(seed) ^ Math.imul(Math.trunc(seed / 2 ** 32), 0x27d4eb2f)) >>> 0;
  for (let i = 0; i < state.length; i++) {
    weyl = (weyl + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(weyl ^ (weyl >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    state[i] = (mixed ^ (mixed >>> 16)) >>> 0;
  }
  return state;
}

function xoshiro128(state: Uint32Array): () => number {
  let [a = 0, b = 0, c = 0, d = 0] = state;
  return () => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return result;
  };
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** Marsaglia's polar method. The second value of each pair is not used, so that the stream has no hidden state. */
function drawNormal(uniform: () => number): number {
  for (;;) {
    const x = 2 * uniform() - 1;
    const y = 2 * uniform() - 1;
    const square = x * x + y * y;
    if (square > 0 && square < 1) return x * Math.sqrt((-2 * Math.log(square)) / square);
  }
}

/** Marsaglia and Tsang, "A simple method for generating gamma variables" (2000): constant cost at any shape from 1 on. */
function drawGamma(shape: number, uniform: () => number, normal: () => number): number {
  if (!(shape >= 1)) throw new RangeError(`gamma shape must be at least 1, got ${shape}`);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal();
    const v = (1 + c * x) ** 3;
    if (v <= 0) continue;
    // 1 - uniform() is never 0, so that the logarithm is finite.
    if (Math.log(1 - uniform()) < x * x * 0.5 + d - d * v + d * Math.log(v)) return d * v;
  }
}
