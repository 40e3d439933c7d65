import type { InvocationContext } from "@azure/functions";
import type { Composition } from "../src/compose.ts";
import { showJson } from "../src/domain/shown.ts";
import { ConfigError, composition } from "../src/compose.ts";

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
export function logSettings(
  context: Pick<InvocationContext, "functionName" | "warn">,
  error: ConfigError,
): ConfigError {
  const { problems } = error;
  context.warn(showJson({ event: "settings-unusable", function: context.functionName, problems }));
  return error;
}
