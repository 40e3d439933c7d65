import type { Problem } from "../domain/demand.ts";
import type { Rejection } from "../domain/record.ts";
import type { App, Change } from "./commit.ts";
import { commitRecord } from "./commit.ts";
import { unlessNewerState } from "./newer-state.ts";
import type { RejectedMessage } from "./ports.ts";

/** The state page shows so many. */
const SHOWN_REJECTIONS = 20;
/** And so many problems of each: all of them are in the queue, and every renewal writes what stands here. */
const SHOWN_PROBLEMS = 5;

/** A message nobody can read goes to `demand-rejected`, with every problem named, and shows on the state page of its cluster. */
export async function putAside(app: App, message: RejectedMessage): Promise<void> {
  const { queue, sites, log } = app.ports;
  log("message-rejected", {
    messageId: message.messageId,
    cluster: message.cluster,
    set: message.set,
    problems: message.problems.map(
      (problem: Problem) => `${problem.path}: found ${problem.found}, expected ${problem.expected}`,
    ),
  });
  await queue.reject(message);
  const site = [...sites.values()].find((candidate) => candidate.cluster === message.cluster);
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
      // Delivered again after a crash: shown once.
      const others = record.rejections.filter((shown) => shown.messageId !== rejection.messageId);
      const rejections = [...others, rejection].slice(-SHOWN_REJECTIONS);
      return { save: { record: { ...record, rejections }, changes: {} }, result: undefined };
    }),
  );
}
