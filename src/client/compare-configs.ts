// Not in validate.ts: its types are in the npm package, and a type that is made from a schema would need zod there.
import type { Policy } from "../domain/policy.ts";
import { someOf } from "../domain/text.ts";
import { compareConfigs, lostKeys } from "../wire/policy/config-diff.ts";
import { pathText, readPath } from "../wire/policy/config-path.ts";
import { keepMode } from "../wire/policy/mode.ts";
import { readPolicy } from "../wire/policy/policy.ts";
import { writePolicy } from "../wire/policy/write-policy.ts";

/**
 * What putting a document would change, and in `lost` the keys in force that it would take away without naming them. `given`: the document as it was
 * written. Undefined: the answer about the configuration in force cannot be read.
 */
export function weighConfig(answer: object, wanted: Policy, given: object) {
  const held = readPolicy(answer, undefined, "store");
  if (held.kind === "problems") return undefined;
  const [before, after] = [writePolicy(held.policy), writePolicy(keepMode(wanted, held.policy))];
  const lost = lostKeys(before, after, given).map(pathText);
  return {
    ...compareConfigs(before, after),
    lost: lost.length === 0 ? undefined : someOf(lost, SHOWN_KEYS),
  };
}

/** Maximum number of lost keys that are named. */
const SHOWN_KEYS = 10;

export { unknownArrays } from "../domain/unknown-arrays.ts";

/** Whether a text is the path of a key of the configuration. */
export const isConfigPath = (text: string): boolean => readPath(text) !== undefined;
