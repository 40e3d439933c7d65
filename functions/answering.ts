import type { HttpResponseInit, InvocationContext } from "@azure/functions";
import { PortError } from "../src/app/ports/port-error.ts";
import { ConfigError } from "../src/compose.ts";
import { logSettings } from "./composition.ts";
import { SETTINGS, settingsProblem, storageProblem } from "./failure-answers.ts";
import type { MoreOfProblem } from "./problem.ts";
import { problem } from "./problem.ts";
import { showJson } from "../src/domain/shown.ts";

/** The parts of an invocation that a log line about its failure needs. */
export type InvocationLog = Pick<InvocationContext, "functionName" | "warn">;

/** Answers 503 if storage or the app settings cannot be used. Any other error is a defect, and is thrown. */
export async function answering(
  context: InvocationLog,
  work: () => Promise<HttpResponseInit>,
): Promise<HttpResponseInit> {
  try {
    return unstored(await work());
  } catch (error) {
    const failure = logFailure(context, error);
    return unstored(
      failure instanceof ConfigError ? settingsProblem(failure) : storageProblem(failure, failure.message),
    );
  }
}

/** The same for callers without a key: the answer names no address and no setting. `more` is added to a 503. */
export async function answeringAnyone(
  context: InvocationLog,
  work: () => Promise<HttpResponseInit>,
  more: MoreOfProblem = {},
): Promise<HttpResponseInit> {
  try {
    return unstored(await work());
  } catch (error) {
    const failure = logFailure(context, error);
    return unstored(
      failure instanceof ConfigError
        ? problem(503, SETTINGS, "the log names them", { ...more, retryAfterSeconds: 60 })
        : storageProblem(failure, "storage cannot be used just now", more),
    );
  }
}

/**
 * Forbids proxies and browsers to keep the answer. It is for one moment and one caller, and a GET of a stop URL even begins a stop. In its
 * JSON no name of a sender acts on the terminal that shows it.
 */
function unstored({ jsonBody, ...response }: HttpResponseInit): HttpResponseInit {
  const headers = new Headers(response.headers);
  headers.set("cache-control", "no-store");
  if (jsonBody === undefined) return { ...response, headers };
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  return { ...response, headers, body: showJson(jsonBody) };
}

/** Logs a failure in one line and returns it. Throws a defect. */
function logFailure(context: InvocationLog, error: unknown): ConfigError | PortError {
  if (error instanceof ConfigError) return logSettings(context, error);
  if (!(error instanceof PortError)) throw error;
  const { kind, message } = error;
  context.warn(showJson({ event: "cannot-tell", function: context.functionName, kind, message }));
  return error;
}
