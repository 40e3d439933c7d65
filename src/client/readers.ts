import { z } from "zod";
import { clusterAnswer } from "../wire/api/cluster-answer.ts";
import { endDownAnswer, restoredAnswer, tickAnswer, wakeAnswer } from "../wire/api/answers.ts";
import { comparisonAnswer } from "../wire/api/comparison-answer.ts";
import { configHistory, configWritten } from "../wire/api/configuration.ts";
import { historyAnswer } from "../wire/api/explanation-answers.ts";
import { nodeHistoryAnswer } from "../wire/api/node-history-answer.ts";
import { clustersAnswer } from "../wire/api/health-answers.ts";
import { problemBody } from "../wire/api/parts.ts";
import { acknowledgement, requestSetAnswer } from "../wire/api/request-set-answers.ts";
import { trialAnswer } from "../wire/api/trial-answer.ts";
import type { Cluster } from "./answers.ts";
import { readerOf, showLines } from "./readable.ts";

/** Readers of answers for display: each has the type that the schema of its answer gives. */

export const readState = readerOf(clusterAnswer);
/** Whether it is a state with all that an app of this release says. */
export const isWholeState = (body: unknown): body is Cluster => clusterAnswer.safeParse(body).success;
export const readRequestSetAnswer = readerOf(requestSetAnswer);
export const readClusters = readerOf(clustersAnswer);
export const readHistory = readerOf(historyAnswer);
export const readNodeHistory = readerOf(nodeHistoryAnswer);
export const readComparison = readerOf(comparisonAnswer);
export const readDryRun = readerOf(trialAnswer);
export const readAccepted = readerOf(acknowledgement);
export const readProblemAnswer = readerOf(problemBody);
export const readTick = readerOf(tickAnswer);
export const readWake = readerOf(wakeAnswer);
export const readRestored = readerOf(restoredAnswer);
export const readEndDown = readerOf(endDownAnswer);
const { differences, more, used, ignored, doubts, unknownNodearrays, losses, underWay, notes } =
  configWritten.shape;
/** What an answer says of a document, without the document. */
export const readConfigWritten = readerOf(
  z.object({ differences, more, used, ignored, doubts, unknownNodearrays, losses, underWay, notes }),
);

/** Every change must be readable: a list with holes would be a false history. */
const wholeHistory = z.object({ changes: z.array(configHistory.shape.changes.element.omit({ at: true })) });
const readChanges = readerOf(configHistory);
export const readConfigHistory = (body: unknown) =>
  wholeHistory.safeParse(body).success ? readChanges(body) : undefined;

/** The text of an explanation: the app has put it into lines. */
export function readExplanation(body: unknown): string | undefined {
  const { data } = z.object({ text: z.string() }).safeParse(body);
  return data === undefined ? undefined : showLines(data.text);
}

type Read<R extends (body: unknown) => unknown> = NonNullable<ReturnType<R>>;
export type ClustersAnswer = Read<typeof readClusters>;
export type StateAnswer = Read<typeof readState>;
export type BucketAnswer = StateAnswer["buckets"][number];
export type PlanAnswer = NonNullable<StateAnswer["plan"]>;
export type NodeAnswer = StateAnswer["nodes"]["list"][number];
export type OutcomeAnswer = StateAnswer["outcomes"][number];
export type RequestSetAnswer = Read<typeof readRequestSetAnswer>;
export type HistoryAnswer = Read<typeof readHistory>;
export type NodeHistoryAnswer = Read<typeof readNodeHistory>;
export type DryRunAnswer = Read<typeof readDryRun>;
export type ComparisonAnswer = Read<typeof readComparison>;
