import type { InvocationContext } from "@azure/functions";
import type { Composition } from "../src/compose.ts";
import { ConfigError, composition } from "../src/compose.ts";

/**
 * The composition for a function that nobody waits for. App settings that do not make sense are named in one line of the log, each time,
 * and thrown: the message stays with the host, and the next tick tries again.
 */
export function compositionFor(context: Pick<InvocationContext, "functionName" | "warn">): Composition {
  try {
    return composition();
  } catch (error) {
    throw error instanceof ConfigError ? saySettings(context, error) : error;
  }
}

/** One line of the log with everything that is wrong with the app settings; gives the error back. */
export function saySettings(
  context: Pick<InvocationContext, "functionName" | "warn">,
  error: ConfigError,
): ConfigError {
  const { problems } = error;
  context.warn(JSON.stringify({ event: "settings-unusable", function: context.functionName, problems }));
  return error;
}
