/** Structured log: an event name and fields. Never sentences, never secrets. */
export interface Log {
  (event: string, fields: Readonly<Record<string, unknown>>): void;
}
