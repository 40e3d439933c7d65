import { randomInt, randomUUID } from "node:crypto";
import type { Entropy } from "../../app/ports/ports.ts";
import { epoch, owner } from "../../domain/ids.ts";

/** The largest range that randomInt takes. */
const STEPS = 2 ** 48 - 1;

/** Randomness of the operating system. */
export function systemEntropy(): Entropy {
  return {
    epoch: () => epoch(randomUUID()),
    owner: () => owner(randomUUID()),
    fraction: () => randomInt(STEPS) / STEPS,
  };
}
