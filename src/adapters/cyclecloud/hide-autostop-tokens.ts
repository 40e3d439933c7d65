/** The last segment of an autostop URL. A slash may be escaped if the text quotes JSON. */
const autostopUrl = /(autostop\\?\/[^\s"'<>/\\]+\\?\/)[^\s"'<>?&/\\]+/g;

/**
 * A text of CycleCloud with the tokens removed: messages quote node attributes, and the URL that we put there is a secret (architecture.md,
 * Autostop).
 */
export function hideAutostopTokens(text: string): string {
  return text.includes("autostop") ? text.replace(autostopUrl, "$1***") : text;
}
