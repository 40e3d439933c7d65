import type { Json } from "./compare.ts";
import { fieldsOf, objectsIn } from "./compare.ts";
import { answerEngine } from "./engine/answer-engine.ts";
import type { Switch } from "./engine/switches.ts";
import { ALL_SWITCHES } from "./engine/switches.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";

/** The expected answers of the allocator's cases, by the reference engine. */

const known = new WeakMap<VectorCase, Json>();

/** What we must answer: the engine with none of the library's switches. */
export function expectedOf(one: VectorCase, surroundings: Surroundings): Json {
  const expected = known.get(one) ?? answerWith(one, surroundings, []);
  known.set(one, expected);
  return expected;
}

/** What the engine answers with these of the library's switches. Only some files of the vectors tell the single limits. */
export function answerWith(
  { input, expected }: VectorCase,
  { vmSizes }: Surroundings,
  switches: readonly Switch[],
): Json {
  const hasLimits = objectsIn(fieldsOf(expected)["buckets"]).some((bucket) => "limits" in bucket);
  return answerEngine(input, vmSizes, new Set(switches), hasLimits);
}

/**
 * The switches that make the library's answer: with all others off the engine still gives it, and without any one of them it does not.
 * Undefined: with all of them on, the engine does not answer as the library did.
 */
export function causesOf(
  one: VectorCase,
  surroundings: Surroundings,
  isRecorded: (answer: Json) => boolean,
): readonly Switch[] | undefined {
  if (!isRecorded(answerWith(one, surroundings, ALL_SWITCHES))) return undefined;
  let switches = ALL_SWITCHES;
  // Many at once first: as a rule few matter.
  const turnOff = (some: readonly Switch[]): void => {
    const others = switches.filter((one) => !some.includes(one));
    if (isRecorded(answerWith(one, surroundings, others))) switches = others;
    else if (some.length > 1) {
      const half = Math.ceil(some.length / 2);
      turnOff(some.slice(0, half));
      turnOff(some.slice(half));
    }
  };
  turnOff(ALL_SWITCHES);
  return switches;
}
