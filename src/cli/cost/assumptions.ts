import type { Seconds } from "../../domain/units.ts";

/** The bill's assumptions about Azure. None was measured: the local runtime has neither the platform nor its host. */
export interface Assumptions {
  /** An instance stays this long after its last execution. */
  readonly staysSeconds: Seconds;
  /** An execution takes this long. Azure bills a second at least. */
  readonly executionSeconds: Seconds;
  readonly memoryMb: number;
  /** Instances of the function demand that are always there. */
  readonly alwaysReady: number;
  readonly privateEndpoints: number;
}

export const DEFAULTS: Assumptions = {
  staysSeconds: 60,
  executionSeconds: 1,
  memoryMb: 2048,
  alwaysReady: 0,
  privateEndpoints: 0,
};

/** An instance of 512 MB has a quarter of a core; one of 2,048 MB has a whole one. */
export const executionSecondsWith = (memoryMb: number): Seconds =>
  memoryMb < DEFAULTS.memoryMb ? 2 : DEFAULTS.executionSeconds;

export const MONTH_DAYS = 30;
export const DAY_SECONDS: Seconds = 86_400;

/** The timer's schedule (functions/main.ts). */
export const TIMER_SECONDS: Seconds = 60;
/** Queues that start a function: only `demand`. The timer reads demand-poison, and no function reads demand-rejected. */
export const TRIGGERED_QUEUES = 1;
/** The platform polls each such queue this often, with or without an instance. Documented for other plans; assumed for Flex. */
export const PLATFORM_POLL_SECONDS: Seconds = 10;
/** An instance of `demand` polls its queue at most this often while it is empty (host.json, maxPollingInterval). */
export const INSTANCE_POLL_SECONDS: Seconds = 2;
/** Polls after a message, with pauses that grow from 0.1 s to the interval above. */
export const POLLS_AFTER_MESSAGE = 6;

/** Writes to the host's own blobs: one status after each run of the timer, according to its source. */
export const STATUS_WRITES_PER_TIMER_RUN = 1;
/** Leases are renewed at half of their time: the timer's lock of 60 s, and the host's of 15 s. */
export const LEASES_EACH_SECONDS = [30, 7.5] as const;
/** Reads of a host's blobs when it starts: keys, ids, locks. A guess. */
export const BLOBS_READ_AT_START = 10;

/** Metric series of the template's alert rules: heartbeat 1, answers with 5xx 1, throttling 4. */
export const ALERT_SERIES = 6;
export const LOG_ALERTS = 1;

/** Bytes that the host itself logs for an execution: a request, and two traces. A guess. */
export const LOG_BYTES_PER_EXECUTION = 3000;
/** Bytes of a log row besides its text. A guess. */
export const LOG_BYTES_PER_LINE = 600;
