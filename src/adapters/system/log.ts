import type { Log } from "../../app/ports/ports.ts";
import { HIDDEN, hideSecrets } from "../../domain/secrets.ts";
import { showJson } from "../../domain/shown.ts";

/** Names of fields that hold secrets, without case, `-` and `_`. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  "accesskey",
  "accesstoken",
  "accountkey",
  "apikey",
  "authorization",
  "clientsecret",
  "connectionstring",
  "cookie",
  "functionkey",
  "key",
  "passphrase",
  "password",
  "privatekey",
  "sas",
  "secret",
  "setcookie",
  "sharedaccesssignature",
  "signature",
  "stopcallback",
  "token",
  "xfunctionskey",
]);

/**
 * Writes one line of JSON per event: the event's name, then its fields. Secrets are hidden by the name of their field and by their form
 * inside texts. Maps become objects, sets lists, errors their name and message. A value that JSON cannot hold is named. Never throws.
 */
export function jsonLog(write: (line: string) => void): Log {
  return (event, fields) => {
    write(`{"event":${JSON.stringify(event)}${renderFields(fields)}}`);
  };
}

function renderFields(fields: Readonly<Record<string, unknown>>): string {
  try {
    const body = showJson(fields, redact).slice(1, -1);
    return body === "" ? "" : `,${body}`;
  } catch (error) {
    return `,"unloggable":${JSON.stringify(String(error))}`;
  }
}

function redact(name: string, value: unknown): unknown {
  if (SECRET_FIELDS.has(name.toLowerCase().replaceAll(/[-_]/g, ""))) return HIDDEN;
  if (typeof value === "string") return hideSecrets(value);
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Error) return { name: value.name, message: hideSecrets(value.message) };
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return value;
}
