import type { Problem } from "../../domain/demand.ts";
import type { ProblemJsonShown } from "../../wire/api/parts.ts";
import { showText } from "../../domain/shown.ts";
import { problemShown } from "./describe-queues.ts";

/** Members that only some errors have. */
export interface MoreOfError extends Partial<
  Pick<ProblemJsonShown, "settings" | "held" | "near" | "nearest" | "stop" | "undrain" | "stopUnderWay">
> {
  readonly problems?: readonly Problem[];
  /** Why a job could not be read. */
  readonly jobProblems?: readonly Problem[];
}

/** The body of an error answer, by RFC 9457. */
export function describeError(
  status: number,
  title: string,
  detail: string,
  { problems, jobProblems, ...more }: MoreOfError,
): ProblemJsonShown {
  return {
    type: "about:blank",
    title,
    status,
    detail: showText(detail),
    problems: problems?.map(problemShown),
    ...more,
    jobProblems: jobProblems?.map(problemShown),
  };
}
