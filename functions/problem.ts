import type { HttpResponseInit } from "@azure/functions";
import type { MoreOfError } from "../src/app/describe/describe-error.ts";
import { describeError } from "../src/app/describe/describe-error.ts";
import type { Problem } from "../src/domain/demand.ts";
import { problemText, showJson } from "../src/domain/shown.ts";
import type { Seconds } from "../src/domain/units.ts";

/** Members that only some errors have, and the header Retry-After. */
export interface MoreOfProblem extends MoreOfError {
  readonly retryAfterSeconds?: Seconds;
}

/** An error answer as application/problem+json (RFC 9457). */
export function problem(
  status: number,
  title: string,
  detail: string,
  { retryAfterSeconds, ...more }: MoreOfProblem = {},
): HttpResponseInit {
  return {
    status,
    headers: {
      "content-type": "application/problem+json",
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    },
    body: showJson(describeError(status, title, detail, more)),
  };
}

/** 400 for an input that cannot be read: the first problem as text, all of them as data. */
export function badRequest(problems: readonly Problem[]): HttpResponseInit {
  const [first, ...others] = problems;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const detail = first === undefined ? "the request cannot be read" : `${problemText(first)}${more}`;
  return problem(400, "Bad request", detail, { problems });
}

export function unknownCluster(name: string, known: Iterable<string>): HttpResponseInit {
  return problem(
    404,
    "Unknown cluster",
    `cluster "${name}" is not in AUTOSCALER_CLUSTERS (known: ${[...known].join(", ") || "none"})`,
  );
}
