import type { Milliseconds, Seconds } from "../domain/units.ts";
import type { Answer } from "./answer.ts";
import type { Stop } from "./answers.ts";
import type { Request } from "./call.ts";
import { callWith } from "./call.ts";
import { NODE_TOKEN_HEADER } from "../wire/message/node-token.ts";

/** A node's questions for one stop (docs/protocol.md, Questions of nodes), kept in a file from run to run. Moments are in ms since 1970. */
export interface StopSeries {
  readonly begunAt: number;
  /** When the last question that may begin a stop was asked. */
  readonly askedAt: number;
  /** An answer has named a stop under way. */
  readonly held: boolean;
  /** The app has said that the node is being stopped. */
  readonly granted: boolean;
}

/** A series asks for a stop for this long. After that it only asks for the state of the stop. */
const BEGIN_MS: Milliseconds = 60_000;
/** After this time since the last question for a stop no stop can be in progress, unless an answer has named one under way. */
const OVER_MS: Milliseconds = 180_000;
/**
 * Once an answer has named a stop under way, only another answer shows that it is over, and not silence: CycleCloud may stand still with it,
 * and the app be away. The app gives a stop up after 15 minutes. After this time since its question the node takes work again.
 */
const LONGEST_MS: Milliseconds = 1_200_000;

/** The series in a kept text. Undefined if the text cannot be read. */
export function readSeries(text: string): StopSeries | undefined {
  const [begunAt, askedAt, granted, held] = text.trim().split(" ");
  const series = {
    begunAt: Number(begunAt),
    askedAt: Number(askedAt),
    granted: granted === "granted",
    held: held !== undefined,
  };
  return series.begunAt > 0 && series.askedAt > 0 ? series : undefined;
}

export function writeSeries({ begunAt, askedAt, granted, held }: StopSeries): string {
  return `${begunAt} ${askedAt} ${granted ? "granted" : "asked"}${held ? " held" : ""}\n`;
}

/** Whether no verdict came and no stop can be in progress: the node may take work again. */
export function isOver({ granted, askedAt, held }: StopSeries, now: number): boolean {
  return !granted && now - askedAt >= (held ? LONGEST_MS : OVER_MS);
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
  if (series === undefined) return { begunAt: now, askedAt: now, granted: false, held: false };
  return begins ? { ...series, askedAt: now } : series;
}

/** The series after an answer. */
export function withAnswer(
  series: StopSeries,
  { stopUnderWay }: { readonly stopUnderWay: boolean | undefined },
): StopSeries {
  return stopUnderWay === true ? { ...series, held: true } : series;
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

/** Optional parts of a node's question. */
export interface StopQuestion {
  /** The node's own time in ms. It must rise: an older question never overrides a newer one. */
  readonly asked?: number;
  /** False: asks only for the result of earlier questions. */
  readonly begin?: boolean;
  /** The node's own token. Once a call has carried one, all calls of this node must carry it. Absent: no token is sent. */
  readonly ownToken?: string;
}

/** The app answers within 15 s. */
const STOP_WAIT_SECONDS: Seconds = 20;

/**
 * "May I stop?", asked by a node. 200 means yes. Otherwise `undrain` in the answer is true if the node may take work again. `callback` is
 * the stop URL in the node's configuration (its token is the key); `instance` is the VM's id. Never throws: a refusal is an answer here.
 */
export function askToStop(
  callback: string,
  instance: string,
  reason?: "unhealthy",
  { asked, begin = true, ownToken }: StopQuestion = {},
): Promise<Answer<Stop>> {
  const query = {
    instance,
    reason,
    ...(asked === undefined ? {} : { asked: String(asked) }),
    ...(begin ? {} : { begin: "no" }),
  };
  const call: Request<Stop> = { method: "POST", path: "", query, seconds: STOP_WAIT_SECONDS };
  return callWith(callback, call, ownToken === undefined ? {} : { [NODE_TOKEN_HEADER]: ownToken });
}
