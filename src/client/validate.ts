import type { ConfigurationWritten } from "./answers.ts";
import type { Problem } from "../domain/demand.ts";
import type { Policy } from "../domain/policy.ts";
import { readPolicy } from "../wire/policy/policy.ts";
import { writePolicy } from "../wire/policy/write-policy.ts";

/** The result of reading a configuration document as the app does. */
export type ConfigRead =
  | {
      readonly kind: "valid";
      readonly policy: Policy;
      /** The whole document with its defaults, as GET returns it. */
      readonly document: object;
      /** Every key of the document, either with the key that it is used as or with the reason why it is ignored. */
      readonly used: readonly ConfigurationWritten["used"][number][];
      readonly ignored: readonly ConfigurationWritten["ignored"][number][];
      /** Values that are used and are probably mistakes. */
      readonly doubts: readonly Problem[];
    }
  | { readonly kind: "problems"; readonly problems: readonly Problem[] };

/** Checks a configuration document with the app's own reader, without the app. Reports all problems at once. */
export function validateConfig(text: string): ConfigRead {
  const read = readPolicy(text);
  if (read.kind === "problems") return read;
  const { policy, report, doubts } = read;
  return { kind: "valid", policy, document: writePolicy(policy), ...report, doubts };
}
