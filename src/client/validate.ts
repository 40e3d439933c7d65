import type { ConfigurationWritten } from "./answers.ts";
import type { Problem } from "../domain/demand.ts";
import type { Policy } from "../domain/policy.ts";
import { readConstraints } from "../wire/constraint/constraint.ts";
import { writeConstraint } from "../wire/constraint/constraint-json.ts";
import { newNotes } from "../wire/json/problems.ts";
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

/** What a job's `constraints` come to, in the app's spelling. All must hold. */
export interface ConstraintRead {
  readonly constraints: readonly Readonly<Record<string, unknown>>[];
  readonly problems: readonly Problem[];
  /** What scalelib accepts and the app refuses in a job, because it is probably a mistake. */
  readonly doubts: readonly Problem[];
}

/** Reads the `constraints` of a job as the app does, without the app. */
export function validateConstraints(value: unknown): ConstraintRead {
  const notes = newNotes();
  const constraints = readConstraints(value, "", notes).map(writeConstraint);
  return { constraints, problems: notes.problems.all(), doubts: notes.doubts.all() };
}
