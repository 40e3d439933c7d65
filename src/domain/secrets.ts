import { showText } from "./shown.ts";

/** What stands in the place of a secret. */
export const HIDDEN = "***";

/** Secrets by their form: in connection strings, headers and addresses, and the token of a stop URL, whose slashes may be escaped. */
const SECRETS: readonly RegExp[] = [
  /((?:AccountKey|SharedAccessSignature|SharedAccessKey)=)[^;\s]+/gi,
  // No word, as in "Basic authentication".
  /(\b(?:[Bb]asic|[Bb]earer|BASIC|BEARER) )(?=[A-Za-z][a-z.-]*[A-Z0-9+/_~=]|[^A-Za-z])[A-Za-z0-9+/._~=-]{8,}/g,
  /([?&](?:code|sig|token)=)[^&\s"]+/gi,
  /(\/\/[^/\s:@]+:)[^/\s@]+(?=@)/g,
  /(autostop\\?\/[^\s"'<>/\\]+\\?\/)[^\s"'<>?&/\\]+/gi,
];

/** A text of others without the secrets that have a known form. They quote what they were sent, and our log, records and answers quote them. */
export function hideSecrets(text: string): string {
  return SECRETS.reduce((left, pattern) => left.replace(pattern, `$1${HIDDEN}`), text);
}

/** A text of another server as people are shown it: without such secrets, and in one line. */
export function quoteText(text: string): string {
  return showText(hideSecrets(text));
}

/** Shorter texts are ordinary words, which an answer may contain for any reason. */
const SHORTEST_SECRET = 8;

/** The text without these secrets, as they are, as JSON writes them, and as addresses do. The longest first: one may be part of another. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .flatMap((secret) => [
      ...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())]),
    ])
    .toSorted((a, b) => b.length - a.length)
    .reduce((left, secret) => left.replaceAll(secret, HIDDEN), text);
}
