import type { Milliseconds } from "../../domain/units.ts";

/** When a read is sent again. Changes never are. */
export interface RetryRules {
  /** After the first attempt. */
  readonly retries: number;
  /** Pause before the first retry. Doubles with each retry. Half of it is fixed, half is random, so that instances do not retry in step. */
  readonly pauseMs: Milliseconds;
  /** The longest Retry-After that is waited for here. A longer one is returned to the caller, which can do other work meanwhile. */
  readonly longestRetryAfterMs: Milliseconds;
}

export const defaultRetryRules: RetryRules = { retries: 2, pauseMs: 500, longestRetryAfterMs: 10_000 };

/** "Come back later", and the answers of proxies while the server behind them restarts. */
const passing = new Set([429, 502, 503, 504]);

/** The end of an attempt, for the decision about a retry. */
export type AttemptEnd =
  | { readonly kind: "answer"; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly kind: "connection-lost" };

/** Milliseconds to wait before retry number `retry` (from 0). Undefined: do not retry. `chance` is in [0, 1). */
export function pauseBeforeRetry(
  end: AttemptEnd,
  retry: number,
  rules: RetryRules,
  now: number,
  chance: number,
): number | undefined {
  if (retry >= rules.retries) return undefined;
  const backoff = rules.pauseMs * 2 ** retry * (0.5 + chance / 2);
  if (end.kind === "connection-lost") return backoff;
  if (!passing.has(end.status)) return undefined;
  const asked = readRetryAfter(end.retryAfter, now) ?? 0;
  return asked > rules.longestRetryAfterMs ? undefined : Math.max(asked, backoff);
}

/** Retry-After in milliseconds from `now`: seconds or a date (RFC 9110, 10.2.3). */
function readRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
