import { PortError } from "../../app/ports/port-error.ts";

/** Status and code of an error of an Azure SDK. The table client puts the service's code in different places (platform.md section 2). */
interface AzureFailure {
  /** Absent: no answer came. */
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly message: string;
}

/** Reads the status and code of any error of an Azure SDK. */
export function readFailure(error: unknown): AzureFailure {
  const message = error instanceof Error ? error.message : String(error);
  const odata = member(member(error, "details"), "odataError");
  const code =
    member(error, "code") ?? member(odata, "code") ?? member(member(error, "details"), "errorCode");
  const status = member(error, "statusCode");
  return {
    status: typeof status === "number" ? status : undefined,
    code: typeof code === "string" ? code : undefined,
    message: firstLine(message),
  };
}

/** The port's error for any error that an Azure SDK threw during `operation`. A {@link PortError} is returned unchanged. */
function toPortError(operation: string, error: unknown): PortError {
  if (error instanceof PortError) return error;
  const { status, code, message } = readFailure(error);
  const text = code === undefined ? message : `${code}: ${message}`;
  if (withoutToken(error)) return new PortError("denied", operation, text, status);
  if (status === undefined)
    return new PortError(noAnswer(error) ? "unreachable" : "unexpected", operation, text);
  if (status === 401 || status === 403) return new PortError("denied", operation, text, status);
  if (status === 429 || status === 503) return new PortError("throttled", operation, text, status);
  return new PortError("unexpected", operation, text, status);
}

/** Runs one call of an Azure SDK. Throws only {@link PortError}. */
export async function asPortCall<T>(operation: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toPortError(operation, error);
  }
}

/** No answer: the connection failed, or our time limit ended the call. A programming error is neither. */
function noAnswer(error: unknown): boolean {
  const name = member(error, "name");
  return name === "RestError" || name === "AbortError" || name === "TimeoutError";
}

/** No token for our identity could be obtained, so nothing was sent. */
function withoutToken(error: unknown): boolean {
  const name = member(error, "name");
  return name === "AuthenticationError" || name === "CredentialUnavailableError";
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** SDK messages repeat the whole answer after the first line. */
function firstLine(text: string): string {
  const end = text.indexOf("\n");
  return (end < 0 ? text : text.slice(0, end)).slice(0, 500);
}
