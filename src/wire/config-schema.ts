import { z } from "zod";
import { configRequest } from "./api/configuration.ts";
import { IGNORED_KEYS } from "./policy/config-report.ts";

const seconds = z.number().min(0);
/** scalelib's spelling: numbers may be text, and null stands for the built-in value (timeouts.ts). */
const theirs = z.union([seconds, z.string(), z.null()]);
const theirTimeout = z.union([theirs, z.record(z.string(), theirs)]);

/**
 * The JSON Schema of a configuration document, for editors: `npm run openapi` writes it to docs/configuration.schema.json. It knows all
 * keys and their form. What it lets pass, `config validate` may still refuse.
 */
export function describeConfig(): object {
  const { shape } = configRequest;
  const ignored = Object.fromEntries(
    IGNORED_KEYS.filter((key) => !Object.hasOwn(shape, key)).map((key) => [key, z.unknown().optional()]),
  );
  const document = z.strictObject({
    ...ignored,
    ...shape,
    idle_timeout: theirTimeout.optional().meta({ description: "scalelib's spelling of idleTimeout." }),
    boot_timeout: theirTimeout.optional().meta({ description: "scalelib's spelling of bootTimeout." }),
  });
  return z.toJSONSchema(
    document.meta({ title: "Configuration of a cluster", description: "Durations are in seconds." }),
    { target: "draft-7", io: "input" },
  );
}
