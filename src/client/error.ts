import type { Problem } from "./answers.ts";
import type { Answer } from "./answer.ts";
import { problemText } from "../domain/shown.ts";

export { problemText } from "../domain/shown.ts";
import type { Problem as ProblemItem } from "../domain/demand.ts";
import { quoteText } from "../domain/secrets.ts";

/** Why demand was not sent at all. */
export type NotSent =
  /** The app could not read the demand. */
  | { readonly kind: "malformed"; readonly problems: readonly ProblemItem[] }
  /** Too large for the queue, and no address for HTTP is given. */
  | { readonly kind: "too-large"; readonly advice: string }
  /** The queue refused the credentials. */
  | { readonly kind: "denied"; readonly message: string };

/** All results except success. */
export type Failure = Exclude<Answer, { kind: "answered" }> | NotSent;

/**
 * The app refused, another server answered, there was no answer, or the input was invalid (docs/decisions.md, "The client library throws").
 * `message` describes it in a sentence, without keys and passwords.
 */
export class AutoscalerError extends Error {
  override readonly name = "AutoscalerError";
  /** The same as a value, to distinguish the kinds. */
  readonly failure: Failure;
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined;
  /** The app's problem+json, if the answer is one. */
  readonly problem: Problem | undefined;

  constructor(failure: Failure) {
    super(quoteText(textOf(failure)));
    this.failure = failure;
    this.status = "status" in failure ? failure.status : undefined;
    this.problem = failure.kind === "refused" ? failure.problem : undefined;
  }
}

/** The body of a good answer. Throws an {@link AutoscalerError} for any other. */
export function bodyOf<T>(answer: Answer<T>): T {
  if (answer.kind === "answered") return answer.body;
  throw new AutoscalerError(answer);
}

function textOf(failure: Failure): string {
  switch (failure.kind) {
    case "refused": {
      const { status, problem } = failure;
      return problem === undefined ? `HTTP ${status}` : `${status} ${problem.title}: ${problem.detail}`;
    }
    case "malformed":
      return failure.problems.map(problemText).join("; ");
    case "too-large":
      return failure.advice;
    default:
      return failure.message;
  }
}
