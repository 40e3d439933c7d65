import type { Milliseconds } from "../domain/units.ts";

/** A node's questions for one stop (docs/protocol.md, Questions of nodes), kept in a file from run to run. Moments are in ms since 1970. */
export interface StopSeries {
  readonly begunAt: number;
  /** When the last question that may begin a stop was asked. */
  readonly askedAt: number;
  /** The app has said that the node is being stopped. */
  readonly granted: boolean;
}

/** A series asks for a stop for this long. After that it only asks for the state of the stop. */
const BEGIN_MS: Milliseconds = 60_000;
/** This long after the last question for a stop, none can be in progress any more. */
const OVER_MS: Milliseconds = 180_000;

/** The series in a kept text. Undefined: there is none, or it cannot be read. */
export function readSeries(text: string | undefined): StopSeries | undefined {
  const [begunAt, askedAt, granted] = (text ?? "").trim().split(" ");
  const series = { begunAt: Number(begunAt), askedAt: Number(askedAt), granted: granted === "granted" };
  return series.begunAt > 0 && series.askedAt > 0 ? series : undefined;
}

export function writeSeries({ begunAt, askedAt, granted }: StopSeries): string {
  return `${begunAt} ${askedAt} ${granted ? "granted" : "asked"}\n`;
}

/** No verdict has come, and no stop can be under way: the node may take work again. */
export function isOver(series: StopSeries, now: number): boolean {
  return !series.granted && now - series.askedAt >= OVER_MS;
}

/** Whether the next question may begin a stop. */
export function mayBegin(series: StopSeries | undefined, now: number): boolean {
  return series === undefined || series.granted || now - series.begunAt < BEGIN_MS;
}

/** The series once that question is asked. */
export function withQuestion(series: StopSeries | undefined, begins: boolean, now: number): StopSeries {
  if (series === undefined) return { begunAt: now, askedAt: now, granted: false };
  return begins ? { ...series, askedAt: now } : series;
}

/** The state of the node in an answer, whatever else it contains. */
export type StopWord =
  /** It is being stopped: it stays closed. */
  | "stop"
  /** It may take work again. */
  | "open"
  /** No verdict: it stays closed and asks again. */
  | "closed";

/**
 * `undrain` counts before the status. 403 and 404 without it may be those of an app that is being deployed: they open the node only if no
 * stop was asked for before.
 */
export function wordOf(status: number, undrain: boolean | undefined, isFirst: boolean): StopWord {
  if (status === 200) return "stop";
  if (undrain !== undefined) return undrain ? "open" : "closed";
  if (status === 409) return "open";
  return (status === 403 || status === 404) && isFirst ? "open" : "closed";
}
