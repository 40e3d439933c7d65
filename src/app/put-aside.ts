import type { Problem } from "../domain/demand.ts";
import type { ClusterRecord, Rejection } from "../domain/record.ts";
import { secondsBetween } from "../domain/units.ts";
import type { Change } from "./commit.ts";
import { commitRecord } from "./commit.ts";
import { unlessNewerState } from "./newer-state.ts";
import type { RejectedMessage } from "./ports.ts";
import { PortError } from "./ports.ts";
import type { App } from "./app.ts";

/** The state page shows so many. */
const SHOWN_REJECTIONS = 20;
/** And so many problems of each: all of them are in the queue, and every renewal writes what stands here. */
const SHOWN_PROBLEMS = 5;
/** At most so many are written into the record in so many seconds: each write makes accepts of good demand wait. */
const WRITTEN = { rejections: 10, seconds: 60 } as const;

/**
 * A message that cannot be taken in goes to `demand-rejected`, with every problem named, and shows on the state page of its cluster. Throws
 * PortError only.
 */
export async function putAside(app: App, message: RejectedMessage): Promise<void> {
  const { queue, log } = app.ports;
  log("message-rejected", {
    messageId: message.messageId,
    cluster: message.cluster,
    set: message.set,
    problems: message.problems.map(
      (problem: Problem) => `${problem.path}: found ${problem.found}, expected ${problem.expected}`,
    ),
  });
  await queue.reject(message);
  try {
    await show(app, message);
  } catch (error) {
    if (error instanceof PortError) throw error;
    // It is in the queue: it must not be put aside again and again because it cannot be shown.
    log("rejection-not-shown", { messageId: message.messageId, message: String(error) });
  }
}

async function show(app: App, message: RejectedMessage): Promise<void> {
  const site = [...app.ports.sites.values()].find((candidate) => candidate.cluster === message.cluster);
  if (site === undefined) return;
  const rejection: Rejection = {
    at: message.rejectedAt,
    messageId: message.messageId,
    ...(message.set === undefined ? {} : { set: message.set }),
    problems: message.problems.slice(0, SHOWN_PROBLEMS),
  };
  // Under a newer record it is in the queue alone: it must not be put aside again and again until it can be shown.
  await unlessNewerState(() =>
    commitRecord(app, site.cluster, ({ record }): Change<undefined> => {
      if (isFull(record, rejection)) return { result: undefined };
      // Delivered again after a crash: shown once.
      const others = record.rejections.filter((shown) => shown.messageId !== rejection.messageId);
      const rejections = [...others, rejection].slice(-SHOWN_REJECTIONS);
      return { save: { record: { ...record, rejections }, changes: {} }, result: undefined };
    }),
  );
}

/** Whether so many were written just now that this one is left to the queue and the log. */
function isFull({ rejections }: ClusterRecord, { at }: Rejection): boolean {
  const recent = rejections.filter((shown) => Math.abs(secondsBetween(shown.at, at)) < WRITTEN.seconds);
  return recent.length >= WRITTEN.rejections;
}
