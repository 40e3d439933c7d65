import type { Log } from "../../app/ports/log.ts";

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

/** Secrets inside texts: in connection strings, headers, addresses, and the token of an autostop address. */
const SECRET_TEXTS: readonly RegExp[] = [
  /((?:AccountKey|SharedAccessSignature)=)[^;\s]+/gi,
  /(\b(?:Basic|Bearer) )[A-Za-z0-9+/._~=-]{8,}/gi,
  /([?&](?:code|sig|token)=)[^&\s"]+/gi,
  /(\/\/[^/\s:@]+:)[^/\s@]+(?=@)/g,
  /(\/api\/autostop\/[^/\s]+\/)[^/?\s"]+/gi,
];

const REDACTED = "[redacted]";

/**
 * Writes one line of JSON per event: the event's name, then its fields. Secrets are redacted by the name of their field and by their form
 * inside texts. Maps become objects, sets lists, errors their name and message. A value that JSON cannot hold is named. Never throws.
 */
export function jsonLog(write: (line: string) => void): Log {
  return (event, fields) => {
    write(`{"event":${JSON.stringify(event)}${renderFields(fields)}}`);
  };
}

function renderFields(fields: Readonly<Record<string, unknown>>): string {
  try {
    const body = JSON.stringify(fields, redact).slice(1, -1);
    return body === "" ? "" : `,${body}`;
  } catch (error) {
    return `,"unloggable":${JSON.stringify(String(error))}`;
  }
}

function redact(name: string, value: unknown): unknown {
  if (SECRET_FIELDS.has(name.toLowerCase().replaceAll(/[-_]/g, ""))) return REDACTED;
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Error) return { name: value.name, message: redactText(value.message) };
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return value;
}

function redactText(text: string): string {
  return SECRET_TEXTS.reduce((left, pattern) => left.replaceAll(pattern, `$1${REDACTED}`), text);
}
