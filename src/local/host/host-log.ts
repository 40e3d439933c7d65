/** The log lines of the host and of its functions. */
import type { LogLevel } from "./core.ts";

export type LogEntry = {
  readonly level: LogLevel;
  /** Source of the entry. "host": the host itself; "user": a function's context.log; "system": the programming model. */
  readonly category: string;
  readonly message: string;
  readonly functionName?: string;
  readonly invocationId?: string;
};
export type Log = (entry: LogEntry) => void;
