import type { HttpResponseInit, InvocationContext } from "@azure/functions";
import { PortError } from "../src/app/ports.ts";
import { ConfigError } from "../src/compose.ts";
import type { Problem } from "../src/domain/demand.ts";
import { saySettings } from "./composition.ts";

/** An error answer as application/problem+json (RFC 9457). */
export function problem(
  status: number,
  title: string,
  detail: string,
  more: {
    readonly problems?: readonly Problem[];
    readonly retryAfterSeconds?: number;
    readonly [key: string]: unknown;
  } = {},
): HttpResponseInit {
  const { retryAfterSeconds, ...members } = more;
  return {
    status,
    headers: {
      "content-type": "application/problem+json",
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    },
    body: JSON.stringify({ type: "about:blank", title, status, detail, ...members }),
  };
}

/** 400 for an input that cannot be read: the first problem as text, all of them as data. */
export function badRequest(problems: readonly Problem[]): HttpResponseInit {
  const [first, ...others] = problems;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const detail = first === undefined ? "the request cannot be read" : `${renderProblem(first)}${more}`;
  return problem(400, "Bad request", detail, { problems });
}

export function renderProblem({ path, found, expected, didYouMean }: Problem): string {
  const where = path === "" ? "" : `${path}: `;
  const hint = didYouMean === undefined ? "" : `; did you mean ${didYouMean}?`;
  return `${where}found ${found}, expected ${expected}${hint}`;
}

export function unknownCluster(name: string, known: Iterable<string>): HttpResponseInit {
  return problem(
    404,
    "Unknown cluster",
    `cluster "${name}" is not in AUTOSCALER_CLUSTERS (known: ${[...known].join(", ") || "none"})`,
  );
}

/** The parts of an invocation that the log needs for a failure. */
export type Voice = Pick<InvocationContext, "functionName" | "warn">;

/** Storage or settings that cannot be used mean "no answer now", never a crash. Anything else is a defect and is shown as one. */
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

/** The same for callers without a key, without names, addresses or settings. `more` is in such an answer too. */
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

/** No proxy and no browser may store an answer: each is of one moment, for one caller. A GET of a stop URL even begins a stop. */
function unstored(response: HttpResponseInit): HttpResponseInit {
  const headers = new Headers(response.headers);
  headers.set("cache-control", "no-store");
  return { ...response, headers };
}

/** Writes one line of the log, unless it is a defect; a defect is thrown on. */
function sayFailure(context: Voice, error: unknown): ConfigError | PortError {
  if (error instanceof ConfigError) return saySettings(context, error);
  if (!(error instanceof PortError)) throw error;
  const { kind, message } = error;
  context.warn(JSON.stringify({ event: "cannot-tell", function: context.functionName, kind, message }));
  return error;
}

function storageProblem(
  error: PortError,
  detail: string,
  more: Readonly<Record<string, boolean>> = {},
): HttpResponseInit {
  return problem(503, "Cannot tell now", detail, {
    ...more,
    retryAfterSeconds: error.kind === "newer-state" ? 30 : 10,
  });
}

const SETTINGS = "The app settings have problems";

/** Names the settings and their expected values, never their contents: the holder of a function key need not know the settings. */
function settingsProblem({ problems }: ConfigError): HttpResponseInit {
  const settings = problems.map(({ path, expected }) => ({ setting: path, expected }));
  return problem(503, SETTINGS, settings.map(({ setting }) => setting).join(", "), {
    settings,
    retryAfterSeconds: 60,
  });
}
