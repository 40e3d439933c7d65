import type { Milliseconds } from "../domain/units.ts";

/** A node's questions for one stop (docs/protocol.md, Questions of nodes), kept in a file from run to run. Moments are in ms since 1970. */
export interface StopSeries {
  readonly begunAt: number;
  /** When the last question that may begin a stop was asked. */
  readonly askedAt: number;
  /** When the last answer came that named a stop under way. Absent: none did. */
  readonly heldAt?: number;
  /** The app has said that the node is being stopped. */
  readonly granted: boolean;
}

/** A series asks for a stop for this long. After that it only asks for the state of the stop. */
const BEGIN_MS: Milliseconds = 60_000;
/**
 * After this time since the last question for a stop, and since the last answer that named one under way, no stop can be in progress. The app
 * knows of standstills of CycleCloud; the node does not.
 */
const OVER_MS: Milliseconds = 180_000;
/** The app gives a stop up after 15 minutes. After this time since its question a node listens to no such answer any more. */
const LONGEST_MS: Milliseconds = 1_200_000;

/** The series in a kept text. Undefined if the text cannot be read. */
export function readSeries(text: string): StopSeries | undefined {
  const [begunAt, askedAt, granted, held = "0"] = text.trim().split(" ");
  const heldAt = Number(held) > 0 ? { heldAt: Number(held) } : {};
  const series = {
    begunAt: Number(begunAt),
    askedAt: Number(askedAt),
    ...heldAt,
    granted: granted === "granted",
  };
  return series.begunAt > 0 && series.askedAt > 0 ? series : undefined;
}

export function writeSeries({ begunAt, askedAt, granted, heldAt }: StopSeries): string {
  const held = heldAt === undefined ? "" : ` ${heldAt}`;
  return `${begunAt} ${askedAt} ${granted ? "granted" : "asked"}${held}\n`;
}

/** Whether no verdict came and no stop can be in progress: the node may take work again. */
export function isOver({ granted, askedAt, heldAt = askedAt }: StopSeries, now: number): boolean {
  if (granted) return false;
  return now - Math.max(askedAt, heldAt) >= OVER_MS || now - askedAt >= LONGEST_MS;
}

/** Whether the next question may begin a stop. */
export function mayBegin(series: StopSeries | undefined, now: number): boolean {
  return series === undefined || series.granted || now - series.begunAt < BEGIN_MS;
}

/** The series after a question. `begins`: it may begin a stop. */
export function withQuestion(
  series: StopSeries | undefined,
  { begins, now }: { readonly begins: boolean; readonly now: number },
): StopSeries {
  if (series === undefined) return { begunAt: now, askedAt: now, granted: false };
  return begins ? { ...series, askedAt: now } : series;
}

/** The series after an answer. */
export function withAnswer(
  series: StopSeries,
  { stopUnderWay }: { readonly stopUnderWay: boolean | undefined },
  now: number,
): StopSeries {
  return stopUnderWay === true ? { ...series, heldAt: now } : series;
}

/** What an answer means for the node. */
export type StopWord =
  /** The node is being stopped and stays closed. */
  | "stop"
  /** The node may take work again. */
  | "open"
  /** No verdict: the node stays closed and asks again. */
  | "closed";

/** A node's question with its answer: the HTTP status, and `undrain` if the answer has it. */
export interface StopAnswer {
  readonly status: number;
  readonly undrain: boolean | undefined;
  /** No question of the series was asked before. */
  readonly isFirst: boolean;
}

/**
 * The meaning of an answer. `undrain` decides, if the answer has it; otherwise the status. 403 and 404 may come from an app that is being
 * deployed. So they open the node only after the first question, when no stop can be in progress.
 */
export function wordOf({ status, undrain, isFirst }: StopAnswer): StopWord {
  if (status === 200) return "stop";
  if (undrain !== undefined) return undrain ? "open" : "closed";
  if (status === 409) return "open";
  return (status === 403 || status === 404) && isFirst ? "open" : "closed";
}
