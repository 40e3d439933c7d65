import type { ArrayName } from "../../src/domain/ids.ts";
import { arrayName } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { timeoutsOfArray } from "../../src/domain/timeouts.ts";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import type { Difference, Json } from "./compare.ts";
import { differences, isObject } from "./compare.ts";
import type { VectorCase } from "./vector-case.ts";

/** Whose timeouts the vectors ask for: nodes of two arrays, and no node at all, for which the default counts. */
const PLACES: Readonly<Record<string, ArrayName>> = {
  hpc: arrayName("hpc"),
  other: arrayName("other"),
  // No configuration of the vectors names it.
  no_node: arrayName("no node"),
};

/** The seconds that a timeout comes to in each place, or that the configuration is refused. */
export function answerTimeouts({ input }: VectorCase): Json {
  return {
    idle_timeout: answerOne(
      "idle_timeout",
      input,
      (policy, array) => timeoutsOfArray(policy, array).idleSeconds,
    ),
    boot_timeout: answerOne(
      "boot_timeout",
      input,
      (policy, array) => timeoutsOfArray(policy, array).bootSeconds,
    ),
  };
}

function answerOne(
  key: string,
  { present, value }: VectorCase["input"],
  secondsOf: (policy: Policy, array: ArrayName) => number,
): Json {
  const read = readPolicy(present === true ? { [key]: value } : {});
  return Object.fromEntries(
    Object.entries(PLACES).map(([place, array]): [string, Json] => [
      place,
      read.kind === "policy" ? secondsOf(read.policy, array) : { raises: read.problems[0]?.expected ?? "" },
    ]),
  );
}

/** A refusal is one difference, and of two refusals nothing more is compared. */
export function compareTimeouts(expected: Json, actual: Json): readonly Difference[] {
  return differences(withoutWords(expected), withoutWords(actual));
}

const REFUSED = "refused";

function withoutWords(answer: Json): Json {
  if (!isObject(answer)) return answer;
  if ("raises" in answer) return REFUSED;
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, withoutWords(value)]));
}
