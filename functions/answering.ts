import type { HttpResponseInit, InvocationContext } from "@azure/functions";
import { PortError } from "../src/app/ports/port-error.ts";
import { ConfigError } from "../src/compose.ts";
import { saySettings } from "./composition.ts";
import { SETTINGS, settingsProblem, storageProblem } from "./failure-answers.ts";
import { problem } from "./problem.ts";

/** What is needed of an invocation to say in the log why it could not be served. */
export type Voice = Pick<InvocationContext, "functionName" | "warn">;

/** Storage or settings that are no use are "cannot tell now", never a crash; anything else is a defect and shows as one. */
export async function answering(
  context: Voice,
  work: () => Promise<HttpResponseInit>,
): Promise<HttpResponseInit> {
  try {
    return unstored(await work());
  } catch (error) {
    const failure = sayFailure(context, error);
    return unstored(
      failure instanceof ConfigError ? settingsProblem(failure) : storageProblem(failure, failure.message),
    );
  }
}

/** The same for callers without a key: what went wrong is said without names, addresses or settings. `more` is in such an answer, too. */
export async function answeringAnyone(
  context: Voice,
  work: () => Promise<HttpResponseInit>,
  more: Readonly<Record<string, boolean>> = {},
): Promise<HttpResponseInit> {
  try {
    return unstored(await work());
  } catch (error) {
    const failure = sayFailure(context, error);
    return unstored(
      failure instanceof ConfigError
        ? problem(503, SETTINGS, "the log names them", { ...more, retryAfterSeconds: 60 })
        : storageProblem(failure, "storage cannot be used just now", more),
    );
  }
}

/** No proxy and no browser keeps an answer: each is of one moment, for one caller. A GET of a stop URL even begins a stop. */
function unstored(response: HttpResponseInit): HttpResponseInit {
  const headers = new Headers(response.headers);
  headers.set("cache-control", "no-store");
  return { ...response, headers };
}

/** One line of the log for what is no defect; a defect is thrown on. */
function sayFailure(context: Voice, error: unknown): ConfigError | PortError {
  if (error instanceof ConfigError) return saySettings(context, error);
  if (!(error instanceof PortError)) throw error;
  const { kind, message } = error;
  context.warn(JSON.stringify({ event: "cannot-tell", function: context.functionName, kind, message }));
  return error;
}
