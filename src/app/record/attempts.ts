import type { Milliseconds } from "../../domain/units.ts";

/** Maximum number of conflicts in a row. Each wait is a little longer, with jitter. */
export const ATTEMPTS = 40;

export const LONGEST_PAUSE_MS: Milliseconds = 400;
