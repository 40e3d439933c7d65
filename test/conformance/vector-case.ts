import type { Json } from "./compare.ts";

/** A case of a vectors file, as it stands there. Only `input` and `expected` are ever looked at; the name is for people. */
export interface VectorCase {
  readonly name: string;
  readonly input: Readonly<Record<string, Json>>;
  readonly expected: Json;
}

/** Files that stand beside a file of cases: a world that its cases share, the catalogue of VM sizes. */
export interface Surroundings {
  readonly world?: Readonly<Record<string, Json>>;
  readonly vmSizes: Json;
}

/** Answers a case in the format of its `expected`. */
export type Answer = (one: VectorCase, surroundings: Surroundings) => Json;
