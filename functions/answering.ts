import type { HttpResponseInit, InvocationContext, HttpHandler, HttpRequest } from "@azure/functions";
import { PortError } from "../src/app/ports/port-error.ts";
import { ConfigError, composition } from "../src/compose.ts";
import type { MoreOfError } from "../src/app/describe/describe-error.ts";
import { describeError } from "../src/app/describe/describe-error.ts";
import { problemText, showJson } from "../src/domain/shown.ts";
import type { Seconds } from "../src/domain/units.ts";
import type { SettingShown } from "../src/wire/api/parts.ts";
import type { Site } from "../src/app/ports/ports.ts";
import type { Composition } from "../src/compose.ts";
import { clusterName } from "../src/domain/ids.ts";
import { observingText } from "../src/domain/mode.ts";
import type { PageStart } from "../src/app/describe/pages.ts";
import { PAGE_EXPECTED, readPage } from "../src/app/describe/pages.ts";
import type { Problem } from "../src/domain/demand.ts";
import { problemAt } from "../src/wire/json/problem.ts";

/** Members that only some errors have, and the header Retry-After. */
interface MoreOfProblem extends MoreOfError {
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

/** The parts of an invocation that a log line about its failure needs. */
type InvocationLog = Pick<InvocationContext, "functionName" | "warn">;

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

function storageProblem(error: PortError, detail: string, more: MoreOfProblem = {}): HttpResponseInit {
  return problem(503, "Cannot tell now", detail, {
    ...more,
    retryAfterSeconds: error.kind === "other-state" ? 30 : 10,
  });
}

const SETTINGS = "The app settings have problems";

/** Names the settings and the values that they need, never their values: a function key gives no right to read settings. */
function settingsProblem({ problems }: ConfigError): HttpResponseInit {
  const settings = problems.map(settingShown);
  return problem(503, SETTINGS, settings.map(({ setting }) => setting).join(", "), {
    settings,
    retryAfterSeconds: 60,
  });
}

function settingShown({ path, expected }: ConfigError["problems"][number]): SettingShown {
  return { setting: path, expected };
}

type ForCluster = (composed: Composition, site: Site, request: HttpRequest) => Promise<HttpResponseInit>;

/** A handler for a route below clusters/{cluster}: 404 for an unknown cluster, 503 if no answer is possible now. */
export function forCluster(handle: ForCluster): HttpHandler {
  return (request, context) =>
    answering(context, async () => {
      const composed = composition();
      const name = request.params["cluster"] ?? "";
      const site = composed.app.ports.sites.get(clusterName(name));
      if (site === undefined) return unknownCluster(name, composed.app.ports.sites.keys());
      return sayObserving(await handle(composed, site, request), composed, site);
    });
}

function unknownCluster(name: string, known: Iterable<string>): HttpResponseInit {
  return problem(
    404,
    "Unknown cluster",
    `cluster "${name}" is not in AUTOSCALER_CLUSTERS (known: ${[...known].join(", ") || "none"})`,
  );
}

/** Adds to every answer of a cluster which arrays are only observed. Left out if the configuration cannot be read now. */
async function sayObserving(
  answer: HttpResponseInit,
  { app: { ports } }: Composition,
  { cluster }: Site,
): Promise<HttpResponseInit> {
  const body: unknown = answer.jsonBody;
  // The comparison has a list of this name, which shows what is observed.
  if (typeof body !== "object" || body === null || "observing" in body) return answer;
  try {
    const observing = observingText(await ports.policyOf(cluster));
    return observing === undefined ? answer : { ...answer, jsonBody: { ...body, observing } };
  } catch (error) {
    if (error instanceof PortError) return answer;
    throw error;
  }
}

/**
 * The composition for a function without a waiting caller. Invalid app settings are listed in one line of the log each time, and thrown:
 * the host keeps the message, and the next tick tries again.
 */
export function compositionFor(context: Pick<InvocationContext, "functionName" | "warn">): Composition {
  try {
    return composition();
  } catch (error) {
    throw error instanceof ConfigError ? logSettings(context, error) : error;
  }
}

/** Logs all invalid app settings in one line, and returns the error. */
function logSettings(
  context: Pick<InvocationContext, "functionName" | "warn">,
  error: ConfigError,
): ConfigError {
  const { problems } = error;
  context.warn(showJson({ event: "settings-unusable", function: context.functionName, problems }));
  return error;
}

/** The requested page of an answer. Without `start` the first one. */
type Asked =
  | { readonly kind: "page"; readonly start?: PageStart }
  | { readonly kind: "problem"; readonly problem: Problem };

/** Reads the parameter `page`. */
export function pageOf({ query }: HttpRequest): Asked {
  const text = query.get("page");
  if (text === null) return { kind: "page" };
  const start = readPage(text);
  return start === undefined
    ? { kind: "problem", problem: problemAt("page", text, PAGE_EXPECTED) }
    : { kind: "page", start };
}
